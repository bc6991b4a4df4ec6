import { isRecord } from '../util/objects.ts'

/**
 * Parses a JSON object, and rejects one in which a member appears twice, at any depth: two readers could
 * choose different values. Returns undefined for anything else.
 */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return isRecord(value) && !repeatsMembers(text) ? value : undefined
}

/** Whether an object in valid JSON has a member twice. */
function repeatsMembers(text: string): boolean {
  /** The names so far of each object that is open; undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let isName = false
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
    const names = open.at(-1)
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined)
      isName = token === '{'
    } else if (token === '}' || token === ']') {
      open.pop()
    } else if (token === ',') {
      isName = names !== undefined
    } else if (isName && names !== undefined) {
      // Two spellings of one name are the same member.
      const name = String(JSON.parse(token))
      if (names.has(name)) return true
      names.add(name)
      isName = false
    }
  }
  return false
}

/** Decodes a base64url part of a token as UTF-8; undefined if it is neither. */
export function decodePart(part: string): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) return undefined
  try {
    const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), character =>
      character.charCodeAt(0),
    )
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
