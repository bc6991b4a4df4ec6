import { expect, test } from 'vitest'
import { decodePart, parseObject } from './strict-json.ts'

test.each([
  ['{"a":1,"b":{"a":[{"a":1},{"a":2}]},"c":"a"}', true],
  ['{"a":"\\"a\\":1,","b":["a","a"]}', true],
  ['{}', true],
  ['{"a":1,"a":1}', false],
  ['{"a":1,"\\u0061":1}', false],
  ['{"b":[{"c":{"a":1,"x":[],"a":2}}]}', false],
  ['[]', false],
  ['"a"', false],
  ['{"a":1', false],
])('%s is an object without repeated members: %s', (text, isRight) => {
  expect(parseObject(text) !== undefined).toBe(isRight)
})

test.each(['', 'a b', 'a+b', 'YQ==', '_w'])('%j is no part of a token', part => {
  expect(decodePart(part)).toBeUndefined()
})

test('a part is UTF-8 in base64url', () => {
  expect(decodePart(Buffer.from('{"ü":"\u{1f600}"}').toString('base64url'))).toBe(
    '{"ü":"\u{1f600}"}',
  )
})
