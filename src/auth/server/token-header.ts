import { limits } from '../../util/limits/limits.ts'

/** A credential of a request. */
export interface PresentedToken {
  readonly scheme: 'bearer' | 'dpop'
  readonly token: string
}

/** What the `Authorization` header of a request holds: a token, none of ours, or something malformed. */
export type TokenHeader = PresentedToken | 'none' | 'malformed'

/**
 * Reads the values of `Authorization`. Another scheme than `Bearer` and `DPoP` counts as none: it is not
 * meant for this server. More than one value is malformed, because two readers could choose differently.
 */
export function readTokenHeader(values: readonly string[]): TokenHeader {
  const [value] = values
  if (value === undefined) return 'none'
  if (values.length > 1) return 'malformed'
  const space = value.indexOf(' ')
  const scheme = (space === -1 ? value : value.slice(0, space)).toLowerCase()
  if (scheme !== 'bearer' && scheme !== 'dpop') return 'none'
  const token = space === -1 ? '' : value.slice(space + 1).trim()
  return isToken(token) ? { scheme, token } : 'malformed'
}

/**
 * Reads the credential of a request: the header `Authorization`, or one of the further headers, such as
 * `x-api-key`. Two credentials are malformed, because two readers could choose differently.
 */
export function readCredentials(
  authorization: readonly string[],
  headers: readonly string[],
  request: { values(name: string): readonly string[] },
): TokenHeader {
  const presented = readTokenHeader(authorization)
  if (headers.length === 0 || presented === 'malformed') return presented
  const keys = headers.flatMap(name => request.values(name))
  const [key] = keys
  if (key === undefined) return presented
  if (keys.length > 1 || presented !== 'none') return 'malformed'
  const token = key.trim()
  return isToken(token) ? { scheme: 'bearer', token } : 'malformed'
}

function isToken(token: string): boolean {
  return token.length <= limits.tokenBytes.default && token68.test(token)
}

/** The characters of a token in a header (RFC 9110, section 11.2). */
const token68 = /^[A-Za-z0-9\-._~+/]+=*$/

/** Whether a query carries an access token, which would end up in logs (RFC 6750, section 2.3 is not supported). */
export function hasQueryToken(query: string): boolean {
  return /(?:^|&)access_token=/i.test(query)
}
