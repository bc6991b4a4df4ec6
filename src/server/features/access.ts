import type { Principal } from '../../jsonrpc/channel.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { OptionTableOf } from '../../util/options.ts'

/** What the principal of a caller needs to use an entry. */
export interface AccessRule {
  /** The scopes that the token of a caller must have, all of them. A caller without them is told which. */
  readonly scopes?: readonly string[]
  /** The roles of which a caller must have one. Others do not see the entry: a client cannot ask for a role. */
  readonly roles?: readonly string[]
  /** Whether callers without the scopes do not see the entry, instead of being told what is missing. */
  readonly hide?: boolean
}

/** The members of an access rule, for validation. */
export const accessTable: OptionTableOf<AccessRule> = {
  scopes: 'strings',
  roles: 'strings',
  hide: 'boolean',
}

/** Whether a rule hides its entry from some callers. */
export function canHide({ roles, hide, scopes }: AccessRule): boolean {
  return roles !== undefined || (hide === true && scopes !== undefined)
}

/** Whether a rule hides its entry from a principal. */
export function isHiddenFrom(rule: AccessRule, principal: Principal | undefined): boolean {
  const { roles, hide, scopes = [] } = rule
  const held = principal?.roles ?? []
  if (roles !== undefined && !roles.some(role => held.includes(role))) return true
  return hide === true && !hasScopes(principal, scopes)
}

/**
 * Throws the error of a caller that lacks scopes. Over HTTP, a client gets a challenge with these scopes and
 * can ask the user for them.
 */
export function requireScopes(principal: Principal | undefined, scopes: readonly string[]): void {
  if (hasScopes(principal, scopes)) return
  throw errors.insufficientPermissions(
    { scopes },
    { message: `Insufficient scope: ${scopes.join(' ')}` },
  )
}

function hasScopes(principal: Principal | undefined, scopes: readonly string[]): boolean {
  const held = principal?.scopes ?? []
  return scopes.every(scope => held.includes(scope))
}
