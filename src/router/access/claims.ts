import type { Principal } from '../../jsonrpc/channel.ts'
import { memberAt } from '../../util/objects.ts'
import { matcher } from '../catalog/glob.ts'
import type { ClaimValue } from './policy.ts'

/** Returns a claim of a principal, by its name or by a path such as `realm_access.tenant`; undefined if it has none. */
export function claimOf(principal: Principal | undefined, path: string): unknown {
  return memberAt(principal?.claims, path)
}

/**
 * Returns a function that says whether a claim has one of the values. `'unknown'` for a claim that is missing,
 * or has another type than every value.
 */
export function claimMatcher(
  values: readonly ClaimValue[],
): (claim: unknown) => boolean | 'unknown' {
  const isText = matcher(values.filter(value => typeof value === 'string'))
  const types = new Set(values.map(value => typeof value))
  const one = (claim: unknown): boolean | 'unknown' => {
    if (!isClaimValue(claim) || !types.has(typeof claim)) return 'unknown'
    return typeof claim === 'string' ? isText(claim) : values.includes(claim)
  }
  return claim => {
    if (!Array.isArray(claim)) return one(claim)
    const all = claim.map(one)
    if (all.includes(true)) return true
    return all.includes('unknown') ? 'unknown' : false
  }
}

/** Returns the values of a claim to compare an argument with; undefined if it is missing or of another type. */
export function claimValues(claim: unknown): readonly ClaimValue[] | undefined {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  return values.every(isClaimValue) ? values : undefined
}

/** Whether a value is of a type that claims are compared by. */
export function isClaimValue(value: unknown): value is ClaimValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
