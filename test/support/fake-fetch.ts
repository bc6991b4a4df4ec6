import { httpChannel } from '../../src/http/client/channel.ts'
import type { HttpClientOptions } from '../../src/http/client/options.ts'
import type { Channel, ChannelError, Envelope } from '../../src/jsonrpc/channel.ts'
import type { Decoded, Id } from '../../src/jsonrpc/message.ts'

/** One request as a scripted server receives it. */
export interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect it member by member
  readonly body: any
  readonly signal: AbortSignal
}

export type Script = (received: ReceivedRequest, count: number) => Response | Promise<Response>

/** Returns a `fetch` that calls a script, and rejects like fetch when it is aborted. */
export function fakeFetch(script: Script) {
  const received: ReceivedRequest[] = []
  const fetch = (url: URL, init: RequestInit): Promise<Response> => {
    const { signal } = init
    if (!(signal instanceof AbortSignal)) throw new Error('no signal')
    const { method = 'GET', body } = init
    const text = typeof body === 'string' ? JSON.parse(body) : undefined
    const one = { method, url: url.href, headers: new Headers(init.headers), body: text, signal }
    received.push(one)
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      signal.addEventListener('abort', () => reject(signal.reason))
      const count = received.length
      new Promise<Response>(answer => answer(script(one, count))).then(resolve, reject)
    })
  }
  return { fetch, received }
}

/** Returns a response with JSON. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  const body = JSON.stringify(value)
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } })
}

/** Returns the result response to a request, as JSON. */
export function reply({ body }: ReceivedRequest, result: unknown = {}, headers = {}): Response {
  return json({ jsonrpc: '2.0', id: body.id, result }, 200, headers)
}

/** Returns the error response to a request. */
export function refuse(
  { body }: ReceivedRequest,
  status: number,
  code: number,
  data?: unknown,
): Response {
  return json({ jsonrpc: '2.0', id: body.id, error: { code, message: 'no', data } }, status)
}

/** Returns a response without a body. */
export function bare(status: number, headers: Record<string, string> = {}): Response {
  return new Response(null, { status, headers })
}

/** An event stream that a test writes to. */
export class Events {
  readonly response: Response
  isLeft = false
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor(signal?: AbortSignal, headers: Record<string, string> = {}) {
    const body = new ReadableStream<Uint8Array>({
      start: controller => {
        this.#controller = controller
      },
      cancel: () => {
        this.isLeft = true
      },
    })
    signal?.addEventListener('abort', () => {
      this.isLeft = true
      this.break(signal.reason)
    })
    this.response = new Response(body, {
      headers: { 'content-type': 'text/event-stream; charset=utf-8', ...headers },
    })
  }

  /** Writes one message as an event. */
  message(message: object, id?: string): this {
    const head = id === undefined ? '' : `id: ${id}\n`
    return this.write(`${head}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
  }

  write(text: string | Uint8Array): this {
    this.#controller?.enqueue(typeof text === 'string' ? new TextEncoder().encode(text) : text)
    return this
  }

  end(): Response {
    this.#controller?.close()
    return this.response
  }

  break(reason: unknown = new TypeError('terminated')): Response {
    try {
      this.#controller?.error(reason)
    } catch {
      // The stream has already ended.
    }
    return this.response
  }
}

/** A channel over HTTP that a test drives. */
export class DrivenChannel {
  readonly channel: Channel
  readonly arrivals: { readonly arrival: Decoded; readonly envelope: Envelope }[] = []
  readonly failures: { readonly id: Id; readonly error: ChannelError }[] = []
  readonly errors: unknown[] = []
  readonly received: ReceivedRequest[]
  closed: { readonly cause: Error | undefined } | undefined
  readonly #watchers: (() => void)[] = []

  constructor(
    script: Script,
    options: HttpClientOptions = {},
    make: (url: URL, options: HttpClientOptions) => Channel = httpChannel,
  ) {
    const moved: Script = (received, count) => {
      this.#moved()
      return script(received, count)
    }
    const { fetch, received } = fakeFetch(moved)
    this.received = received
    const onError = (error: unknown) => {
      this.errors.push(error)
      this.#moved()
    }
    this.channel = make(new URL('http://localhost:1/mcp'), { fetch, onError, ...options })
    this.channel.open({
      receive: (arrival, envelope) => {
        this.arrivals.push({ arrival, envelope })
        this.#moved()
      },
      failed: (id, error) => {
        this.failures.push({ id, error })
        this.#moved()
      },
      closed: cause => {
        this.closed = { cause }
        this.#moved()
      },
    })
  }

  request(id: Id, method: string, params?: Record<string, unknown>): void {
    void this.channel.send({ type: 'request', id, method, params })
  }

  notify(method: string, params?: Record<string, unknown>): void {
    void this.channel.send({ type: 'notification', method, params })
  }

  /** Waits until the condition holds, however many turns that takes. */
  async until(isSo: (driven: this) => boolean): Promise<void> {
    while (!isSo(this)) await new Promise<void>(resolve => this.#watchers.push(resolve))
  }

  /** Waits for the outcome of the next request: its response, or its failure. */
  async ended(count = 1): Promise<void> {
    await this.until(({ arrivals, failures }) => arrivals.length + failures.length >= count)
  }

  /** Opens a session of a revision, as a client does. */
  async openSession(revision: string): Promise<void> {
    this.request(0, 'initialize', { protocolVersion: revision })
    await this.ended()
    this.notify('notifications/initialized')
  }

  #moved(): void {
    for (const watcher of this.#watchers.splice(0)) watcher()
  }
}

/** Answers `initialize`, accepts notifications, and delegates everything else to the script. */
export function inSession(revision: string, script: Script, id = 'abc'): Script {
  return (received, count) => {
    if (received.body?.method === 'initialize') {
      return reply(received, { protocolVersion: revision }, { 'mcp-session-id': id })
    }
    return received.method === 'POST' && received.body.id === undefined && received.body.method
      ? bare(202)
      : script(received, count)
  }
}

/** The request metadata of a stateless request. */
export const stateless = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}

/** Waits for one turn of the event loop. */
export function settle(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
