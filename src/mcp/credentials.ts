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
  return new ChannelError('refused', what, { cause, summary: 'it requires authorization' })
}

/** Whether a status is about the credentials of a request, which was then not executed. */
export function isRefusalOfCredentials(status: number): boolean {
  return status === 401 || status === 403
}
