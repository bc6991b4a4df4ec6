import type { Principal } from '../../jsonrpc/channel.ts'

/** Returns a principal with the scopes that its own include, at any depth. */
export function withImpliedScopes(
  principal: Principal,
  implies: Readonly<Record<string, readonly string[]>>,
): Principal {
  const included = new Map(Object.entries(implies))
  const scopes = new Set(principal.scopes)
  for (const scope of scopes) {
    for (const more of included.get(scope) ?? []) scopes.add(more)
  }
  return Object.freeze({ ...principal, scopes: Object.freeze([...scopes]) })
}
