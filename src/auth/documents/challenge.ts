import { limits } from '../../util/limits/limits.ts'
import { readScopes } from './scope.ts'

/** One challenge of a `WWW-Authenticate` field: a scheme and its parameters. */
export interface Challenge {
  /** In lower case. */
  readonly scheme: string
  /** By lower-case name. */
  readonly params: ReadonlyMap<string, string>
}

/** What a server asks for when it refuses a request, in the schemes `Bearer` and `DPoP`. */
export interface TokenChallenge {
  /** Whether tokens are accepted as bearer tokens. */
  readonly acceptsBearer: boolean
  /** Whether tokens are accepted with a proof of possession (RFC 9449). */
  readonly acceptsDpop: boolean
  /** The address of the protected resource metadata. */
  readonly resourceMetadata?: string
  /** The scopes that the request needs. */
  readonly scopes?: readonly string[]
  /** Why the request was refused, such as `insufficient_scope`. */
  readonly error?: string
}

/**
 * Reads the challenges for tokens from the headers of a response. Returns undefined if the server asks for
 * other schemes only; a response without any challenge asks for a bearer token.
 */
export function challengeOf(headers: Headers): TokenChallenge | undefined {
  const field = headers.get('www-authenticate')
  if (field === null) return { acceptsBearer: true, acceptsDpop: false }
  const all = parseChallenges(field)
  const bearer = all.find(({ scheme }) => scheme === 'bearer')
  const dpop = all.find(({ scheme }) => scheme === 'dpop')
  if (bearer === undefined && dpop === undefined) return undefined
  const value = (name: string) => bearer?.params.get(name) ?? dpop?.params.get(name)
  const scopes = readScopes(value('scope'))
  const isTooMany = scopes !== undefined && scopes.length > limits.challengeScopes.default
  return {
    acceptsBearer: bearer !== undefined,
    acceptsDpop: dpop !== undefined,
    resourceMetadata: value('resource_metadata'),
    scopes: isTooMany ? undefined : scopes,
    error: value('error'),
  }
}

/**
 * Parses the challenges of `WWW-Authenticate` fields, joined by commas, by the grammar of RFC 9110. Stops where
 * the text violates it. Ignores parameters that are too long or contain control characters.
 */
export function parseChallenges(field: string): readonly Challenge[] {
  const challenges: { scheme: string; params: Map<string, string> }[] = []
  const reader = new FieldReader(field)
  for (;;) {
    reader.skip(/[ \t,]*/y)
    const name = reader.take(token)
    if (name === undefined) return challenges
    const current = challenges.at(-1)
    if (current !== undefined && reader.skip(/[ \t]*=[ \t]*/y)) {
      const value = reader.value()
      if (value === undefined) return challenges
      const key = name.toLowerCase()
      if (isUsable(value) && !current.params.has(key)) current.params.set(key, value)
      continue
    }
    challenges.push({ scheme: name.toLowerCase(), params: new Map() })
    // Credentials in one piece, which neither Bearer nor DPoP has. A name before "=" is a parameter instead.
    reader.skip(/[ \t]+[\w.~+/-]+=*(?=[ \t]*(?:,|$))/y)
  }
}

/** Reads a field from left to right. */
class FieldReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Reads what the sticky expression matches at this place; undefined if it does not match. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  /** Skips what the sticky expression matches. Returns whether it matched. */
  skip(pattern: RegExp): boolean {
    return this.take(pattern) !== undefined
  }

  /** Reads a token or a quoted string. */
  value(): string | undefined {
    const quoted = this.take(quotedString)
    return quoted === undefined ? this.take(token) : quoted.slice(1, -1).replace(/\\(.)/gs, '$1')
  }
}

const token = /[\w!#$%&'*+.^`|~-]+/y
const quotedString = /"(?:[^"\\]|\\.)*"/sy

function isUsable(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
  return value.length <= limits.challengeBytes.default && !/[\x00-\x1f\x7f]/.test(value)
}
