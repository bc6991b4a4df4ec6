import { expect, test } from 'vitest'
import { acceptedLanguages, checkText, localize } from './localized.ts'

test.each([
  [undefined, []],
  ['de', ['de']],
  ['en;q=0.5, de-CH, fr;q=0.9', ['de-ch', 'fr', 'en']],
  ['*, de;q=0, en;q=x, <b>', []],
  [
    Array.from({ length: 20 }, (_, at) => `a${'b'.repeat(at % 5)}`).join(','),
    expect.objectContaining({ length: 10 }),
  ],
])('Accept-Language: %s', (header, languages) => {
  expect(acceptedLanguages(header)).toEqual(languages)
})

test.each([
  [['de-ch', 'en'], 'Grüezi'],
  [['de-at', 'en'], 'Hallo'],
  [['pt'], 'Olá'],
  [['fr'], 'Hello'],
  [[], 'Hello'],
])('a text for %s is %s', (languages, words) => {
  const text = { en: 'Hello', de: 'Hallo', 'de-CH': 'Grüezi', 'pt-BR': 'Olá' }
  expect(localize(text, languages)).toBe(words)
})

test('a plain text has one language', () => {
  expect([localize('Hello', ['de']), localize(undefined, ['de'])]).toEqual(['Hello', undefined])
})

test.each([[5], [{}], [{ en: 5 }], [['Hello']]])('%j is no text', text => {
  expect(() => checkText('"title"', text)).toThrow(
    '"title" must be a string, or strings by language',
  )
})
