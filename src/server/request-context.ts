import type { Principal } from '../jsonrpc/channel.ts'
import type { Caller } from '../mcp/caller.ts'
import type { IncomingRequest } from './request.ts'
import type { Session } from './session.ts'

/** What is known of a request before any handler runs. */
export interface RequestDetails {
  /** The method of the request, such as `tools/call`. */
  readonly method: string
  /** The caller of the request: revision, capabilities, client, principal. */
  readonly caller: Caller
  /** The authenticated identity of the caller; undefined if there is no authentication. */
  readonly principal: Principal | undefined
  /** The HTTP headers of the request, by lower-case name; empty on transports without headers. */
  readonly headers: Readonly<Record<string, string>>
  /** The session of the request; undefined for a stateless request. */
  readonly session: Session | undefined
  /** Aborted when the caller cancels or the connection closes. */
  readonly signal: AbortSignal
}

/** A request as middlewares and completers see it. `Env` is the type of what the option `context` returns. */
export interface RequestContext<Env = unknown> extends RequestDetails {
  /** What the option `context` of the server has returned for this request. */
  readonly env: Env
}

/** Presents an incoming request as a context. Creates the signal, which is expensive, only if it is used. */
export class RequestView<Env> implements RequestContext<Env> {
  readonly #request: IncomingRequest

  constructor(request: IncomingRequest) {
    this.#request = request
  }

  get method(): string {
    return this.#request.method
  }

  get caller(): Caller {
    return this.#request.caller
  }

  get principal(): Principal | undefined {
    return this.#request.caller.principal
  }

  get headers(): Readonly<Record<string, string>> {
    return headersOf(this.#request)
  }

  get session(): Session | undefined {
    return sessionOf(this.#request)
  }

  get signal(): AbortSignal {
    return this.#request.exchange.signal
  }

  get env(): Env {
    // The check: the option `context` of the server is typed to return an Env.
    return this.#request.env as Env
  }
}

/** Returns the headers of a request, or those that its connection was opened with. */
export function headersOf({
  exchange,
  session,
}: IncomingRequest): Readonly<Record<string, string>> {
  return exchange.envelope.headers ?? session?.envelope.headers ?? none
}

/** Returns the session of a request; undefined for a stateless request, even on a connection with one. */
export function sessionOf({ caller, session }: IncomingRequest): Session | undefined {
  return caller.revision.features.sessions ? session : undefined
}

const none: Readonly<Record<string, string>> = Object.freeze({})
