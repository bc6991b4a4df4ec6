import { expect, test } from 'vitest'
import { promised } from './promised.ts'

test.each([undefined, null, 0, 'text', [1], { n: 1 }])('%j is given as it is', value => {
  expect(promised(value)).toBe(value)
})

test('a promise stays the same one, and what is like one becomes one', async () => {
  const promise = Promise.resolve('value')
  expect(promised(promise)).toBe(promise)
  // biome-ignore lint/suspicious/noThenProperty: that is the point
  const like = promised({ then: promise.then.bind(promise) })
  expect(like).toBeInstanceOf(Promise)
  expect(await like).toBe('value')
})
