import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { engineProgram, installEngines } from '../scripts/engines.js'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-engines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const missing = [
  'not tested: backplanes in Redis, because redis-server or valkey-server is not installed',
  'not tested: the console in a browser, because chromium or chromium-browser or google-chrome is not installed',
]

/** Writes a program and returns the folder that holds it. */
function programs(name: string, text: string): string {
  const own = mkdtempSync(join(folder, 'path-'))
  writeFileSync(join(own, name), `#!${process.execPath}\n${text}`)
  chmodSync(join(own, name), 0o755)
  return own
}

describe.skipIf(process.platform === 'win32')('an engine', () => {
  const print = () => {}

  test('that is installed is used, and nothing is installed', async () => {
    const path = programs('valkey-server', '')
    writeFileSync(join(path, 'chromium'), '', { mode: 0o755 })
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
    const path = programs('apt-get', 'process.exit(100)')
    expect(await installEngines({ path, canInstall: true, print })).toEqual(missing)
  })

  test('that apt-get installs after an update is found', async () => {
    const text = `
      const { existsSync, writeFileSync } = require('node:fs')
      const at = name => __dirname + '/' + name
      if (process.argv.includes('update')) writeFileSync(at('updated'), '')
      else if (!existsSync(at('updated'))) process.exit(100)
      else for (const name of ['redis-server', 'chromium']) writeFileSync(at(name), '', { mode: 0o755 })`
    const path = programs('apt-get', text)
    expect(await installEngines({ path, canInstall: true, print })).toEqual([])
  })

  test('is not waited for when apt-get hangs', async () => {
    const path = programs('apt-get', 'setInterval(() => {}, 1000)')
    const options = { path, canInstall: true, timeoutMs: 100, print }
    expect(await installEngines(options)).toEqual(missing)
  })
})
