import { expect, test } from 'vitest'
import { errorMessage } from './error-message.ts'

test.each<[unknown, string]>([
  [new TypeError('no such thing'), 'no such thing'],
  ['a text', 'a text'],
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
])('the message of %o is %j', (thrown, message) => {
  expect(errorMessage(thrown)).toBe(message)
})
