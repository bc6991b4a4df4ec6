import { decodePart, parseObject } from '../strict-json.ts'

/** The parts of a JSON Web Token, before its signature is verified. */
export interface JwtParts {
  readonly header: Readonly<Record<string, unknown>>
  readonly payload: Readonly<Record<string, unknown>>
}

/** Reads a token; undefined if it is not a JSON Web Token. */
export function readJwt(token: string): JwtParts | undefined {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  const header = objectOf(parts[0])
  const payload = objectOf(parts[1])
  return header && payload && { header, payload }
}

function objectOf(part: string | undefined): Readonly<Record<string, unknown>> | undefined {
  const text = part === undefined ? undefined : decodePart(part)
  return text === undefined ? undefined : parseObject(text)
}

/** Returns a claim that may be a string or an array of strings, as an array; undefined if it is neither. */
export function claimStrings(claim: unknown): readonly string[] | undefined {
  if (typeof claim === 'string') return [claim]
  return Array.isArray(claim) && claim.every(one => typeof one === 'string') ? claim : undefined
}
