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

/** A request over HTTP that nobody sent. */
export function httpRequest(asking: Asking = {}): HttpRequest {
  const { method = 'POST', target = '/mcp', headers = {}, principal, body = '' } = asking
  return {
    method,
    path: target.split('?')[0] ?? '',
    headers,
    principal,
    header: name => headers[name],
    origin: () => ({ hosts: ['localhost:1'], origins: [], target }),
    local: () => ({ port: 1, loopback: true }),
    body: (maxBytes, done) => {
      const bytes = new TextEncoder().encode(body)
      done(bytes.length > maxBytes ? undefined : bytes)
    },
  }
}

/** The way back to a client that is played by a test: what it was sent, and how it goes away. */
export class FakeReply implements HttpReply {
  status: number | undefined
  headers: ReplyHeaders = {}
  body: string | undefined
  /** Everything that was written to the stream, as it was written. */
  text = ''
  readonly events: IncomingEvent[] = []
  retryMs: number | undefined
  isStream = false
  isFinished = false
  /** What each write returns, as a client that reads slowly makes it do. */
  room: Promise<void> | undefined
  /** The client goes away once it has got so many events. */
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

  /** The client goes away. */
  leave(): void {
    if (this.isFinished) return
    this.isFinished = true
    for (const listener of this.#gone.splice(0)) listener()
    this.#moved()
  }

  /** Whether the server has ended the stream. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** The messages of the stream, those without data left out. */
  get messages(): Wire[] {
    return this.events.filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data))
  }

  /** The body of an answer that is no stream. */
  get json(): Wire {
    return JSON.parse(this.body ?? 'null')
  }

  /** Waits until something is true of it. */
  async until(isTrue: (reply: this) => boolean): Promise<this> {
    while (!isTrue(this)) {
      await new Promise<void>(resolve => this.#watchers.push(resolve))
    }
    return this
  }

  /** Waits until it has been answered, or its stream has ended. */
  answered(): Promise<this> {
    return this.until(
      ({ status, isStream, isEnded }) => status !== undefined && (!isStream || isEnded),
    )
  }

  #moved(): void {
    for (const watcher of this.#watchers.splice(0)) watcher()
  }
}

/** A message as it stands on the wire, read without looking. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into it member by member
export type Wire = any
