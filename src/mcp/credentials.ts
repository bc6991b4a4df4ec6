import { ChannelError } from '../jsonrpc/channel.ts'
import { isRecord } from '../util/objects.ts'
import { addressText } from '../util/text/address-text.ts'
import { errorMessage } from '../util/text/error-message.ts'

/** A request that a client is about to send, as far as its credentials depend on it. */
export interface AuthorizedRequest {
  /** The handshake of a WebSocket is a GET. */
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Where the request goes, with the scheme `http:` or `https:` also for a WebSocket. */
  readonly url: URL
  /** The address of the server, from which a request may differ in its path. */
  readonly server: URL
}

/** A response with status 401 or 403 to a request. */
export interface CredentialsRefusal extends AuthorizedRequest {
  /** 401 or 403. */
  readonly status: number
  /** The headers of the response, such as `www-authenticate`. */
  readonly headers: Headers
  /** What `Credentials.headers` returned for the request. */
  readonly sent: Readonly<Record<string, string>>
  /** What was requested: the MCP method and the name of the tool, or the HTTP method. */
  readonly operation: string
  /** The IP address of the server; undefined where the runtime does not report it. */
  readonly address?: string
  /** Identifies the request: the same object each time that this request is refused. */
  readonly request: object
}

/**
 * Authorizes the requests of a client: adds headers to each, and decides what to do when the server refuses
 * one. An implementation belongs to one server. `trunkline/auth` has implementations, such as `oauth`.
 */
