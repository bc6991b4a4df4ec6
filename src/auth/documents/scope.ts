import { isScope } from '../../mcp/scope.ts'

/**
 * Reads the scopes of a space-separated list, without repetitions. Words that are no scopes by RFC 6749 are left
 * out. Returns undefined for anything but a string.
 */
export function readScopes(text: unknown): readonly string[] | undefined {
  if (typeof text !== 'string') return undefined
  return [...new Set(text.split(' ').filter(isScope))]
}

/** Returns the scopes that any of the lists has, in the order of their first appearance. */
export function unionOfScopes(
  ...lists: readonly (readonly string[] | undefined)[]
): readonly string[] {
  return [...new Set(lists.flatMap(list => list ?? []))]
}

/** Returns scopes as one text, separated by spaces, as OAuth writes them; undefined for none. */
export function scopeText(scopes: readonly string[]): string | undefined {
  return scopes.length === 0 ? undefined : scopes.join(' ')
}
