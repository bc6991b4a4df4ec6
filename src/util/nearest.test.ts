import { expect, test } from 'vitest'
import { didYouMean, nearest } from './nearest.ts'

const known = ['command', 'args', 'url', 'urls', 'env', 'timeoutMs']

const cases: readonly [name: string, typed: string, meant: string | undefined][] = [
  ['a letter missing', 'comand', 'command'],
  ['a letter too many', 'commmand', 'command'],
  ['another letter', 'cammand', 'command'],
  ['two swapped', 'agrs', 'args'],
  ['another case', 'URL', 'url'],
  ['the nearest of two', 'urlss', 'urls'],
  ['a unit missing', 'timeout', 'timeoutMs'],
  ['a unit and a letter missing', 'timout', 'timeoutMs'],
  ['the beginning', 'comm', 'command'],
  ['a short word that is another', 'arm', undefined],
  ['a word close to none', 'colour', undefined],
  ['nothing', '', undefined],
  ['a very long word', 'command'.repeat(1000), undefined],
]

test.each(cases)('%s', (_, typed, meant) => {
  expect(nearest(typed, known)).toBe(meant)
})

const words = ['list', 'call', 'check', 'completion']

test.each([
  ['lsit', 'list'],
  ['chek', 'check'],
  ['Check', 'check'],
  ['completoin', 'completion'],
  ['cal', 'call'],
])('%s is a misspelling of %s', (typed, meant) => {
  expect(nearest(typed, words)).toBe(meant)
})

test.each(['', 'serve', 'frobnicate', 'x'])('"%s" is close to no known word', typed => {
  expect(nearest(typed, words)).toBeUndefined()
})

test('didYouMean is empty where no word is close', () => {
  expect(didYouMean('lst', words)).toBe('; did you mean "list"?')
  expect(didYouMean('nothing', words)).toBe('')
})

test('an iterator of names will do', () => {
  expect(nearest('timout', new Set(known).values())).toBe('timeoutMs')
})
