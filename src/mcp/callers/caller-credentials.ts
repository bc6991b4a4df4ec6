import type { Principal } from '../../jsonrpc/channel.ts'
import { isRecord } from '../../util/objects.ts'
import type { Credentials } from '../credentials.ts'
import type { AuthorizationEvent } from './authorization-event.ts'

/**
 * Authorizes requests on behalf of callers, each with credentials of its own, so that a server behind a router sees
 * the caller and not the router. `trunkline/auth` has implementations, such as `exchange`.
 */
export interface CallerCredentials {
  /**
   * Returns the credentials for requests to a server on behalf of a principal: the same object for principals with the
   * same {@link credentialKey}, as long as it is remembered. Must be called for each request of a caller, because the
   * newest token of the caller is used. `onEvent` is called with what happens while they are obtained, and must not throw.
   */
  for(principal: Principal, server: URL, onEvent?: (event: AuthorizationEvent) => void): Credentials
}

/** The page on which a user allows a router to act for them at a server. */
export interface GrantPage {
  /** What is shown to the user, in one sentence. */
  readonly message: string
  /** The address of the page. Only the user it was made for can use it. */
  readonly url: string
  /** Identifies the request to visit the page. */
  readonly elicitationId: string
}

/** Thrown by credentials of a caller who has to visit a page first: nothing was sent to the server. */
export class GrantRequired extends Error {
  readonly page: GrantPage

  constructor(page: GrantPage) {
    super('the caller has not allowed the router to act for it at this server')
    this.name = 'GrantRequired'
    this.page = page
  }
}

/** Returns the page that a caller has to visit before a request can succeed; undefined for any other error. */
export function grantPageOf(error: unknown): GrantPage | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof GrantRequired) return one.page
  }
  return undefined
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
