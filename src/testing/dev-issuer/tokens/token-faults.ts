import { toBase64Url } from '../../../util/crypto/base64url.ts'
import type { SigningKey } from './signing-key.ts'

/**
 * Every way in which a token of a {@link DevIssuer} can be wrong. A server has to refuse all of them, so a test can
 * walk this list.
 */
export const tokenFaults = [
  'expired',
  'no expiry',
  'not valid yet',
  'issued in the future',
  'other issuer',
  'no issuer',
  'other audience',
  'longer audience',
  'no audience',
  'other type',
  'ID token',
  'critical header',
  'unknown key',
  'other key',
  'key in header',
  'key address in header',
  'no signature',
  'changed signature',
  'changed claims',
  'algorithm none',
  'public key as secret',
  'malformed',
] as const

/** A way in which a token is wrong, from {@link tokenFaults}. */
export type TokenFault = (typeof tokenFaults)[number]

/** A token before it is signed. */
export interface UnsignedToken {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

/** The keys that faults are made with: the published one, and one that nobody knows. */
export interface FaultKeys {
  readonly own: SigningKey
  readonly stranger: SigningKey
}

type Forge = (token: UnsignedToken, keys: FaultKeys, seconds: number) => Promise<string>

const hour = 3600

const withClaims =
  (changed: (claims: UnsignedToken['claims'], seconds: number) => object): Forge =>
  ({ header, claims }, { own }, seconds) =>
    own.sign(header, { ...claims, ...changed(claims, seconds) })

const withHeader =
  (changed: Readonly<Record<string, unknown>>): Forge =>
  ({ header, claims }, { own }) =>
    own.sign({ ...header, ...changed }, claims)

const signedByStranger =
  (header: (keys: FaultKeys) => Readonly<Record<string, unknown>>): Forge =>
  (token, keys) =>
    keys.stranger.sign({ ...token.header, ...header(keys) }, token.claims)

const edited =
  (edit: (token: string, claims: UnsignedToken['claims']) => string): Forge =>
  async ({ header, claims }, { own }) =>
    edit(await own.sign(header, claims), claims)

const forgeries: Readonly<Record<TokenFault, Forge>> = {
  expired: withClaims((_, now) => ({ iat: now - 2 * hour, exp: now - hour })),
  'no expiry': withClaims(() => ({ exp: undefined })),
  'not valid yet': withClaims((_, now) => ({ nbf: now + hour, exp: now + 2 * hour })),
  'issued in the future': withClaims((_, now) => ({ iat: now + hour, exp: now + 2 * hour })),
  'other issuer': withClaims(() => ({ iss: 'https://other.invalid' })),
  'no issuer': withClaims(() => ({ iss: undefined })),
  'other audience': withClaims(() => ({ aud: 'https://other.invalid/mcp' })),
  'longer audience': withClaims(({ aud }) => ({ aud: `${String(aud)}/more` })),
  'no audience': withClaims(() => ({ aud: undefined })),
  'other type': withHeader({ typ: 'logout+jwt' }),
  'ID token': ({ header, claims }, { own }) =>
    own.sign({ ...header, typ: 'JWT' }, { ...claims, nonce: 'of a login' }),
  'critical header': withHeader({ crit: ['unheard-of'], 'unheard-of': true }),
  'unknown key': signedByStranger(() => ({})),
  'other key': signedByStranger(({ own }) => ({ kid: own.kid })),
  'key in header': signedByStranger(({ own, stranger }) => ({ kid: own.kid, jwk: stranger.jwk })),
  'key address in header': signedByStranger(({ own }) => ({
    kid: own.kid,
    jku: 'https://other.invalid/keys',
  })),
  'no signature': edited(token => token.replace(/[^.]*$/, '')),
  // The first characters, because the last one may have bits that stand for nothing.
  'changed signature': edited(token => token.replace(/\.[^.]{4}([^.]*)$/, '.AAAA$1')),
  'changed claims': edited((token, claims) =>
    token.replace(/\.[^.]*\./, `.${part({ ...claims, sub: 'somebody else' })}.`),
  ),
  'algorithm none': async ({ header, claims }) =>
    `${part({ ...header, alg: 'none' })}.${part(claims)}.`,
  'public key as secret': async ({ header, claims }, { own }) => {
    const head = `${part({ ...header, alg: 'HS256', kid: own.kid })}.${part(claims)}`
    const secret = new TextEncoder().encode(JSON.stringify(own.jwk))
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])
    const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(head))
    return `${head}.${toBase64Url(new Uint8Array(signature))}`
  },
  malformed: edited(token => token.slice(token.indexOf('.') + 1)),
}

/** Makes a token that is wrong in one way and right in all others. */
export function forgeToken(
  fault: TokenFault,
  token: UnsignedToken,
  keys: FaultKeys,
  seconds: number,
): Promise<string> {
  return forgeries[fault](token, keys, seconds)
}

function part(value: object): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(value)))
}
