import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Pins } from '../../router/pins/pins.ts'
import { limits } from '../../util/limits/limits.ts'
import { deferred } from '../../util/promises.ts'
import { UsageError } from '../exit.ts'
import { isMissing, pinText, readPinFile, withPinLock, writePinFile } from './pin-store.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'trunkline-pins-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

it('runs one process at a time, and releases the lock even after a failure', async () => {
  const path = join(folder(), 'pins.json')
  const order: string[] = []
  const begun = deferred<void>()
  const gate = deferred<void>()
  const first = withPinLock(path, async () => {
    order.push('first begins')
    begun.resolve()
    await gate.promise
    order.push('first ends')
    throw new Error('no')
  })
  await begun.promise
  const second = withPinLock(path, async () => order.push('second'))
  gate.resolve()
  await expect(first).rejects.toThrow('no')
  await second
  expect(order).toEqual(['first begins', 'first ends', 'second'])
  expect(existsSync(`${path}.lock`)).toBe(false)
})

it('removes a stale lock', async () => {
  const path = join(folder(), 'pins.json')
  writeFileSync(`${path}.lock`, '')
  const old = (Date.now() - limits.pinLockMs.default - 1000) / 1000
  utimesSync(`${path}.lock`, old, old)
  expect(await withPinLock(path, async () => 'mine')).toBe('mine')
})

it('keeps a symbolic link, and writes its target', async () => {
  const here = folder()
  const [link, real] = [join(here, 'link.json'), join(here, 'real.json')]
  writeFileSync(real, '')
  symlinkSync(real, link)
  await writePinFile(link, pinText(new Pins()))
  expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual({ version: 1, pins: [] })
  expect((await readPinFile(link)).text).toBe(readFileSync(real, 'utf8'))
})

it('distinguishes a missing file from one that is too large', async () => {
  const path = join(folder(), 'pins.json')
  const missing = await readPinFile(path).catch((error: unknown) => error)
  expect([missing instanceof UsageError, isMissing(missing)]).toEqual([true, true])
  writeFileSync(path, '')
  truncateSync(path, limits.pinFileBytes.default + 1)
  const long = await readPinFile(path).catch((error: unknown) => error)
  expect(isMissing(long)).toBe(false)
  expect(String(long)).toContain(`it is larger than ${limits.pinFileBytes.default} bytes`)
})
