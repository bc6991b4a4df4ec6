import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bindSocketFile } from './socket-file.ts'

let folder: string
let umask: number

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-'))
  umask = process.umask()
})

afterEach(() => {
  process.umask(umask)
  rmSync(folder, { recursive: true, force: true })
})

const modeOf = (path: string): number => statSync(path).mode & 0o777

test.each([0o000, 0o022, 0o777])(
  'with the umask %i a socket file is never open to others',
  async mask => {
    const path = join(folder, 's')
    const server = createServer()
    process.umask(mask)
    const bound = bindSocketFile(server, path)
    expect(modeOf(path) & 0o077).toBe(0)
    expect(process.umask()).toBe(mask)
    await bound
    expect(modeOf(path)).toBe(0o600)
    server.close()
  },
)

test('a file that cannot be made leaves the umask as it was', async () => {
  const path = join(folder, 'missing', 's')
  const bound = bindSocketFile(createServer(), path)
  expect(process.umask()).toBe(umask)
  await expect(bound).rejects.toMatchObject({ code: 'refused' })
})
