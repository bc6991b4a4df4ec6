import type { Principal } from '../jsonrpc/channel.ts'
import { isRecord } from '../util/objects.ts'
import type { Credentials } from './credentials.ts'

/**
 * Authorizes requests on behalf of callers, each with credentials of its own, so that a server behind a router sees
 * the caller and not the router. `trunkline/auth` has implementations, such as `exchange`.
 */
export interface CallerCredentials {
  /**
   * Returns the credentials for requests to a server on behalf of a principal: the same object for principals with the
   * same {@link credentialKey}, as long as it is remembered. Must be called for each request of a caller, because the
   * newest token of the caller is used.
   */
  for(principal: Principal, server: URL): Credentials
}

/** Whether a value is an object that has credentials for each caller. */
export function isCallerCredentials(auth: unknown): auth is CallerCredentials {
  return isRecord(auth) && typeof auth.for === 'function'
}

/**
 * Returns a text that is equal for principals that may share tokens, connections and lists: the same user with the same
 * client, scopes and roles. A token with fewer scopes must never profit from what was obtained with another one.
 */
export function credentialKey(principal: Principal): string {
  let key = keys.get(principal)
  if (key === undefined) {
    const { id, client = '', scopes = [], roles = [] } = principal
    key = JSON.stringify([id, client, scopes.toSorted(), roles.toSorted()])
    keys.set(principal, key)
  }
  return key
}

const keys = new WeakMap<Principal, string>()
