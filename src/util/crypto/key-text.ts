/** The environment variable with the keys of servers and routers that are given none. */
export const keysVariable = 'TRUNKLINE_KEYS'

/**
 * Reads keys from text: hexadecimal or base64, separated by commas or white space. The rest of a line after
 * `#` is a comment. The first key seals, and all of them open what was sealed before.
 *
 * Throws a TypeError that names the position of an invalid key, and never the key itself.
 */
export function parseKeys(text: string): readonly Uint8Array[] {
  const words = text
    .replace(/#.*$/gm, '')
    .split(/[\s,]+/)
    .filter(word => word !== '')
  if (words.length === 0) throw new TypeError('there are no keys')
  return words.map((word, at) => {
    const key = bytesOf(word)
    if (key !== undefined && key.length >= 32) return key
    const form = 'at least 32 bytes in hexadecimal or base64, as `openssl rand -hex 32` prints them'
    throw new TypeError(`key ${at + 1} of ${words.length} is not ${form}`)
  })
}

/** Returns the keys of the environment variable `TRUNKLINE_KEYS`; undefined if it is unset or empty. */
export function keysOfEnvironment(): readonly Uint8Array[] | undefined {
  // Not every runtime has an environment.
  const text = globalThis.process?.env?.[keysVariable]
  if (text === undefined || text.trim() === '') return undefined
  try {
    return parseKeys(text)
  } catch (error) {
    throw new TypeError(`${keysVariable}: ${(error as Error).message}`, { cause: error })
  }
}

function bytesOf(word: string): Uint8Array | undefined {
  if (/^(?:[\da-f]{2})+$/i.test(word)) {
    return Uint8Array.from(word.match(/../g) ?? [], pair => Number.parseInt(pair, 16))
  }
  try {
    const binary = atob(word.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(binary, character => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
