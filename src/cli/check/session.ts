import { statelessHeaders } from '../../http/client/headers.ts'
import { AnnotatedTools } from '../../http/client/param-headers.ts'
import type { Id } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { isRecord } from '../../util/record.ts'
import { version } from '../../util/version.ts'
import { oneLine } from '../terminal.ts'
import type { Arrival, Delivered, Gone, Heard, Refused, Silence, Wire } from './wire.ts'

/** What a request was answered with. */
export type Reply =
  | { readonly type: 'result'; readonly result: unknown }
  | {
      readonly type: 'error'
      readonly code: unknown
      readonly text: string
      readonly data: unknown
    }
  /** A reply that is neither of both. */
  | { readonly type: 'odd'; readonly message: Heard }
  | Refused
  | Silence
  | Gone

/** How one request is made. */
export interface AskOptions {
  readonly id?: Id
  readonly timeoutMs?: number
  /** Said instead of the revision that was agreed on. */
  readonly version?: string
}

/** Who asks, as servers are told. */
export const clientInfo = { name: 'trunkline-check', version }

/**
 * Requests to a server in the words of one revision, one after the other, over a wire that may say
 * anything. It answers the server's pings and refuses its other requests.
 */
export class Talk {
  readonly wire: Wire
  readonly revision: Revision
  readonly #timeoutMs: number
  /** The revision that the server chose in `initialize`. */
  agreed: Revision | undefined
  #last = 0

  constructor(wire: Wire, revision: Revision, timeoutMs: number) {
    this.wire = wire
    this.revision = revision
    this.#timeoutMs = timeoutMs
    wire.inbox.onRequest = message => {
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

  /** Makes a request and waits for its reply. Replies that come too late are forgotten. */
  async ask(method: string, params: object = {}, options: AskOptions = {}): Promise<Reply> {
    const id = options.id ?? `check-${++this.#last}`
    const said = this.#enveloped(params, options.version)
    const text = JSON.stringify({ jsonrpc: '2.0', id, method, params: said })
    const isReply = ({ message }: Delivered): boolean => message.id === id && !('method' in message)
    return this.say(text, {
      ...options,
      headers: this.#headers(method, said),
      isReply: arrival => arrival.type === 'refused' || isReply(arrival),
    })
  }

  /** Sends any text, and waits for what `isReply` takes for its reply. */
  async say(
    text: string,
    options: {
      readonly isReply: (arrival: Arrival) => boolean
      readonly timeoutMs?: number
      readonly headers?: Readonly<Record<string, string>>
    },
  ): Promise<Reply> {
    const { inbox } = this.wire
    inbox.clear()
    void this.wire.send(text, options.headers ?? this.#headers('', undefined))
    const arrival = await inbox.take(options.isReply, options.timeoutMs ?? this.#timeoutMs)
    return arrival.type === 'message' ? replyOf(arrival.message) : arrival
  }

  /** Sends a notification. */
  async tell(method: string, params?: object): Promise<void> {
    const said = this.era === 'stateless' ? this.#enveloped(params ?? {}) : params
    const text = JSON.stringify({ jsonrpc: '2.0', method, params: said })
    await this.wire.send(text, this.#headers(method, said))
  }

  /** Whether the server still answers: the cheapest request there is. */
  alive(): Promise<Reply> {
    return this.era === 'session' ? this.ask('ping') : this.ask('server/discover')
  }

  #enveloped(params: object, said = this.revision.name): object {
    if (this.era === 'session') return params
    const _meta = {
      [metaKeys.protocolVersion]: said,
      [metaKeys.clientCapabilities]: {},
      [metaKeys.clientInfo]: clientInfo,
    }
    return { ...params, _meta }
  }

  /** The headers that HTTP wants; other wires have none. */
  #headers(method: string, params: object | undefined): Record<string, string> {
    if (this.era === 'session') {
      const name = this.agreed?.features.versionHeader ? this.agreed.name : undefined
      return name === undefined ? {} : { 'mcp-protocol-version': name }
    }
    const meta = isRecord(params) && isRecord(params._meta) ? params._meta : {}
    const said = String(meta[metaKeys.protocolVersion] ?? this.revision.name)
    if (method === '') return { 'mcp-protocol-version': said }
    // The check: what this class makes of params is an object.
    const message = { type: 'request', id: 0, method, params: params as Heard } as const
    return statelessHeaders(message, said, noTools)
  }
}

/** Arguments that travel as headers are for those who call tools. */
const noTools = new AnnotatedTools()

function replyOf(message: Heard): Reply {
  const { error } = message
  if ('result' in message && !('error' in message))
    return { type: 'result', result: message.result }
  if (!isRecord(error) || 'result' in message) return { type: 'odd', message }
  const { code, message: text, data } = error
  return { type: 'error', code, text: oneLine(String(text), 200), data }
}

/** A reply in few words. */
export function replyText(reply: Reply): string {
  switch (reply.type) {
    case 'result':
      return `a result: ${oneLine(JSON.stringify(reply.result) ?? 'undefined', 120)}`
    case 'error':
      return `the error ${String(reply.code)} "${reply.text}"`
    case 'odd':
      return `what is no reply of JSON-RPC: ${oneLine(JSON.stringify(reply.message), 120)}`
    case 'refused': {
      const type = reply.mediaType === '' ? 'no media type' : reply.mediaType
      const body = reply.text === '' ? '' : `: ${oneLine(reply.text, 120)}`
      return `HTTP ${reply.status}, ${type}${body}`
    }
    case 'silence':
      return `silence for ${reply.ms} ms`
    case 'gone':
      return `the end: ${oneLine(reply.why, 300)}`
  }
}
