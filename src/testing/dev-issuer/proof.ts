import { loadJose } from '../../auth/jose.ts'
import { DpopNonces } from '../../auth/server/dpop/nonce.ts'
import { proofAlgorithms } from '../../auth/server/dpop/proof-check.ts'
import { MemoryReplayCache } from '../../auth/server/dpop/replay-cache.ts'
import { limits } from '../../util/limits/limits.ts'
import { OAuthProblem } from './oauth-response.ts'

/** Checks the DPoP proofs of token requests (RFC 9449, section 5). */
export interface ProofChecker {
  /** Resolves to the thumbprint of the key of the request's proof; undefined if it has none. Rejects with an OAuthProblem. */
  thumbprintOf(request: Request): Promise<string | undefined>
}

/** Makes a checker. With `nonce`, every proof needs a nonce of this issuer. */
export function proofChecker(
  now: () => number,
  { nonce }: { readonly nonce: boolean },
): ProofChecker {
  const replays = new MemoryReplayCache()
  const nonces = nonce ? new DpopNonces(now) : undefined
  const invalid = (why: string) => new OAuthProblem('invalid_dpop_proof', why)
  return {
    thumbprintOf: async request => {
      const proof = request.headers.get('dpop')
      if (proof === null) return undefined
      const { jwtVerify, EmbeddedJWK, calculateJwkThumbprint } = await loadJose()
      const rules = {
        typ: 'dpop+jwt',
        algorithms: [...proofAlgorithms],
        maxTokenAge: limits.dpopProofMs.default / 1000,
        clockTolerance: 5,
        currentDate: new Date(now()),
      }
      const verified = await jwtVerify(proof, EmbeddedJWK, rules).catch(() => undefined)
      const jwk = verified?.protectedHeader.jwk
      if (verified === undefined || jwk === undefined) throw invalid('the proof is invalid')
      const { htm, htu, jti = '', nonce: given } = verified.payload
      const { origin, pathname } = new URL(request.url)
      if (htm !== request.method || htu !== origin + pathname || jti === '')
        throw invalid('the proof is for another request')
      if (nonces !== undefined && !(typeof given === 'string' && (await nonces.accepts(given)))) {
        const headers = { 'dpop-nonce': await nonces.current() }
        throw new OAuthProblem('use_dpop_nonce', 'the proof needs the nonce of this response', {
          headers,
        })
      }
      const jkt = await calculateJwkThumbprint(jwk)
      const until = now() + limits.dpopProofMs.default + 5000
      if (replays.add(`${jkt} ${jti}`, until, now()) !== true)
        throw invalid('the proof was used before')
      return jkt
    },
  }
}
