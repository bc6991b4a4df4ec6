import { isRecord } from '../../../util/objects.ts'
import { InvalidToken, type VerifiedToken } from '../verifier.ts'

/**
 * Reads the claim `cnf`: the key or certificate that a token is bound to (RFC 7800). Throws an InvalidToken for
 * a kind that cannot be checked, because the token would be accepted without its key.
 */
export function confirmationOf({
  cnf,
}: Readonly<Record<string, unknown>>): VerifiedToken['confirmation'] {
  if (cnf === undefined) return undefined
  const { jkt, 'x5t#S256': x5tS256 } = isRecord(cnf) ? cnf : {}
  if (typeof jkt !== 'string' && typeof x5tS256 !== 'string')
    throw new InvalidToken('it is bound to an unknown kind of key')
  return {
    ...(typeof jkt === 'string' && { jkt }),
    ...(typeof x5tS256 === 'string' && { x5tS256 }),
  }
}
