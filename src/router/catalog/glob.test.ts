import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { growth, proportional } from '../../../test/fuzz/cost.ts'
import { matcher } from './glob.ts'

describe('a list of patterns', () => {
  test.each<[pattern: string, name: string, isMatch: boolean]>([
    ['read', 'read', true],
    ['read', 'reader', false],
    ['*', '', true],
    ['*', 'anything', true],
    ['read*', 'read', true],
    ['read*', 'read_file', true],
    ['read*', 'bread', false],
    ['*file', 'read_file', true],
    ['*file', 'files', false],
    ['a*b', 'ab', true],
    ['a*b', 'a', false],
    ['ab*ba', 'aba', false],
    ['ab*ba', 'abba', true],
    ['*a*b*', 'xxaxxbxx', true],
    ['*a*b*', 'ba', false],
    ['a*b*c', 'abbc', true],
    ['a*bc*bc', 'abc', false],
    ['a**b', 'ab', true],
    ['r.ad', 'read', false],
    ['[a-z]*', 'read', false],
    ['a+*', 'a+b', true],
    ['Read', 'read', false],
    ['*日*', '今日は', true],
  ])('%s matches %s: %s', (pattern, name, isMatch) => {
    expect(matcher([pattern])(name)).toBe(isMatch)
  })

  test('matches what any of its patterns matches', () => {
    const isMatch = matcher(['read', 'list_*'])
    expect(['read', 'list_x', 'write'].map(isMatch)).toEqual([true, true, false])
    expect(matcher([])('read')).toBe(false)
  })

  test('is equivalent to a regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 8 })
    fc.assert(
      fc.property(text, text, (pattern, name) => {
        const parts = pattern.split('*').map(part => part.replaceAll('.', '\\.'))
        const same = new RegExp(`^${parts.join('.*')}$`, 's')
        expect(matcher([pattern])(name)).toBe(same.test(name))
      }),
      { numRuns: 1000 },
    )
  })

  test('takes time proportional to the name, for any number of stars', () => {
    const isMatch = matcher([`${'*a'.repeat(20)}*b`])
    const ratio = growth(2000, size => {
      expect(isMatch('a'.repeat(size))).toBe(false)
    })
    expect(ratio).toBeLessThan(proportional)
  })
})
