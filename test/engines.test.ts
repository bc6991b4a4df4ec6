import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { engineProgram, installEngines } from '../scripts/engines.js'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-engines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const missingRedis =
  'not tested: backplanes in Redis, because redis-server or valkey-server is not installed'
const missingNats = 'not tested: backplanes in NATS, because nats-server is not installed'
const missingChromium =
  'not tested: the console in a browser, because chromium or chromium-browser or google-chrome is not installed'
const missing = [missingRedis, missingNats, missingChromium]

/** Writes a program under each name, and returns the folder that holds them. */
function programs(text: string, ...names: readonly string[]): string {
  const own = mkdtempSync(join(folder, 'path-'))
  for (const name of names) {
    writeFileSync(join(own, name), `#!${process.execPath}\n${text}`)
    chmodSync(join(own, name), 0o755)
  }
  return own
}

describe.skipIf(process.platform === 'win32')('an engine', () => {
  const print = () => {}

  test('that is installed is used, and nothing is installed', async () => {
    const path = programs('', 'valkey-server', 'nats-server', 'chromium')
    expect(engineProgram('redis', path)).toBe(join(path, 'valkey-server'))
    expect(await installEngines({ path, canInstall: true, print })).toEqual([])
  })

  test('that is missing where nothing can be installed is reported', async () => {
    expect(await installEngines({ path: folder, canInstall: false, print })).toEqual(missing)
  })

  test('that is missing without apt-get is reported', async () => {
    expect(await installEngines({ path: folder, canInstall: true, print })).toEqual(missing)
  })

  test('that apt-get cannot install is reported', async () => {
    const path = programs('process.exit(100)', 'apt-get')
    expect(await installEngines({ path, canInstall: true, print })).toEqual(missing)
  })

  test('that apt-get installs after an update is found', async () => {
    const text = `
      const { existsSync, writeFileSync } = require('node:fs')
      const at = name => __dirname + '/' + name
      if (process.argv.includes('update')) writeFileSync(at('updated'), '')
      else if (existsSync(at('updated'))) writeFileSync(at(process.argv.at(-1)), '', { mode: 0o755 })
      else process.exit(100)`
    const path = programs(text, 'apt-get')
    expect(await installEngines({ path, canInstall: true, print })).toEqual([])
  })

  test('that apt-get does not have keeps no other from being installed', async () => {
    const text = `
      const { writeFileSync } = require('node:fs')
      const wanted = process.argv.at(-1)
      if (wanted !== 'nats-server') process.exit(100)
      writeFileSync(__dirname + '/' + wanted, '', { mode: 0o755 })`
    const path = programs(text, 'apt-get')
    expect(await installEngines({ path, canInstall: true, print })).toEqual([
      missingRedis,
      missingChromium,
    ])
  })

  test('is not waited for when apt-get hangs', async () => {
    const path = programs('setInterval(() => {}, 1000)', 'apt-get')
    const options = { path, canInstall: true, timeoutMs: 100, print }
    expect(await installEngines(options)).toEqual(missing)
  })
})
