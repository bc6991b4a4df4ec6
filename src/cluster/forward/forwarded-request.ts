import { callerTokenOf, rememberCallerToken } from '../../auth/caller-tokens.ts'
import { type BodyReader, type HttpRequest, withoutCredentials } from '../../http/exchange.ts'
import type { Principal } from '../../jsonrpc/channel.ts'
import type { OriginPolicy, RequestOrigin } from '../../util/origin.ts'

/** What a node sends of a request to the node that owns its session; the body follows it. */
interface ForwardedHead {
  readonly session: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly principal?: Principal | undefined
  /** The token of the caller, for servers behind a router that are called on behalf of it. */
  readonly token?: string | undefined
  /** The address of the client as it is counted: without, and with addresses of private networks. */
  readonly addresses: readonly [string | null, string | null]
}

/** Returns the text that stands for a request on a link. `lastEventId` makes it a GET that resumes a stream. */
export function forwardedHead(session: string, request: HttpRequest, lastEventId?: string): string {
  const { method, path, query, principal } = request
  const head: ForwardedHead = {
    session,
    method: lastEventId === undefined ? method : 'GET',
    path,
    query,
    headers:
      lastEventId === undefined
        ? request.headers
        : { ...request.headers, accept: 'text/event-stream', 'last-event-id': lastEventId },
    principal,
    token: principal && callerTokenOf(principal),
    addresses: [request.address(false) ?? null, request.address(true) ?? null],
  }
  return JSON.stringify(head)
}

/**
 * A request that another node has accepted and authenticated. Only members of the cluster can open a link, so what
 * the head says about the caller is trusted.
 */
export class ForwardedRequest implements HttpRequest {
  readonly session: string
  readonly method: string
  readonly path: string
  readonly query: string
  principal: Principal | undefined
  hiddenHeaders: readonly string[] | undefined
  readonly #head: ForwardedHead
  readonly #body: Uint8Array

  constructor(head: string, body: Uint8Array) {
    // The check: only `forwardedHead` of a node of the same cluster and link version writes heads.
    this.#head = JSON.parse(head) as ForwardedHead
    this.#body = body
    const { session, method, path, query, principal, token } = this.#head
    this.session = session
    this.method = method
    this.path = path
    this.query = query
    this.principal = principal
    if (principal !== undefined && token !== undefined) rememberCallerToken(principal, token)
  }

  get headers(): Readonly<Record<string, string>> {
    return this.hiddenHeaders === undefined
      ? this.#head.headers
      : withoutCredentials(this.#head.headers, this.hiddenHeaders)
  }

  header(name: string): string | undefined {
    return this.#head.headers[name]
  }

  values(name: string): readonly string[] {
    const value = this.header(name)
    return value === undefined ? [] : [value]
  }

  origin(): RequestOrigin {
    const query = this.query === '' ? '' : `?${this.query}`
    return { hosts: this.values('host'), origins: this.values('origin'), target: this.path + query }
  }

  local(): Pick<OriginPolicy, 'port' | 'loopback'> {
    // The node that accepted the request has checked its origin.
    return { port: 0, loopback: false }
  }

  address(includesLocal: boolean): string | undefined {
    return this.#head.addresses[includesLocal ? 1 : 0] ?? undefined
  }

  body(maxBytes: number, done: BodyReader): void {
    done(this.#body.length > maxBytes ? undefined : this.#body)
  }
}
