import { limits } from '../limits/limits.ts'

/**
 * The values that must not appear in messages, with the text that replaces each. They belong to the
 * process, like the environment variables that they come from: a value stays hidden after the
 * configuration that used it has changed.
 */
const hidden = new Map<string, string>()

/** Matches every hidden value; undefined until it is needed. */
let pattern: RegExp | undefined

/**
 * Hides a value from now on: `hideValues` replaces it by `shown`, such as `${TOKEN}`. Values of less than
 * three characters, short numbers such as ports, booleans, and addresses of this machine are not secrets, and
 * would be found everywhere.
 */
export function hideValue(value: string, shown: string): void {
  if (isHarmless.test(value)) return
  const forms = [value, ...encodedForms(value)]
  for (const form of forms) {
    const key = form.toLowerCase()
    if (form.length < shortest || hidden.has(key)) continue
    hidden.set(key, shown)
    pattern = undefined
  }
  for (const oldest of hidden.keys()) {
    if (hidden.size <= limits.hiddenValues.default) break
    hidden.delete(oldest)
  }
}

/** Returns a text in which every hidden value is replaced, also where it is encoded as part of a URL. */
export function hideValues(text: string): string {
  if (hidden.size === 0) return text
  pattern ??= patternOf([...hidden.keys()])
  return text.replace(pattern, found => hidden.get(found.toLowerCase()) ?? '…')
}

const isHarmless = /^(?:\d{1,7}|true|false|localhost|(?:127|0)(?:\.\d{1,3}){3}|\[?::1?\]?)$/i

const shortest = 3

/** From this length on, a value is replaced within words too: a shorter one may be a part of other words. */
const longerThanWords = 8

function encodedForms(value: string): readonly string[] {
  try {
    return [encodeURIComponent(value), encodeURI(value), JSON.stringify(value).slice(1, -1)]
  } catch {
    // A lone surrogate has no encoded form.
    return []
  }
}

function patternOf(values: readonly string[]): RegExp {
  const longestFirst = [...values].sort((a, b) => b.length - a.length)
  const parts = longestFirst.map(value => {
    const literal = value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
    return value.length < longerThanWords ? `(?<![\\w-])${literal}(?![\\w-])` : literal
  })
  return new RegExp(parts.join('|'), 'gi')
}
