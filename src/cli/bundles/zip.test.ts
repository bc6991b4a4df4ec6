import { expect, test } from 'vitest'
import { type ZipFile, zipOf } from '../../../test/support/zip.ts'
import { limits } from '../../util/limits/limits.ts'
import { readZip } from './zip.ts'

async function unpacked(archive: Buffer) {
  const entries = readZip(archive)
  return Promise.all(
    entries.map(async ({ name, isExecutable, read }) => {
      return [name, isExecutable, Buffer.from(await read()).toString()]
    }),
  )
}

test('files are read, compressed or not, with a comment at the end or not', async () => {
  const archive = zipOf([
    { name: 'a/', content: '', mode: 0o040755 },
    { name: 'a/b.txt', content: 'hello '.repeat(1000) },
    { name: 'run', content: '#!', mode: 0o100755, isStored: true },
    { name: 'empty', content: '' },
    { name: 'windows', content: 'x', mode: 0 },
  ])
  const expected = [
    ['a/b.txt', false, 'hello '.repeat(1000)],
    ['run', true, '#!'],
    ['empty', false, ''],
    ['windows', false, 'x'],
  ]
  expect(await unpacked(archive)).toEqual(expected)
  const comment = Buffer.from('PK\x05\x06 a comment')
  const commented = Buffer.concat([archive, comment])
  commented.writeUInt16LE(comment.length, archive.length - 2)
  expect(await unpacked(commented)).toEqual(expected)
})

const hostile: readonly [name: string, file: Partial<ZipFile>, problem: RegExp][] = [
  ['a path to a parent', { name: '../x' }, /leads out/],
  ['a path to a parent inside', { name: 'a/../../x' }, /leads out/],
  ['a path to a parent on Windows', { name: 'a/.. /x' }, /leads out/],
  ['a backslash', { name: '..\\x' }, /not a valid path/],
  ['an absolute path', { name: '/etc/passwd' }, /leads out/],
  ['a drive', { name: 'C:/x' }, /not a valid path/],
  ['no name', { name: '' }, /not a valid path/],
  ['NUL', { name: 'a\0b' }, /not a valid path/],
  ['a symbolic link', { mode: 0o120777 }, /link or a device/],
  ['a device', { mode: 0o060644 }, /link or a device/],
  ['encryption', { flags: 1 }, /encrypted/],
  ['a file larger than declared', { content: 'x'.repeat(5000), size: 10 }, /damaged/],
  ['a file smaller than declared', { size: 10 }, /damaged/],
  ['other content', { crc: 1 }, /damaged/],
  ['more than may be unpacked', { size: limits.bundleUnpackedBytes.default + 1 }, /more than/],
]

test.each(hostile)('%s is refused', async (_, file, problem) => {
  const archive = zipOf([{ name: 'a', content: 'x', ...file }])
  await expect(unpacked(archive)).rejects.toThrow(problem)
})

test('two files with one name are refused, also in another case', () => {
  for (const name of ['a', 'A']) {
    const archive = zipOf([
      { name: 'a', content: '1' },
      { name, content: '2' },
    ])
    expect(() => readZip(archive)).toThrow('twice')
  }
})

test('an archive that is cut off or changed anywhere gives files or a reason', async () => {
  const archive = zipOf([{ name: 'a', content: 'hello '.repeat(20) }])
  for (let at = 0; at < archive.length; at++) {
    const changed = Buffer.from(archive)
    changed[at] = (changed[at] ?? 0) ^ 0xff
    for (const bytes of [archive.subarray(0, at), changed]) {
      const outcome = await unpacked(bytes).catch((error: unknown) => error)
      if (outcome instanceof Error) expect(outcome.message).toMatch(/^(it |")/)
    }
  }
})
