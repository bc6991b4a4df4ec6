import type { Principal } from '../jsonrpc/channel.ts'
import { limits } from '../util/limits/limits.ts'
import type { Asked, Gate } from '../util/origin.ts'
import { systemDeadlines, timed } from '../util/time/deadline.ts'
import {
  type EventStream,
  eventStream,
  type HttpHandler,
  type HttpReply,
  type HttpRequest,
  type OutboundOptions,
  type ReplyHeaders,
} from './exchange.ts'
import { departures, type Outgoing } from './node/write-batch.ts'
import { joined } from './server/body.ts'

/** Hands a request of the fetch standard to a service, and gives its answer. */
export function serveFetch(
  service: HttpHandler,
  request: Request,
  principal?: Principal,
  options: OutboundOptions = {},
): Promise<Response> {
  return new Promise(resolve => {
    const reply = new FetchReply(request, resolve, options)
    service.handle(new FetchRequest(request, principal), reply)
  })
}

class FetchRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly principal: Principal | undefined
  readonly #request: Request
  readonly #url: URL

  constructor(request: Request, principal: Principal | undefined) {
    this.#request = request
    this.#url = new URL(request.url)
    this.method = request.method
    this.path = this.#url.pathname
    this.principal = principal
  }

  get headers(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#request.headers)
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined
  }

  asked(): Asked {
    const { pathname, search, host } = this.#url
    const origin = this.header('origin')
    return {
      // Servers of this kind keep the header to themselves, or say the same in both places.
      hosts: [this.header('host') ?? host],
      origins: origin === undefined ? [] : [origin],
      target: pathname + search,
      site: this.header('sec-fetch-site'),
    }
  }

  local(): Pick<Gate, 'port' | 'loopback'> {
    const { port, protocol } = this.#url
    const usual = protocol === 'https:' ? 443 : 80
    // Where it is bound is not to be known here. Taken for this machine alone, it answers under other
    // names only where they were listed: a page that found a name for this machine gets nowhere.
    return { port: Number(port) || usual, loopback: true }
  }

  body(maxBytes: number, done: (bytes: Uint8Array | undefined) => void): void {
    const length = Number(this.header('content-length') ?? Number.NaN)
    if (length > maxBytes) {
      done(undefined)
      return
    }
    // Of a body that is known to be small there is no need to make a stream, which costs more than
    // everything else that is done for a request.
    const bytes = length >= 0 ? readWhole(this.#request) : readAll(this.#request, maxBytes)
    void bytes.then(
      read => done(read !== undefined && read.length > maxBytes ? undefined : read),
      () => {},
    )
  }
}

async function readWhole(request: Request): Promise<Uint8Array> {
  return new Uint8Array(await request.arrayBuffer())
}

async function readAll(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return joined(chunks, size)
}

class FetchReply implements HttpReply, Outgoing {
  readonly #request: Request
  readonly #resolve: (response: Response) => void
  readonly #options: OutboundOptions
  #gone: (() => void)[] | undefined
  #signal: AbortSignal | undefined
  #response: Response | undefined
  #isOver = false

  constructor(request: Request, resolve: (response: Response) => void, options: OutboundOptions) {
    this.#request = request
    this.#resolve = resolve
    this.#options = options
  }

  get isOver(): boolean {
    return this.#isOver
  }

  send(status: number, headers: ReplyHeaders, body?: string): void {
    if (this.#isOver) return
    this.#response = new Response(body ?? null, { status, headers })
    this.#finish()
    departures.add(this)
  }

  stream(headers: ReplyHeaders): EventStream {
    const events = new FetchStream(
      this.#options,
      () => this.#finish(),
      () => this.#leave(),
    )
    const all = { ...headers, ...eventStream }
    this.#resolve(new Response(events.readable, { status: 200, headers: all }))
    return events
  }

  onGone(listener: () => void): void {
    if (this.#gone === undefined) {
      this.#gone = [listener]
      queueMicrotask(this.#watch)
    } else {
      this.#gone.push(listener)
    }
  }

  leave(): void {
    if (this.#response !== undefined) this.#resolve(this.#response)
  }

  /** Looks out for a client that goes, but not for the time in which most are answered already. */
  readonly #watch = (): void => {
    if (this.#isOver) return
    // Asking for it is what costs, with servers that make it then.
    const { signal } = this.#request
    this.#signal = signal
    if (signal.aborted) this.#leave()
    else signal.addEventListener('abort', this.#leave, { once: true })
  }

  #finish(): void {
    this.#isOver = true
    this.#signal?.removeEventListener('abort', this.#leave)
  }

  readonly #leave = (): void => {
    if (this.#isOver) return
    this.#finish()
    for (const listener of this.#gone ?? []) listener()
  }
}

class FetchStream implements EventStream {
  readonly readable: ReadableStream<Uint8Array>
  readonly #encoder = new TextEncoder()
  readonly #onEnd: () => void
  readonly #onGone: () => void
  readonly #high: number
  readonly #most: number
  readonly #stallMs: number
  readonly #stalled = timed(() => this.#cut())
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #onRoom: (() => void) | undefined
  #room: Promise<void> | undefined
  #isOver = false

  constructor(options: OutboundOptions, onEnd: () => void, onGone: () => void) {
    this.#high = options.highWaterBytes ?? limits.outboundHighWaterBytes.default
    this.#most = options.maxOutboundBytes ?? limits.outboundBytes.default
    this.#stallMs = options.stallMs ?? limits.stallMs.default
    this.#onEnd = onEnd
    this.#onGone = onGone
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: controller => {
          this.#controller = controller
        },
        pull: () => this.#relieve(),
        cancel: () => this.#end(this.#onGone),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: this.#high }),
    )
  }

  write(text: string): void | Promise<void> {
    const controller = this.#controller
    if (this.#isOver || controller === undefined) return
    controller.enqueue(this.#encoder.encode(text))
    const room = controller.desiredSize ?? 0
    if (this.#high - room > this.#most) this.#cut()
    else if (room <= 0) return this.#wait()
  }

  end(): void {
    if (this.#isOver) return
    this.#controller?.close()
    this.#end(this.#onEnd)
  }

  /** Drops what waits: it would stay for as long as the client does not read. */
  #cut(): void {
    if (this.#isOver) return
    this.#controller?.error(new Error('the client reads too slowly'))
    this.#end(this.#onGone)
  }

  #end(tell: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#relieve()
    tell()
  }

  #wait(): Promise<void> {
    this.#room ??= new Promise(resolve => {
      systemDeadlines.start(this.#stalled, this.#stallMs)
      this.#onRoom = resolve
    })
    return this.#room
  }

  #relieve(): void {
    if (this.#onRoom === undefined) return
    systemDeadlines.stop(this.#stalled)
    this.#onRoom()
    this.#onRoom = undefined
    this.#room = undefined
  }
}
