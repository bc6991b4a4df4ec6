import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { replaceFile } from './replace-file.ts'

const isWindows = process.platform === 'win32'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'trunkline-files-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const modeOf = (path: string) => statSync(path).mode & 0o777

it('creates a file that only its owner can read, and leaves nothing beside it', async () => {
  const place = folder()
  await replaceFile(join(place, 'a'), 'text')
  expect(readFileSync(join(place, 'a'), 'utf8')).toBe('text')
  expect(readdirSync(place)).toEqual(['a'])
  if (!isWindows) expect(modeOf(join(place, 'a'))).toBe(0o600)
})

it.runIf(!isWindows).each([0o600, 0o644, 0o664, 0o400])(
  'keeps the mode %o of a file',
  async mode => {
    const path = join(folder(), 'a')
    writeFileSync(path, 'old')
    chmodSync(path, mode)
    await replaceFile(path, 'new')
    expect(modeOf(path)).toBe(mode)
    expect(readFileSync(path, 'utf8')).toBe('new')
  },
)

it.runIf(!isWindows)('does not write through links beside the file', async () => {
  const place = folder()
  const path = join(place, 'pins.json')
  const victim = join(place, 'victim')
  writeFileSync(victim, 'precious')
  for (const name of ['pins.json.new', 'pins.json.tmp', '.pins.json']) {
    symlinkSync(victim, join(place, name))
  }
  await replaceFile(path, 'text')
  expect(readFileSync(victim, 'utf8')).toBe('precious')
  expect(lstatSync(path).isSymbolicLink()).toBe(false)
})

it.runIf(!isWindows)('replaces the target of a link, not the link', async () => {
  const place = folder()
  writeFileSync(join(place, 'target'), 'old')
  symlinkSync(join(place, 'target'), join(place, 'link'))
  await replaceFile(join(place, 'link'), 'new')
  expect(lstatSync(join(place, 'link')).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(place, 'target'), 'utf8')).toBe('new')
})

it('removes the draft if the file cannot be replaced', async () => {
  const place = folder()
  mkdirSync(join(place, 'a'))
  writeFileSync(join(place, 'a', 'inside'), '')
  await expect(replaceFile(join(place, 'a'), 'text')).rejects.toThrow()
  expect(readdirSync(place)).toEqual(['a'])
})

it.runIf(!isWindows)('writes to a device as it is', async () => {
  await replaceFile('/dev/null', 'text')
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
})