export interface Credentials {
  /**
   * Identifies the user or program that is authenticated; empty while nobody is. A client forgets cached
   * results when it changes.
   */
  readonly identity: string
  /**
   * Returns the headers that authorize a request; none if nothing is known yet. Called before each request,
   * each WebSocket handshake and each stream, and returns a promise only if it has to wait.
   */
  headers(
    request: AuthorizedRequest,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  /**
   * Handles a refusal. Resolves to true to have the request sent again, with new headers, and to false to
   * let the refusal stand. Rejects with the reason why authorization failed. Must not return true forever.
   */
  refused(refusal: CredentialsRefusal, signal: AbortSignal): Promise<boolean>
  /** Called with the header `DPoP-Nonce` of a response, which later proofs have to contain (RFC 9449). */
  onNonce?(nonce: string, url: URL): void
}

/** How requests to a server are authorized, as a configuration file describes it. */
export type UpstreamAuth =
  /** With the tokens of `trunkline login`. */
  | 'stored'
  /** With a token. */
  | {
      /** The token. */
      readonly bearer: string
    }
  /** With tokens that this program gets for itself. */
  | {
      /** This program, as it is registered with the authorization server. */
      readonly clientCredentials: UpstreamClient
    }

/** How requests to a server are authorized on behalf of each caller, as a configuration file describes it. */
export type UpstreamCallerAuth =
  /** With tokens that the token of the caller is exchanged for (RFC 8693). */
  | {
      /** Where tokens are exchanged. */
      readonly exchange: UpstreamExchange
    }
  /** With tokens that the identity provider of the caller vouches for (ID-JAG). */
  | {
      /** The identity provider, and the program as the authorization server of the server knows it. */
      readonly idJag: UpstreamIdJag
    }
  /** With tokens that the user of each caller grants on a page of the router. */
  | {
      /** The router, as the authorization server of the server knows it. */
      readonly user: UpstreamUserGrant
    }

/** How the user of a caller grants a router access to a server. */
export interface UpstreamUserGrant {
  /** The client id of the router at the authorization server of the server; by default it registers itself. */
  readonly clientId?: string
  /** The client secret of the router there. */
  readonly clientSecret?: string
  /** The issuer of that authorization server, if the server names several. */
  readonly issuer?: string
  /** Scopes to ask for besides those that the server names. */
  readonly scopes?: readonly string[]
}

/** How a caller is identified to the authorization server of a server (enterprise-managed authorization). */
export interface UpstreamIdJag {
  /** The identity provider of the callers, which has issued their tokens. */
  readonly idp: UpstreamIdentityProvider
  /** The client id of the router at the authorization server of the server. */
  readonly clientId: string
  /** The client secret of the router there. */
  readonly clientSecret: string
  /** The issuer of that authorization server, the only one that gets the secret. */
  readonly issuer: string
  /** The scopes to ask for. */
  readonly scopes?: readonly string[]
  /** The claim of the caller's token that has its ID token; by default the identity provider is asked for one. */
  readonly idTokenFrom?: string
}

/** The identity provider of the callers of a router. */
export interface UpstreamIdentityProvider {
  /** Its issuer, whose metadata name the token endpoint. */
  readonly issuer?: string
  /** Its token endpoint, instead of `issuer`. */
  readonly tokenEndpoint?: string
  /** The client id of the router there. */
  readonly clientId: string
  /** The client secret of the router there. */
  readonly clientSecret: string
}

/** Where the token of a caller is exchanged for another one, and for which. */
export interface UpstreamExchange {
  /** The issuer of the authorization server, whose metadata name the token endpoint. */
  readonly issuer?: string
  /** The token endpoint of the authorization server, instead of `issuer`. */
  readonly tokenEndpoint?: string
  /** The client id of the router there. */
  readonly clientId: string
  /** The client secret of the router there. */
  readonly clientSecret: string
  /** The logical name of the server, if the authorization server wants one. */
  readonly audience?: string
  /** What to send as `resource`; the address of the server by default. */
  readonly resource?: string
  /** The scopes to ask for. */
  readonly scopes?: readonly string[]
  /** The token of the router, if tokens are to name it as the actor. */
  readonly actor?: string
}

/** A program that is registered with an authorization server. */
export interface UpstreamClient {
  /** The id of the program. */
  readonly clientId: string
  /** The secret of the program. */
  readonly clientSecret: string
  /** The issuer of the authorization server, the only one that gets the secret. */
  readonly issuer: string
  /** Scopes to ask for besides those that the server names. */
  readonly scopes?: readonly string[]
}

/** Whether a value is an object of credentials. */
export function isCredentials(auth: unknown): auth is Credentials {
  return isRecord(auth) && typeof auth.headers === 'function' && typeof auth.refused === 'function'
}

/** A handshake that was answered with a status instead of a connection. */
export interface RefusedHandshake {
  readonly status: number
  readonly headers: Headers
  readonly address?: string
}

/**
 * Opens a connection whose handshake carries credentials, and again for as long as the credentials find a way
 * after a refusal. `refusalOf` returns the refusal in an error of `open`; undefined for other errors. Rejects
 * with the error of `open`, or with a ChannelError `'refused'` whose cause is the error of the credentials.
 */
export async function openWithCredentials<T>(
  credentials: Credentials,
  server: URL,
  open: (headers: Readonly<Record<string, string>>) => Promise<T>,
  refusalOf: (error: unknown) => RefusedHandshake | undefined,
  signal: AbortSignal = new AbortController().signal,
): Promise<T> {
  const asked = { method: 'GET', url: server, server } as const
  const request = {}
  const orRefuse = async <R>(work: () => R | Promise<R>): Promise<R> => {
    try {
      return await work()
    } catch (cause) {
      signal.throwIfAborted()
      throw notAuthorized(asked, cause)
    }
  }
  for (;;) {
    const sent = await orRefuse(() => credentials.headers(asked))
    try {
      return await open(sent)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === undefined || !isRefusalOfCredentials(refusal.status)) throw error
      const nonce = refusal.headers.get('dpop-nonce')
      if (nonce !== null) credentials.onNonce?.(nonce, server)
      const full = { ...asked, ...refusal, sent, operation: 'GET', request }
      if (!(await orRefuse(() => credentials.refused(full, signal)))) throw error
    }
  }
}

/** Makes the ChannelError of a request that the credentials could not authorize. Nothing of it was executed. */
export function notAuthorized({ method, url }: AuthorizedRequest, cause: unknown): ChannelError {
  if (cause instanceof ChannelError) return cause
  const what = `${method} ${addressText(url)}: not authorized: ${errorMessage(cause)}`
  const error = new ChannelError('refused', what, { cause, summary: 'it requires authorization' })
  unauthorized.add(error)
  // Opening a connection wraps the cause anew.
  if (cause instanceof Error) unauthorized.add(cause)
  return error
}

/** Makes the ChannelError of a call that needs credentials of its caller, who is not authenticated. */
export function notIdentified(): ChannelError {
  const summary = 'the caller is not authenticated'
  const error = new ChannelError('refused', `not authorized: ${summary}`, { summary })
  unauthorized.add(error)
  return error
}

/** Whether a request failed because its credentials could not authorize it, whatever wraps the error. */
export function wasNotAuthorized(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (unauthorized.has(one)) return true
  }
  return false
}

const unauthorized = new WeakSet<Error>()

/** Whether a status is about the credentials of a request, which was then not executed. */
export function isRefusalOfCredentials(status: number): boolean {
  return status === 401 || status === 403
}
