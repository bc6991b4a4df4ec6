import { isRecord } from '../../../util/objects.ts'
import { isLoopback } from '../../../util/origin.ts'
import type { CheckedObject } from '../checked-object.ts'
import type { ConfigIssue } from '../issue.ts'
import type { ObjectNode } from '../text.ts'

const verifiers = ['jwt', 'introspection', 'apiKeys'] as const

/** Rules of `auth`: at least one way to verify callers. */
export function authRules({ node, report }: CheckedObject): void {
  if (verifiers.some(name => node.members.has(name))) return
  report(undefined, `auth needs one of ${verifiers.join(', ')}`)
}

/** Returns a rule that requires members. */
export function requiring(...names: readonly string[]) {
  return ({ node, report }: CheckedObject): void => {
    const missing = names.filter(name => !node.members.has(name))
    if (missing.length > 0) report(undefined, `it needs ${missing.join(' and ')}`)
  }
}

/** Reports a secret that is written into the file instead of a reference to it. */
function refuseLiteral(name: string, { node, report }: CheckedObject): void {
  const member = node.members.get(name)?.value
  if (member?.type !== 'string' || /(?<!\$)\$\{[^}]+\}/.test(member.value)) return
  report(name, `${name} must be a reference such as "\${NAME}", so that the file has no secret`)
}

/** The ways of `auth` of a server that authorize requests on behalf of each caller. */
const callerWays = ['exchange', 'idJag', 'user'] as const
const routerWays = ['bearer', 'clientCredentials'] as const

/** Rules of `auth` of a server: one way, and no secret in the file. */
export function serverAuthRules(object: CheckedObject): void {
  oneOf('auth', [...routerWays, ...callerWays], object)
}

/** Rules of `lister` of a server. */
export function listerRules(object: CheckedObject): void {
  oneOf('lister', routerWays, object)
}

function oneOf(field: string, ways: readonly string[], object: CheckedObject): void {
  const { node, report } = object
  if (ways.filter(name => node.members.has(name)).length !== 1)
    report(undefined, `${field} must have one of ${ways.join(', ')}`)
  refuseLiteral('bearer', object)
}

/** Rules of `exchange` and `idp`: a place to exchange tokens, and no secret in the file. */
export function exchangeRules(object: CheckedObject): void {
  requiring('clientId', 'clientSecret')(object)
  const { node, report } = object
  if (!node.members.has('issuer') && !node.members.has('tokenEndpoint'))
    report(undefined, 'it needs issuer or tokenEndpoint')
  refuseLiteral('clientSecret', object)
  refuseLiteral('actor', object)
}

/** Rules of `idJag`. */
export function idJagRules(object: CheckedObject): void {
  requiring('idp', 'issuer', 'clientId', 'clientSecret')(object)
  refuseLiteral('clientSecret', object)
}

/** Rules of `user` of a server. */
export function userRules(object: CheckedObject): void {
  const { node, report } = object
  if (node.members.has('clientSecret') && !node.members.has('clientId'))
    report('clientSecret', 'clientSecret requires clientId')
  refuseLiteral('clientSecret', object)
}

/** Rules of `login`. */
export function loginRules(object: CheckedObject): void {
  requiring('clientId')(object)
  refuseLiteral('clientSecret', object)
}

/** Whether `auth` of a server in a file authorizes requests on behalf of each caller. */
export function isForEachCaller(auth: unknown): boolean {
  return isRecord(auth) && callerWays.some(name => Object.hasOwn(auth, name))
}

/**
 * Returns an error for the first server that acts for its callers, if these have no token that could be exchanged. The
 * whole file is invalid then: the server could never be called.
 */
export function callersWithoutTokens(
  { members }: ObjectNode,
  auth: unknown,
  servers: readonly { readonly name: string; readonly value: Readonly<Record<string, unknown>> }[],
  hasCallerTokens = false,
): readonly ConfigIssue[] {
  const isVerified = isRecord(auth) && (auth.jwt !== undefined || auth.introspection !== undefined)
  const hasTokens = isVerified || hasCallerTokens
  const needing = servers.find(({ value }) => isForEachCaller(value.auth) && !value.disabled)
  const granting = servers.find(({ value }) => isByUsers(value.auth) && !value.disabled)
  const message =
    needing !== undefined && !hasTokens
      ? `server "${needing.name}" acts for its callers, who need tokens of an authorization server: set jwt or introspection in "auth"`
      : granting && pagesProblem(granting.name, auth)
  if (message === undefined) return []
  const [first] = members.values()
  const at = members.get('auth')?.at ?? first?.at ?? { line: 1, column: 1 }
  return [{ severity: 'error', ...at, path: 'auth', message }]
}

/** Whether `auth` of a server in a file has users grant access on a page. */
export function isByUsers(auth: unknown): boolean {
  return isRecord(auth) && Object.hasOwn(auth, 'user')
}

/** Returns why pages could not know whose browser visits them; undefined if they can. */
function pagesProblem(server: string, auth: unknown): string | undefined {
  const { apiKeys, resource, login } = isRecord(auth) ? auth : {}
  const why = `users grant access to server "${server}" on pages of the router`
  if (apiKeys !== undefined)
    return `${why}, and a browser cannot log in as a caller with an API key: remove apiKeys from "auth"`
  const isOwn =
    typeof resource !== 'string' || isLoopback(new URL(resource).hostname.replace(/^\[|\]$/g, ''))
  if (login !== undefined || isOwn) return undefined
  return `${why}, which other machines reach: set login in "auth", so that the pages know whose browser visits them`
}

/** Rules of `clientCredentials`. */
export function clientCredentialsRules(object: CheckedObject): void {
  requiring('issuer', 'clientId', 'clientSecret')(object)
  refuseLiteral('clientSecret', object)
}

/** Rules of `introspection`. */
export function introspectionRules(object: CheckedObject): void {
  requiring('issuer', 'endpoint', 'clientId', 'clientSecret')(object)
  refuseLiteral('clientSecret', object)
}

/** Whether headers in a file authorize requests. */
export function hasAuthorization(headers: unknown): boolean {
  return Object.keys(headers ?? {}).some(name => /^authorization$/i.test(name))
}
