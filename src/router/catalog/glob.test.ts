import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { growth, proportional } from '../../../test/fuzz/cost.ts'
import { matcher } from './glob.ts'

describe('a list of names with stars', () => {
  test.each<[pattern: string, name: string, isAmong: boolean]>([
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
  ])('%s has %s: %s', (pattern, name, isAmong) => {
    expect(matcher([pattern])(name)).toBe(isAmong)
  })

  test('has what any of its lines has', () => {
    const isAmong = matcher(['read', 'list_*'])
    expect(['read', 'list_x', 'write'].map(isAmong)).toEqual([true, true, false])
    expect(matcher([])('read')).toBe(false)
  })

  test('means what a regular expression would mean', () => {
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

  test('takes time in proportion to the name, however many stars', () => {
    const isAmong = matcher([`${'*a'.repeat(20)}*b`])
    const ratio = growth(2000, size => {
      expect(isAmong('a'.repeat(size))).toBe(false)
    })
    expect(ratio).toBeLessThan(proportional)
  })
})
