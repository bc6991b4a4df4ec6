import { nearest } from '../util/nearest.ts'

/**
 * Returns `; did you mean "…"?` for an unknown name, or an empty string. The names behind a router
 * have a prefix, so a name that ends in what was typed comes first (`get-sum` means `everything__get-sum`), and a
 * misspelled name is also compared with what follows the prefix.
 */
export function suggestName(name: string, known: readonly string[]): string {
  const endings = known.filter(one => isEnding(one, name)).slice(0, maxSuggestions)
  const bare = new Map(known.map(one => [one.slice(one.lastIndexOf('__') + 2), one]))
  const close = nearest(name, known) ?? bare.get(nearest(name, bare.keys()) ?? '')
  const found = endings.length > 0 ? endings : close === undefined ? [] : [close]
  if (found.length === 0) return ''
  return `; did you mean ${found.map(one => `"${one}"`).join(' or ')}?`
}

/** The number of names in a suggestion. */
const maxSuggestions = 3

/** Whether a name consists of a prefix, which ends with a separator, and `ending`. */
function isEnding(name: string, ending: string): boolean {
  const at = name.length - ending.length
  return at > 0 && ending !== '' && name.endsWith(ending) && /[^A-Za-z0-9]/.test(name[at - 1] ?? '')
}
