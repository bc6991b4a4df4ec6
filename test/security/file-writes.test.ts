import { expect, test } from 'vitest'
import { sources, withoutComments } from '../sources.ts'

/**
 * The writer, lock files, the audit log, which grows, and new files that are opened with `wx`: those of bundles, and
 * disk space in reserve.
 */
const allowed = [
  'util/files/replace-file.ts',
  'util/files/file-lock.ts',
  'cli/bundles/unpack.ts',
  'observe/audit/audit-log.ts',
  'backplane/sqlite/node-reserve.ts',
]

test('files are written by replaceFile only', () => {
  const writing =
    /\b(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|copyFile)\(/
  const opening = /(?<![#.])\bopen(?:Sync)?\([^)]*['"](?:w|a|r\+)/
  const users = sources().filter(({ text }) => {
    const code = withoutComments(text)
    return writing.test(code) || opening.test(code)
  })
  expect(users.map(({ path }) => path).filter(path => !allowed.includes(path))).toEqual([])
})
