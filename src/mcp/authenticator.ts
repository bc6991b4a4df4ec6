import type { Principal } from '../jsonrpc/channel.ts'
import type { Clock } from '../util/time/clock.ts'
import type { ErrorKind } from './errors/table.ts'

/** The method of the first message on a socket whose callers are authenticated, of Trunkline's own. */
export const authenticateMethod = 'trunkline/authenticate'

/** Headers of a response, by lower-case name. */
export type AuthHeaders = Readonly<Record<string, string>>

/** A request as an authenticator sees it, before its body is read. */
export interface AuthRequest {
  /** The HTTP method. */
  readonly method: string
  /** The path, without the query. */
  readonly path: string
  /** Returns every value of a header, by its name in lower case. */
  values(name: string): readonly string[]
  /** The query of the request, without the question mark. */
  readonly query: string
  /** Returns the name under which the address of the client is counted; undefined if it is not limited. */
  address(includesLocal: boolean): string | undefined
  /** The certificate that the client has presented, if the connection verified it. */
  readonly certificate?: ClientCertificate | undefined
  /** Holds the authentication of the last request on the same connection. */
  readonly authCache?: AuthCache | undefined
}

/** The certificate of a client, as the transport verified it. */
export interface ClientCertificate {
  /** The SHA-256 digest of the certificate, in lower-case hexadecimal. */
  readonly sha256: string
  /** The subject alternative names, such as `URI:spiffe://…` and `DNS:host`. */
  readonly names: readonly string[]
  /** The subject, such as `CN=ada`. */
  readonly subject?: string
}

/** What an authenticator remembers of a connection: a client sends the same header with every request. */
export interface AuthCache {
  /** The header `Authorization` of the last request. */
  header?: string
  /** The outcome for that header. */
  authentication?: Authentication
  /** When it must be checked again, in milliseconds since 1970. */
  until?: number
  /** Identifies the authenticator, and changes when tokens must be verified anew: others ignore the outcome. */
  epoch?: object
}

/** The outcome of authenticating a request. */
export type Authentication = Admission | AuthRefusal

/** The request is admitted. */
export interface Admission {
  /** The caller; undefined for an anonymous caller, where those are admitted. */
  readonly principal: Principal | undefined
  /** Absent: only a refusal has a status. */
  readonly status?: undefined
  /** Headers for the response, such as the next nonce. */
  readonly headers?: AuthHeaders | undefined
}

/** The request is refused. */
export interface AuthRefusal {
  /** The status of the response. */
  readonly status: 400 | 401 | 403 | 429 | 503
  /** The challenge, and how long to wait. */
  readonly headers: AuthHeaders
  /** The kind of the error in the body; undefined where the fault is the server's. */
  readonly kind: ErrorKind | undefined
  /** Why the request is refused, without anything of the token. */
  readonly message: string
  /** How long to wait before the next attempt, in milliseconds. */
  readonly retryAfterMs?: number
}

/** Why a caller may not continue: its token has expired, or the token or its key was withdrawn. */
export type AccessEnd = 'expired' | 'withdrawn'

/** A document that everybody may read, such as the protected resource metadata. */
export interface PublicDocument {
  /** The headers of the response. */
  readonly headers: AuthHeaders
  /** The text of the document. */
  readonly body: string
}

/** Authenticates the callers of a listener, before anything of their messages is read. */
export interface Authenticator {
  /** Authenticates a request. Returns a promise only for a token that is not cached. Never rejects. */
  authenticate(request: AuthRequest): Authentication | Promise<Authentication>
  /**
   * Decides whether a caller may use a method at a path: an anonymous caller, and one whose token lacks scopes.
   * Returns undefined where it may.
   */
  authorize(
    method: string,
    principal: Principal | undefined,
    path?: string,
  ): AuthRefusal | undefined
  /** Returns the refusal of a caller that lacks scopes: 403, or 401 for an anonymous one. */
  insufficientScope(scopes: readonly string[], principal: Principal | undefined): AuthRefusal
  /** Returns the public document at a path; undefined for any other path. */
  document(path: string): PublicDocument | undefined
  /** The paths of the public documents, which a server in front must route to the handler. */
  readonly documents: readonly string[]
  /** Further headers that carry credentials, in lower case; code behind the authenticator does not get them. */
  readonly credentialHeaders?: readonly string[]
  /**
   * Calls `end` once when a stream or connection of a caller must end, because its token expires or is withdrawn; never
   * before it has returned. Returns a function that cancels this.
   */
  onAccessEnd(principal: Principal, end: (why: AccessEnd) => void, clock?: Clock): () => void
  /** Tells the authenticator the address that it guards, once that is known. Throws a TypeError if it needs more. */
  bind(address: string): void
  /**
   * Adds paths at which clients know the server by another URL than the one that is bound: for each path of requests, the
   * path of that URL. Tokens may be issued for it, and challenges name its metadata.
   */
  addPaths(paths: Readonly<Record<string, string>>): void
}
