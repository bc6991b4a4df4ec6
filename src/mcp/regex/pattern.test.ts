import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Automaton } from './nfa.ts'
import { parsePattern } from './parse.ts'
import { compilePattern } from './pattern.ts'
import { WorkBudget, WorkExceeded } from './work-budget.ts'

const budget = (work = 20_000_000) => {
  const made = new WorkBudget()
  made.renew(work)
  return made
}
const automaton = (source: string, flags = 'u') => {
  const made = new Automaton(parsePattern(source, flags === 'u').root, flags)
  return { test: (text: string) => made.test(text, budget()) }
}
/** Returns the least budget with which an automaton can test a text. */
const workOf = (source: string, text: string) => {
  const made = new Automaton(parsePattern(source, true).root, 'u')
  let [least, enough] = [0, 2 ** 30]
  while (enough - least > 1) {
    const middle = Math.floor((least + enough) / 2)
    try {
      made.test(text, budget(middle))
      enough = middle
    } catch {
      least = middle
    }
  }
  return enough
}
const matches = (source: string, text: string) => compilePattern(source).test(text, budget())

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
          // An engine may misplace the end of a match of fixed length. This way the length is variable.
          native = new RegExp(`(?:${source}|[])`, 'u')
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
    ['[^a]$', '😀', true],
    ['[^a]$', '😀a', false],
    ['([^a])$|^a$', 'b😀', true],
    ['[\\s\\S]{2}$', '😀', false],
    ['[\\s\\S]{2}$', 'a😀', true],
  ])('%s on %j is %j', (source, subject, isMatch) => {
    expect(matches(source, subject)).toBe(isMatch)
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
    [`^${'(?:a|a)'.repeat(29)}c$`, 29],
    ['(?:(?=a{0,900}c)b){1000}', 1000],
  ])('%s is fast on a text that makes an engine backtrack', (source, length) => {
    const subject = `${(source.includes('\\s') ? ' ' : 'a').repeat(length)}!`
    expect(matches(source, subject)).toBe(false)
  })

  test('a text that would take too long is neither a match nor none', () => {
    for (const source of ['^(a*)b*\\1$', '^(?=a*b)a*b$', '^(a|b)+$', '(?:(?=a*b)a)*c']) {
      expect(matches(source, 'ab'.repeat(2))).toBe(source === '^(a|b)+$')
      expect(() => matches(source, 'a'.repeat(5_000_000))).toThrow(WorkExceeded)
    }
    expect(matches('^(a*)b*\\1$', 'a'.repeat(200))).toBe(true)
    expect(matches('^(?=a*b)a*b$', `${'a'.repeat(1500)}b`)).toBe(true)
  })

  test.each([
    ['\\d+$', '1'.repeat(1000)],
    ['a{1000}b', 'a'.repeat(2000)],
    ['(?:a{50}){50}b', 'a'.repeat(5000)],
    ['^(a*)a*\\1$', 'a'.repeat(300)],
    ['(?<=a*)b', 'a'.repeat(1000)],
    ['(?=a{500})[^a]', 'a'.repeat(2000)],
    ['\\p{Lu}+$', 'Ä'.repeat(2000)],
  ])('%s pays for all that it does', (source, subject) => {
    const pattern = compilePattern(source)
    const left = budget(20_000_000)
    let count = 0
    // One budget for all texts.
    expect(() => {
      for (; count < 10_000; count++) pattern.test(subject, left)
    }).toThrow(WorkExceeded)
  })

  test.each(['(?=)', '(?!b)', '\\B'])('charges for %s at each position', look => {
    const text = 'a'.repeat(1000)
    const plain = workOf('(?:a)*c', text)
    expect(workOf(`(?:${look}a)*c`, text)).toBeGreaterThan(plain + 10 * text.length)
  })

  // The automaton can read it too, for the built-in engine may find no memory to go back in.
  test('a megabyte of text is fine for a simple expression', () => {
    const source = '^(?:[0-9a-zA-Z+/]{4})*$'
    expect(matches(source, 'abcd'.repeat(250_000))).toBe(true)
    expect(automaton(source).test('abcd'.repeat(250_000))).toBe(true)
    expect(matches(source, `${'abcd'.repeat(100_000)}!`)).toBe(false)
    expect(matches('^.{0,50000}$', 'a'.repeat(50_001))).toBe(false)
    expect(matches('^.{0,50000}$', 'a'.repeat(50_000))).toBe(true)
  })

  test('takes neither time nor memory to compile for what it repeats', () => {
    for (const source of [
      '(?:(?=a{0,9000})b){6000}',
      '(?:(?=(?:a|b){0,900})(?:c|b)){900000}',
      '^(?:(?:(?:a?){99}){99}){99}$',
      '^(?:|a){100000000}b',
    ]) {
      expect(() => compilePattern(source)).toThrow(/repeats too much/)
    }
    // Copies of a look-ahead share its states.
    expect(compilePattern('(?:(?=a{0,900}c)b){1000}').size).toBeLessThan(10_000)
    expect(() => compilePattern('[\\p{L}]'.repeat(100))).toThrow(/too many character classes/)
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
