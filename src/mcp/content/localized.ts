import { isRecord } from '../../util/objects.ts'

/**
 * A text for people, or its translations by language, such as `{ en: 'Add', 'de-CH': 'Addieren' }`. The
 * first translation is the default.
 */
export type LocalizedText = string | Readonly<Record<string, string>>

/** Returns a text in the first of some languages that it has, else its default. */
export function localize(
  text: LocalizedText | undefined,
  languages: readonly string[] = [],
): string | undefined {
  if (!isRecord(text)) return text
  const translations = new Map(
    Object.entries(text).map(([language, words]) => [language.toLowerCase(), words]),
  )
  for (const language of languages) {
    const words = translations.get(language) ?? translations.get(primary(language))
    if (words !== undefined) return words
    // A text in a regional language is better than one in another language.
    for (const [known, regional] of translations) if (primary(known) === language) return regional
  }
  const [byDefault] = translations.values()
  return byDefault
}

/** Throws a TypeError for a text that is neither a string nor an object of translations. */
export function checkText(what: string, text: unknown): void {
  if (text === undefined || typeof text === 'string') return
  const isTranslated =
    isRecord(text) &&
    Object.keys(text).length > 0 &&
    Object.values(text).every(words => typeof words === 'string')
  if (isTranslated) return
  throw new TypeError(
    `${what} must be a string, or strings by language such as { en: "…", de: "…" }`,
  )
}

/**
 * Reads an `Accept-Language` header: its languages in lower case, the preferred one first. Ignores what is
 * not a language, and all but the first `maxLanguages`.
 */
export function acceptedLanguages(header: string | undefined): readonly string[] {
  if (header === undefined) return []
  const ranges = header.slice(0, maxHeaderLength).split(',', maxLanguages)
  return ranges
    .map(range => {
      const [language = '', ...parameters] = range
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/)
      const quality = parameters.find(parameter => parameter.startsWith('q='))
      return { language, quality: quality === undefined ? 1 : Number(quality.slice(2)) }
    })
    .filter(
      ({ language, quality }) => /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/.test(language) && quality > 0,
    )
    .sort((a, b) => b.quality - a.quality)
    .map(({ language }) => language)
}

const maxLanguages = 10
const maxHeaderLength = 500

function primary(language: string): string {
  const end = language.indexOf('-')
  return end === -1 ? language : language.slice(0, end)
}
