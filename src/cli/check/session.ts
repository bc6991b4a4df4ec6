import { statelessHeaders } from '../../http/client/headers.ts'
import { AnnotatedTools } from '../../http/client/param-headers.ts'
import type { Id } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { isRecord } from '../../util/objects.ts'
import { version } from '../../util/version.ts'
import { oneLine } from '../terminal.ts'
import type {
  BareHttpResponse,
  Closed,
  MessageObject,
  ReceivedMessage,
  TimedOut,
  Wire,
  WireEvent,
} from './wire/wire.ts'

/** The reply to a request. */
export type CheckReply =
  | { readonly type: 'result'; readonly result: unknown }
  | {
      readonly type: 'error'
      readonly code: unknown
      readonly text: string
      readonly data: unknown
    }
  /** A response with both or neither of `result` and `error`. */
  | { readonly type: 'invalid'; readonly message: MessageObject }
  | BareHttpResponse
  | TimedOut
  | Closed

/** Options of one request. */
export interface CheckRequestOptions {
  readonly id?: Id
  readonly timeoutMs?: number
  /** Replaces the protocol version in the request metadata. */
  readonly version?: string
}

/** The `clientInfo` that servers see. */
export const clientInfo = { name: 'trunkline-check', version }

/**
 * Sends requests of one protocol revision over a wire, one at a time. It answers `ping` requests of the server
 * and rejects all others.
 */
export class CheckSession {
  readonly wire: Wire
  readonly revision: Revision
  readonly #timeoutMs: number
  /** Time to wait for the first reply, which comes when the server has started. */
  #firstMs: number
  /** The revision that the server chose in `initialize`. */
  agreed: Revision | undefined
  #last = 0

  constructor(wire: Wire, revision: Revision, timeoutMs: number, firstMs = timeoutMs) {
    this.wire = wire
    this.revision = revision
    this.#timeoutMs = timeoutMs
    this.#firstMs = firstMs
    wire.incoming.onRequest = message => {
      const { id, method } = message
      const answer =
        method === 'ping'
          ? { result: {} }
          : { error: { code: -32601, message: 'Method not found' } }
      void wire.send(
        JSON.stringify({ jsonrpc: '2.0', id, ...answer }),
        this.#headers('', undefined),
      )
    }
  }

  get era(): Revision['era'] {
    return this.revision.era
  }

  /** Sends a request and waits for its response. A late response is discarded. */
  async request(
    method: string,
    params: object = {},
    options: CheckRequestOptions = {},
  ): Promise<CheckReply> {
    const id = options.id ?? `check-${++this.#last}`
    const sent = this.#withMeta(params, options.version)
    const text = JSON.stringify({ jsonrpc: '2.0', id, method, params: sent })
    const isReply = ({ message }: ReceivedMessage): boolean =>
      message.id === id && !('method' in message)
    return this.sendRaw(text, {
      ...options,
      headers: this.#headers(method, sent),
      isReply: arrival => arrival.type === 'http' || isReply(arrival),
    })
  }

  /** Sends arbitrary text, and waits for the first arrival that `isReply` accepts. */
  async sendRaw(
    text: string,
    options: {
      readonly isReply: (arrival: WireEvent) => boolean
      readonly timeoutMs?: number
      readonly headers?: Readonly<Record<string, string>>
    },
  ): Promise<CheckReply> {
    const { incoming } = this.wire
    incoming.clear()
    void this.wire.send(text, options.headers ?? this.#headers('', undefined))
    const timeoutMs = options.timeoutMs ?? this.#firstMs
    this.#firstMs = this.#timeoutMs
    const arrival = await incoming.take(options.isReply, timeoutMs)
    return arrival.type === 'message' ? replyOf(arrival.message) : arrival
  }

  /** Returns a reply that has arrived since the last request was sent, and that was not for that request. */
  async late(isReply: (arrival: WireEvent) => boolean): Promise<CheckReply | undefined> {
    const arrival = await this.wire.incoming.take(isReply, 0)
    if (arrival.type === 'timeout' || arrival.type === 'closed') return undefined
    return arrival.type === 'message' ? replyOf(arrival.message) : arrival
  }

  /** Sends a notification. */
  async notify(method: string, params?: object): Promise<void> {
    const sent = this.era === 'stateless' ? this.#withMeta(params ?? {}) : params
    const text = JSON.stringify({ jsonrpc: '2.0', method, params: sent })
    await this.wire.send(text, this.#headers(method, sent))
  }

  /** Sends the cheapest request, to find out whether the server still responds. */
  checkAlive(): Promise<CheckReply> {
    return this.era === 'session' ? this.request('ping') : this.request('server/discover')
  }

  /** Adds the request metadata of the stateless era. */
  #withMeta(params: object, protocolVersion = this.revision.name): object {
    if (this.era === 'session') return params
    const _meta = {
      [metaKeys.protocolVersion]: protocolVersion,
      [metaKeys.clientCapabilities]: {},
      [metaKeys.clientInfo]: clientInfo,
    }
    return { ...params, _meta }
  }

  /** The protocol headers of a request; wires other than HTTP ignore them. */
  #headers(method: string, params: object | undefined): Record<string, string> {
    if (this.era === 'session') {
      const name = this.agreed?.features.versionHeader ? this.agreed.name : undefined
      return name === undefined ? {} : { 'mcp-protocol-version': name }
    }
    const meta = isRecord(params) && isRecord(params._meta) ? params._meta : {}
    const protocolVersion = String(meta[metaKeys.protocolVersion] ?? this.revision.name)
    if (method === '') return { 'mcp-protocol-version': protocolVersion }
    // The check: #withMeta returned params, which is an object.
    const message = { type: 'request', id: 0, method, params: params as MessageObject } as const
    return statelessHeaders(message, protocolVersion, noTools)
  }
}

/** No parameter headers: they belong to tool calls, which a check does not make here. */
const noTools = new AnnotatedTools()

function replyOf(message: MessageObject): CheckReply {
  const { error } = message
  if ('result' in message && !('error' in message))
    return { type: 'result', result: message.result }
  if (!isRecord(error) || 'result' in message) return { type: 'invalid', message }
  const { code, message: text, data } = error
  return { type: 'error', code, text: oneLine(String(text), 200), data }
}

/** Describes a reply, to follow the word "got". */
export function replyText(reply: CheckReply): string {
  switch (reply.type) {
    case 'result':
      return `a result: ${oneLine(JSON.stringify(reply.result) ?? 'undefined', 120)}`
    case 'error':
      return `error ${String(reply.code)} "${reply.text}"`
    case 'invalid':
      return `an invalid JSON-RPC response: ${oneLine(JSON.stringify(reply.message), 120)}`
    case 'http': {
      const type = reply.mediaType === '' ? 'no media type' : reply.mediaType
      const body = reply.text === '' ? '' : `: ${oneLine(reply.text, 120)}`
      return `HTTP ${reply.status}, ${type}${body}`
    }
    case 'timeout':
      return `no response within ${reply.ms} ms`
    case 'closed':
      return `disconnected: ${oneLine(reply.reason, 300)}`
  }
}
