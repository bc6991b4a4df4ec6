import { expect, test } from 'vitest'
import { errorWords } from './error-words.ts'

test.each<[unknown, string]>([
  [new TypeError('no such thing'), 'no such thing'],
  ['a text', 'a text'],
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
])('of %o the words are %j', (thrown, words) => {
  expect(errorWords(thrown)).toBe(words)
})
