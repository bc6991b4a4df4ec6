import type { EventStream, HttpReply, HttpRequest, ReplyHeaders } from '../../src/http/exchange.ts'
import type { Principal } from '../../src/jsonrpc/channel.ts'
import { type IncomingEvent, SseReader } from '../../src/wire/sse.ts'

interface Asking {
  readonly method?: string
  readonly target?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly principal?: Principal
  readonly body?: string
}

/** Returns a simulated HTTP request. */
export function httpRequest(asking: Asking = {}): HttpRequest {
  const { method = 'POST', target = '/mcp', headers = {}, principal, body = '' } = asking
  return {
    method,
    path: target.split('?')[0] ?? '',
    query: target.split('?')[1] ?? '',
    headers,
    address: () => undefined,
    principal,
    header: name => headers[name],
    values: name => (headers[name] === undefined ? [] : [headers[name]]),
    origin: () => ({ hosts: ['localhost:1'], origins: [], target }),
    local: () => ({ port: 1, loopback: true }),
    body: (maxBytes, done) => {
      const bytes = new TextEncoder().encode(body)
      done(bytes.length > maxBytes ? undefined : bytes)
    },
  }
}

/** The response to a simulated client: records what was sent, and lets the client disconnect. */
export class FakeReply implements HttpReply {
  status: number | undefined
  headers: ReplyHeaders = {}
  body: string | undefined
  /** Everything that was written to the stream, unparsed. */
  text = ''
  readonly events: IncomingEvent[] = []
  retryMs: number | undefined
  isStream = false
  isFinished = false
  /** The return value of each write; a pending promise simulates a slow client. */
  room: Promise<void> | undefined
  /** The number of events after which the client disconnects. */
  leavesAfter = Number.POSITIVE_INFINITY
  #isEnded = false
  #gone: (() => void)[] = []
  #watchers: (() => void)[] = []
  readonly #reader = new SseReader(
    {
      event: event => void this.events.push(event),
      retry: ms => {
        this.retryMs = ms
      },
      oversize: () => {},
    },
    1_000_000,
  )

  send(status: number, headers: ReplyHeaders, body?: string): void {
    if (this.status !== undefined) throw new Error('answered twice')
    this.status = status
    this.headers = headers
    this.body = body
    this.isFinished = true
    this.#moved()
  }

  stream(headers: ReplyHeaders): EventStream {
    if (this.status !== undefined) throw new Error('answered twice')
    this.status = 200
    this.headers = headers
    this.isStream = true
    return {
      write: text => {
        if (this.isFinished) return
        this.text += text
        this.#reader.push(new TextEncoder().encode(text))
        this.#moved()
        if (this.events.length >= this.leavesAfter) this.leave()
        return this.room
      },
      end: () => {
        if (this.isFinished) return
        this.isFinished = true
        this.#isEnded = true
        this.#moved()
      },
    }
  }

  onDisconnect(listener: () => void): void {
    this.#gone.push(listener)
  }

  /** Disconnects the client. */
  leave(): void {
    if (this.isFinished) return
    this.isFinished = true
    for (const listener of this.#gone.splice(0)) listener()
    this.#moved()
  }

  /** Returns whether the server has ended the stream. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Returns the messages of the stream, without events that have no data. */
  get messages(): Wire[] {
    return this.events.filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data))
  }

  /** Returns the body of a response that is not a stream. */
  get json(): Wire {
    return JSON.parse(this.body ?? 'null')
  }

  /** Waits until the condition holds. */
  async until(isTrue: (reply: this) => boolean): Promise<this> {
    while (!isTrue(this)) {
      await new Promise<void>(resolve => this.#watchers.push(resolve))
    }
    return this
  }

  /** Waits until the response is complete, or its stream has ended. */
  answered(): Promise<this> {
    return this.until(
      ({ status, isStream, isEnded }) => status !== undefined && (!isStream || isEnded),
    )
  }

  #moved(): void {
    for (const watcher of this.#watchers.splice(0)) watcher()
  }
}

/** A message from the wire, parsed without validation. */
// biome-ignore lint/suspicious/noExplicitAny: tests inspect it member by member
export type Wire = any
