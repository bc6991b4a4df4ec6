import type { Principal } from '../../jsonrpc/channel.ts'
import { matcher } from '../catalog/glob.ts'
import { claimMatcher, claimOf } from './claims.ts'
import { and, type ConditionMatch } from './match.ts'
import type { PolicyCondition } from './policy.ts'

/** Decides whether a condition holds for a caller; undefined stands for an anonymous one. */
export type Condition = (principal: Principal | undefined) => ConditionMatch

/** Compiles a condition of a policy. */
export function conditionOf(given: PolicyCondition): Condition {
  const { scopes = [], roles, clients, principals, claims = {}, anonymous } = given
  const isRole = roles && matcher(roles)
  const isClient = clients && matcher(clients)
  const isPrincipal = principals && matcher(principals)
  const hasClaims = Object.entries(claims).map(([name, values]) => {
    const matches = claimMatcher(values)
    return (principal: Principal | undefined) => matches(claimOf(principal, name))
  })
  const others = (principal: Principal | undefined): boolean | 'unknown' => {
    if (anonymous !== undefined && anonymous !== (principal === undefined)) return false
    if (isRole !== undefined && principal?.roles?.some(isRole) !== true) return false
    if (isClient !== undefined && !isNamed(isClient, principal?.client)) return false
    if (isPrincipal !== undefined && !isNamed(isPrincipal, principal?.id)) return false
    let match: boolean | 'unknown' = true
    for (const has of hasClaims) match = and(match, () => has(principal))
    return match
  }
  return principal => {
    const match = others(principal)
    const held = principal?.scopes ?? []
    const missing = scopes.filter(scope => !held.includes(scope)).length
    if (missing === 0) return match
    return match === true ? { scopes, missing } : false
  }
}

/** Whether a name is there, and matches. */
function isNamed(matches: (name: string) => boolean, name: string | undefined): boolean {
  return name !== undefined && matches(name)
}
