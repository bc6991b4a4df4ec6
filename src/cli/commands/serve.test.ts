import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isWatched } from './serve.ts'

test.each([
  ['server.js', true],
  ['server.mts', true],
  [join('lib', 'words.json'), true],
  ['server.log', false],
  ['notes', false],
  [join('node_modules', 'x', 'index.js'), false],
  [join('.git', 'hooks.js'), false],
])('a change of %s restarts the server: %s', (name, expected) => {
  expect(isWatched(name)).toBe(expected)
})
