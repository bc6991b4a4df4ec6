import type { Principal } from '../jsonrpc/channel.ts'

/**
 * The tokens of authenticated callers. This is the only place that connects a principal with its token: a principal,
 * which handlers and middleware get, never contains one. Only credentials that exchange a token for another read it.
 */
const tokens = new WeakMap<Principal, string>()

/** Remembers the token that a principal has presented, for as long as the principal is in use. */
export function rememberCallerToken(principal: Principal, token: string): void {
  tokens.set(principal, token)
}

/** Returns the token that a principal has presented; undefined if it was authenticated in another way. */
export function callerTokenOf(principal: Principal): string | undefined {
  return tokens.get(principal)
}
