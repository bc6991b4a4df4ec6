import { expect, test } from 'vitest'
import { didYouMean } from './did-you-mean.ts'
import { nearest } from './nearest.ts'

const words = ['list', 'call', 'check', 'completion']

test.each([
  ['lsit', 'list'],
  ['chek', 'check'],
  ['Check', 'check'],
  ['completoin', 'completion'],
  ['cal', 'call'],
])('%s means %s', (typed, meant) => {
  expect(nearest(typed, words)).toBe(meant)
})

test.each(['', 'serve', 'frobnicate', 'x'])('"%s" means nothing that there is', typed => {
  expect(nearest(typed, words)).toBeUndefined()
})

test('is said only where something was meant', () => {
  expect(didYouMean('lst', words)).toBe('; did you mean "list"?')
  expect(didYouMean('nothing', words)).toBe('')
})
