import type { Socket } from 'node:net'
import type { Principal } from '../../jsonrpc/channel.ts'
import type { MetaCache } from '../../jsonrpc/codec/meta-cache.ts'
import type { AuthCache, ClientCertificate } from '../../mcp/authenticator.ts'
import { type OriginPolicy, type RequestOrigin, reachedAt } from '../../util/origin.ts'
import { clientAddress } from '../../util/sockets/client-address.ts'
import type { RequestBudget } from '../../util/sockets/request-budget.ts'
import { type BodyReader, type HttpRequest, withoutCredentials } from '../exchange.ts'
import { authCacheOf, clientCertificate } from './auth/connection-auth.ts'
import type { NodeHost } from './host.ts'
import type { RequestHead } from './request-head.ts'

/** An HTTP request whose head and body are complete. */
export class FastRequest implements HttpRequest {
  readonly path: string
  readonly query: string
  readonly metaCache: MetaCache
  readonly requestBudget: RequestBudget
  principal: Principal | undefined
  hiddenHeaders: readonly string[] | undefined
  readonly #head: RequestHead
  #body: Buffer | undefined
  readonly #socket: Socket
  readonly #host: NodeHost

  constructor(
    head: RequestHead,
    body: Buffer,
    socket: Socket,
    metaCache: MetaCache,
    host: NodeHost,
  ) {
    this.metaCache = metaCache
    this.requestBudget = host.held.requests
    this.#head = head
    this.#body = body
    this.#socket = socket
    this.#host = host
    const { target } = head
    const query = target.indexOf('?')
    this.path = query === -1 ? target : target.slice(0, query)
    this.query = query === -1 ? '' : target.slice(query + 1)
  }

  get method(): string {
    return this.#head.method
  }

  get headers(): Readonly<Record<string, string>> {
    const headers = Object.fromEntries(this.#head.headers)
    return this.hiddenHeaders === undefined
      ? headers
      : withoutCredentials(headers, this.hiddenHeaders)
  }

  header(name: string): string | undefined {
    return this.#head.headers.get(name)
  }

  values(name: string): readonly string[] {
    // The parser of the fast path accepts no header twice.
    const value = this.#head.headers.get(name)
    return value === undefined ? [] : [value]
  }

  get authCache(): AuthCache {
    return authCacheOf(this.#socket)
  }

  get certificate(): ClientCertificate | undefined {
    return clientCertificate(this.#socket)
  }

  origin(): RequestOrigin {
    const { headers, target } = this.#head
    const host = headers.get('host')
    const origin = headers.get('origin')
    return {
      hosts: host === undefined ? [] : [host],
      origins: origin === undefined ? [] : [origin],
      target,
      site: headers.get('sec-fetch-site'),
    }
  }

  local(): Pick<OriginPolicy, 'port' | 'loopback'> {
    return reachedAt(this.#socket)
  }

  address(includesLocal: boolean): string | undefined {
    const { isProxy } = this.#host
    const { remoteAddress } = this.#socket
    return clientAddress(remoteAddress, this.header('x-forwarded-for'), { isProxy, includesLocal })
  }

  body(maxBytes: number, done: BodyReader): void {
    const body = this.#body ?? Buffer.alloc(0)
    // The request lives as long as it is in flight, and its body is not needed any more.
    this.#body = undefined
    done(body.length > maxBytes ? undefined : body)
  }
}
