import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Automaton } from './nfa.ts'
import { parsePattern } from './parse.ts'
import { compilePattern } from './pattern.ts'

const automaton = (source: string, flags = 'u') =>
  new Automaton(parsePattern(source, flags === 'u').root, flags)

/**
 * Expressions of every kind that an automaton can do, over few letters, so that they often match.
 * All but `\B`: like all that takes no character, the built-in engine also looks for it inside
 * of characters of two code units.
 */
const { expression } = fc.letrec<{ expression: string; piece: string }>(tie => ({
  expression: fc.oneof(
    { maxDepth: 4 },
    fc.array(tie('piece'), { maxLength: 4 }).map(pieces => pieces.join('')),
    fc.array(tie('expression'), { minLength: 1, maxLength: 3 }).map(parts => parts.join('|')),
  ),
  piece: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      'a',
      'b',
      '-',
      '.',
      '\\d',
      '\\w',
      '[ab]',
      '[^a]',
      '[\\]\\-a]',
      '\\.',
      '😀',
      'é',
    ),
    fc.constantFrom('^', '$', '\\b', '\\u{1F600}', '\\u0061', '\\x62', '\\p{L}', '[]', '[^]'),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('(', '(?:', '(?<x>', '(?=', '(?!'),
        fc.constantFrom('', '*', '+', '?', '*?', '{2}', '{0,2}', '{1,}', '{0}'),
      )
      // What looks ahead cannot be repeated itself.
      .map(([inner, open, times]) => `${open}${inner})${/[=!]/.test(open) ? '' : times}`),
    fc
      .tuple(fc.constantFrom('a', 'b', '[ab]', '.'), fc.constantFrom('*', '+', '?', '{1,3}', '{3}'))
      .map(parts => parts.join('')),
  ),
}))

const text = fc
  .array(fc.constantFrom('a', 'b', '1', '-', '.', ' ', '\n', '😀', 'é', '\ud83d'), { maxLength: 8 })
  .map(letters => letters.join(''))

describe('a pattern', () => {
  test('its automaton agrees with the built-in engine', () => {
    fc.assert(
      fc.property(expression, fc.array(text, { minLength: 1, maxLength: 8 }), (source, texts) => {
        let native: RegExp
        try {
          native = new RegExp(source, 'u')
        } catch {
          // The same group name twice.
          return
        }
        const ours = automaton(source)
        const isLooking = /\(\?[=!]/.test(source)
        for (const each of texts) {
          const one = isLooking ? each.replaceAll('😀', 'c') : each
          expect([one, ours.test(one)]).toEqual([one, native.test(one)])
        }
      }),
      { numRuns: 2000 },
    )
  })

  test.each([
    ['^[a-z]+$', 'abc', true],
    ['^[a-z]+$', 'ab1', false],
    ['b', 'abc', true],
    ['^(?:[a-z]+\\.)*[a-z]+@(?:[a-z]+\\.)+[a-z]{2,}$', 'a.b@c.example', true],
    ['^(?:[a-z]+\\.)*[a-z]+@(?:[a-z]+\\.)+[a-z]{2,}$', 'a.b@c', false],
    ['^(?=.*\\d)(?!.*x).+$', 'ab1', true],
    ['^(?=.*\\d)(?!.*x).+$', 'ab1x', false],
    ['^(a)\\1$', 'aa', true],
    ['^(?<n>a)\\k<n>$', 'ab', false],
    ['^.$', '😀', true],
    ['^(?:(?!-)[a-z-])*$', 'abc', true],
    // Works without the flag only.
    ['^\\@\\_a{$', '@_a{', true],
    ['^(\\@+)*$', '@@', true],
    ['^(\\@+.)*$', '@😀', false],
    ['^(\\Ba|b)+$', 'ba', true],
    ['^(\\Ba|b)+$', 'ab', false],
    ['', '', true],
  ])('%s on %j is %j', (source, subject, matches) => {
    expect(compilePattern(source).test(subject)).toBe(matches)
  })

  test.each([
    ['(a+)+$', 40],
    ['^(a|a)*$', 40],
    ['^(a|aa)+$', 60],
    ['^(?:a?){30}a{30}$', 30],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 40],
    ['a*a*a*a*b', 2000],
    ['(?:.*)*x', 50],
    ['^(?:(?=a)a+)+$', 50],
    ['^(?=(?:a+)+$)', 50],
    ['\\s+$', 100_000],
  ])('%s is fast on a text that makes an engine backtrack', (source, length) => {
    const subject = `${(source.includes('\\s') ? ' ' : 'a').repeat(length)}!`
    expect(compilePattern(source).test(subject)).toBe(false)
  })

  test('a text that is too long to test does not match', () => {
    expect(compilePattern('^(a*)b*\\1$').test('a'.repeat(20_000))).toBe(false)
    expect(compilePattern('^(a*)b*\\1$').test('a'.repeat(1000))).toBe(true)
    expect(compilePattern('^(?=a*b)a*b$').test(`${'a'.repeat(5000)}b`)).toBe(false)
    expect(compilePattern('^(?=a*b)a*b$').test(`${'a'.repeat(1500)}b`)).toBe(true)
    expect(compilePattern('^(a|b)+$').test('a'.repeat(50_000_000))).toBe(false)
  })

  test('megabytes of text are fine for a simple expression', () => {
    const bytes = compilePattern('^(?:[0-9a-zA-Z+/]{4})*$')
    expect(bytes.test('abcd'.repeat(1_000_000))).toBe(true)
    expect(bytes.test(`${'abcd'.repeat(2_500_000)}!`)).toBe(false)
  })

  test.each([
    ['(', /Unterminated group/],
    ['a'.repeat(5000), /longer than/],
    ['^(?:(?<=a)a+)+$', /never terminate/],
    ['^(a+)+\\1$', /never terminate/],
    ['^(?:a{1,200}b{1,200}){100}$', /repeats too much/],
  ])('%# is refused', (source, reason) => {
    expect(() => compilePattern(source)).toThrow(reason)
  })

  test('an empty expression may be repeated any number of times', () => {
    expect(automaton('^(?:){1000000000}(?:){2,}a$').test('a')).toBe(true)
  })
})
