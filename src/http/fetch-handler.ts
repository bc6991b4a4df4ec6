import type { Principal } from '../jsonrpc/channel.ts'
import { limits } from '../util/limits/limits.ts'
import type { OriginPolicy, RequestOrigin } from '../util/origin.ts'
import { systemDeadlines, timed } from '../util/time/deadline.ts'
import { ByteBuffer } from '../wire/byte-buffer.ts'
import {
  type BodyReader,
  type EventStream,
  eventStream,
  type GivenRequest,
  type HttpHandler,
  type HttpOutboundOptions,
  type HttpReply,
  type HttpRequest,
  type ReplyHeaders,
  withoutCredentials,
} from './exchange.ts'
import { type Flushable, writeBatch } from './node/write-batch.ts'

/** Passes a fetch `Request` to a service and resolves to the response. */
export function serveFetch(
  service: HttpHandler,
  request: Request,
  given: GivenRequest = {},
  options: HttpOutboundOptions = {},
): Promise<Response> {
  return new Promise(resolve => {
    const reply = new FetchReply(request, resolve, options)
    service.handle(new FetchRequest(request, given), reply)
  })
}

class FetchRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  principal: Principal | undefined
  hiddenHeaders: readonly string[] | undefined
  readonly env: unknown
  readonly #request: Request
  readonly #url: URL

  constructor(request: Request, { principal, env }: GivenRequest) {
    this.#request = request
    this.#url = new URL(request.url)
    this.method = request.method
    this.path = this.#url.pathname
    this.query = this.#url.search.slice(1)
    this.principal = principal
    this.env = env
  }

  get headers(): Readonly<Record<string, string>> {
    const headers = Object.fromEntries(this.#request.headers)
    return this.hiddenHeaders === undefined
      ? headers
      : withoutCredentials(headers, this.hiddenHeaders)
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined
  }

  values(name: string): readonly string[] {
    // Several headers of one name arrive as one value, which is then no valid token.
    const value = this.#request.headers.get(name)
    return value === null ? [] : [value]
  }

  origin(): RequestOrigin {
    const { pathname, search, host } = this.#url
    const origin = this.header('origin')
    return {
      // Servers of this kind do not pass the header on, or give the same value in both places.
      hosts: [this.header('host') ?? host],
      origins: origin === undefined ? [] : [origin],
      target: pathname + search,
      site: this.header('sec-fetch-site'),
    }
  }

  local(): Pick<OriginPolicy, 'port' | 'loopback'> {
    const { port, protocol } = this.#url
    const defaultPort = protocol === 'https:' ? 443 : 80
    // A fetch handler cannot know the address its server is bound to. Treated as a loopback
    // address, it accepts other host names only if they are listed, so a page that resolved a name
    // to this machine (DNS rebinding) is rejected.
    return { port: Number(port) || defaultPort, loopback: true }
  }

  address(): undefined {
    // Servers of this kind do not report it.
    return undefined
  }

  body(maxBytes: number, done: BodyReader): void {
    const length = Number(this.header('content-length') ?? Number.NaN)
    if (length > maxBytes) {
      done(undefined)
      return
    }
    // A body that is known to be small needs no stream, which would cost more than everything else
    // that is done for a request.
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
  const body = new ByteBuffer(maxBytes)
  for await (const chunk of request.body ?? []) {
    if (body.size + chunk.length > maxBytes) return undefined
    body.add(chunk, 0, chunk.length)
  }
  return body.take()
}

class FetchReply implements HttpReply, Flushable {
  readonly #request: Request
  readonly #resolve: (response: Response) => void
  readonly #options: HttpOutboundOptions
  #onDisconnect: (() => void)[] | undefined
  #signal: AbortSignal | undefined
  #response: Response | undefined
  #isFinished = false

  constructor(
    request: Request,
    resolve: (response: Response) => void,
    options: HttpOutboundOptions,
  ) {
    this.#request = request
    this.#resolve = resolve
    this.#options = options
  }

  get isFinished(): boolean {
    return this.#isFinished
  }

  send(status: number, headers: ReplyHeaders, body?: string): void {
    if (this.#isFinished) return
    this.#response = new Response(body ?? null, { status, headers })
    this.#finish()
    writeBatch.add(this)
  }

  stream(headers: ReplyHeaders): EventStream {
    const events = new FetchStream(
      this.#options,
      () => this.#finish(),
      () => this.#disconnect(),
    )
    const all = { ...headers, ...eventStream }
    this.#resolve(new Response(events.readable, { status: 200, headers: all }))
    return events
  }

  onDisconnect(listener: () => void): void {
    if (this.#onDisconnect === undefined) {
      this.#onDisconnect = [listener]
      queueMicrotask(this.#watch)
    } else {
      this.#onDisconnect.push(listener)
    }
  }

  flush(): void {
    if (this.#response !== undefined) this.#resolve(this.#response)
  }

  /**
   * Watches for the client to disconnect, but not during the microtask turn in which most requests are
   * answered already.
   */
  readonly #watch = (): void => {
    if (this.#isFinished) return
    // Some servers create the signal on first access, which is the expensive part.
    const { signal } = this.#request
    this.#signal = signal
    if (signal.aborted) this.#disconnect()
    else signal.addEventListener('abort', this.#disconnect, { once: true })
  }

  #finish(): void {
    this.#isFinished = true
    this.#signal?.removeEventListener('abort', this.#disconnect)
  }

  readonly #disconnect = (): void => {
    if (this.#isFinished) return
    this.#finish()
    for (const listener of this.#onDisconnect ?? []) listener()
  }
}

class FetchStream implements EventStream {
  readonly readable: ReadableStream<Uint8Array>
  readonly #encoder = new TextEncoder()
  readonly #onEnd: () => void
  readonly #onDisconnect: () => void
  readonly #highWater: number
  readonly #maxBytes: number
  readonly #stallMs: number
  readonly #stalled = timed(() => this.#cut())
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #onRoom: (() => void) | undefined
  #room: Promise<void> | undefined
  #isFinished = false

  constructor(options: HttpOutboundOptions, onEnd: () => void, onDisconnect: () => void) {
    this.#highWater = options.highWaterBytes ?? limits.outboundHighWaterBytes.default
    this.#maxBytes = options.maxOutboundBytes ?? limits.outboundBytes.default
    this.#stallMs = options.stallMs ?? limits.stallMs.default
    this.#onEnd = onEnd
    this.#onDisconnect = onDisconnect
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: controller => {
          this.#controller = controller
        },
        pull: () => this.#relieve(),
        cancel: () => this.#end(this.#onDisconnect),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: this.#highWater }),
    )
  }

  write(text: string): void | Promise<void> {
    const controller = this.#controller
    if (this.#isFinished || controller === undefined) return
    controller.enqueue(this.#encoder.encode(text))
    const room = controller.desiredSize ?? 0
    if (this.#highWater - room > this.#maxBytes) this.#cut()
    else if (room <= 0) return this.#wait()
  }

  end(): void {
    if (this.#isFinished) return
    this.#controller?.close()
    this.#end(this.#onEnd)
  }

  /**
   * Drops the buffered text, which would otherwise stay in memory for as long as the client does not
   * read.
   */
  #cut(): void {
    if (this.#isFinished) return
    this.#controller?.error(new Error('the client reads too slowly'))
    this.#end(this.#onDisconnect)
  }

  #end(notify: () => void): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#relieve()
    notify()
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
