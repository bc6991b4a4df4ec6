import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const known = ['command', 'args', 'url', 'urls', 'env', 'timeoutMs']

const cases: readonly [name: string, written: string, meant: string | undefined][] = [
  ['a letter missing', 'comand', 'command'],
  ['a letter too many', 'commmand', 'command'],
  ['another letter', 'cammand', 'command'],
  ['two swapped', 'agrs', 'args'],
  ['another case', 'URL', 'url'],
  ['the nearest of two', 'urlss', 'urls'],
  ['a unit missing', 'timeout', 'timeoutMs'],
  ['a short word that is another', 'arm', undefined],
  ['a word like none', 'colour', undefined],
  ['nothing', '', undefined],
  ['a very long word', 'command'.repeat(1000), undefined],
]

test.each(cases)('%s', (_, written, meant) => {
  expect(nearest(written, known)).toBe(meant)
})
