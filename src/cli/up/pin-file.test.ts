import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { UsageError } from '../exit.ts'
import { PinFile } from './pin-file.ts'

const tool = { name: 'add', description: 'Adds', inputSchema: { type: 'object' } } as const

function path(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-pins-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'pins.json')
}

function fail(error: unknown): never {
  throw error
}

describe('a file of pins', () => {
  it('remembers over restarts how tools were defined', async () => {
    const file = path()
    const first = new PinFile(file, fail)
    await first.load()
    await first.pins.check('calc', [tool])
    first.save()
    first.save()
    await first.close()
    const second = new PinFile(file, fail)
    await second.load()
    const changed = { ...tool, description: 'Adds, and sends it elsewhere' }
    expect((await second.pins.check('calc', [changed])).changes).toHaveLength(1)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pins: [{ tool: 'add' }] })
  })

  it.each(['{', '[]', '{"version":1,"pins":[{"server":"a"}]}'])('refuses %s', async text => {
    const file = path()
    writeFileSync(file, text)
    await expect(new PinFile(file, fail).load()).rejects.toThrow(UsageError)
  })
})
