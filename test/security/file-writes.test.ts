import { expect, test } from 'vitest'
import { sources, withoutComments } from '../sources.ts'

/**
 * The writer, the lock of the pin file, bundles, which are unpacked into a new folder with `wx`, and the token
 * store, which replaces its files in the same way but never follows a link, with its lock.
 */
const allowed = [
  'cli/replace-file.ts',
  'cli/up/pin-store.ts',
  'cli/bundles/unpack.ts',
  'auth/client/store/node-file-store.ts',
  'auth/client/store/node-file-lock.ts',
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
