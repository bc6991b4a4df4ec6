import { toBase64Url } from '../../../util/crypto/base64url.ts'
import { limits } from '../../../util/limits/limits.ts'
import { isRecord } from '../../../util/objects.ts'
import { readJwt } from '../../documents/jwt-parts.ts'
import { loadJose } from '../../jose.ts'
import type { DpopNonces } from './nonce.ts'
import type { ReplayCache } from './replay-cache.ts'

/** The signature algorithms of DPoP proofs. */
export const proofAlgorithms: readonly string[] = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'RS256',
  'EdDSA',
  'Ed25519',
]

/** What a proof must be for. */
export interface ProofTarget {
  readonly method: string
  /** The URL of the request, without the query. */
  readonly url: string
  readonly token: string
  /** The thumbprint of the key that the token is bound to. */
  readonly jkt: string
}

/** How proofs are checked. */
export interface ProofRules {
  readonly now: () => number
  readonly replays: ReplayCache
  /** Where every proof needs a nonce. */
  readonly nonces: DpopNonces | undefined
}

/** The outcome of checking a proof. */
export type ProofOutcome = 'valid' | 'invalid' | 'nonce' | 'full'

/** Checks a DPoP proof (RFC 9449, section 4.3). The signature comes last but one, then the single use. */
export async function checkProof(
  proof: string,
  target: ProofTarget,
  { now, replays, nonces }: ProofRules,
): Promise<ProofOutcome> {
  const parts = readJwt(proof)
  if (parts === undefined) return 'invalid'
  const { header, payload } = parts
  const { typ, alg, jwk, crit } = header
  if (typ !== 'dpop+jwt' || typeof alg !== 'string' || !proofAlgorithms.includes(alg))
    return 'invalid'
  if (!isPublicKey(jwk) || crit !== undefined) return 'invalid'
  const { htm, htu, iat, ath, jti, nonce } = payload
  if (htm !== target.method || typeof htu !== 'string' || !isSameUrl(htu, target.url))
    return 'invalid'
  if (typeof iat !== 'number' || !isFresh(iat * 1000, now())) return 'invalid'
  if (typeof jti !== 'string' || jti.length < 1 || jti.length > 128) return 'invalid'
  if (ath !== (await digest(target.token))) return 'invalid'
  const { calculateJwkThumbprint, importJWK, compactVerify, errors } = await loadJose()
  try {
    if ((await calculateJwkThumbprint(jwk, 'sha256')) !== target.jkt) return 'invalid'
    if (nonces !== undefined && !(typeof nonce === 'string' && (await nonces.accepts(nonce))))
      return 'nonce'
    await compactVerify(proof, await importJWK(jwk, alg), { algorithms: [alg] })
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return 'invalid'
    throw error
  }
  const until = now() + limits.dpopProofMs.default + futureMs
  const isNew = await replays.add(`${target.jkt} ${jti}`, until, now())
  if (isNew === undefined) return 'full'
  return isNew ? 'valid' : 'invalid'
}

/** How far in the future a proof may be issued. */
const futureMs = 5000

function isFresh(issuedAt: number, now: number): boolean {
  return issuedAt <= now + futureMs && issuedAt >= now - limits.dpopProofMs.default
}

function isPublicKey(jwk: unknown): jwk is Record<string, unknown> & { readonly kty: string } {
  if (!isRecord(jwk) || typeof jwk.kty !== 'string' || jwk.kty === 'oct') return false
  return ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].every(secret => jwk[secret] === undefined)
}

/** Compares two URLs without query and fragment, and without a slash at the end. */
function isSameUrl(a: string, b: string): boolean {
  return URL.canParse(a) && plain(a) === plain(b)
}

function plain(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/$/, '')
}

async function digest(token: string): Promise<string> {
  const hash = new Uint8Array(
    await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)),
  )
  return toBase64Url(hash)
}
