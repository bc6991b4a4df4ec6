import type { Duplex } from 'node:stream'
import { type Channel, ChannelError, type Envelope, type Sink } from '../../jsonrpc/channel.ts'
import { decodeBy } from '../../jsonrpc/codec/decode.ts'
import {
  type DecodeOptions,
  type DecodeRules,
  decodeRules,
  withMaxBytes,
} from '../../jsonrpc/codec/decode-rules.ts'
import { encodeForSend } from '../../jsonrpc/codec/encode.ts'
import { noRoom, oversize } from '../../jsonrpc/codec/malformed.ts'
import { MetaCache } from '../../jsonrpc/codec/meta-cache.ts'
import type { Decoded, Message } from '../../jsonrpc/message.ts'
import { limits } from '../../util/limits/limits.ts'
import type { ListenerTurns } from '../../util/sockets/listener-turns.ts'
import type { RequestBudget } from '../../util/sockets/request-budget.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { withTimeout } from '../../util/time/sleep.ts'
import { Backpressure, type BackpressureOptions } from '../stream/backpressure.ts'
import { causeOf, drained } from './close-frames.ts'
import type { HeartbeatMember, WebSocketHeartbeat } from './heartbeat.ts'
import { Pongs } from './pongs.ts'
import { ReadMeter } from './read-meter.ts'
import { WebSocketWriter } from './writer.ts'
import { joinedProtocol, type WebSocket } from './ws.ts'

/** Options of a channel over a WebSocket. */
export interface WebSocketChannelOptions extends BackpressureOptions {
  /** Limits and rules for decoding messages. */
  readonly decode?: DecodeOptions
  /** The envelope of each message from this connection. */
  readonly envelope?: Envelope
  /**
   * Whether messages are flushed at the end of this turn of the event loop instead of in the next tick.
   */
  readonly flushOnImmediate?: boolean
  /**
   * The longest message that can be sent, in characters; `send` throws a ChannelError `'too-large'` for
   * a longer one.
   */
  readonly maxMessageLength?: number
}

/** The stream below a WebSocket; a socket counts the bytes it has read. */
export type WebSocketStream = Duplex & { readonly bytesRead?: number }

/** Returns the decode rules of a WebSocket. */
export function websocketRules(decode: DecodeOptions | undefined): DecodeRules {
  return decodeRules(withMaxBytes(decode, 'websocket', limits.websocketMessageBytes.default))
}

/**
 * A channel over an open WebSocket: each text message is one JSON-RPC message or batch; with
 * `joinedProtocol`, each of its lines is, and blank lines are ignored. Nothing is read before `open`.
 *
 * A message over the limit is answered and closes the connection with 1009, a binary message closes it
 * with 1003; for messages that ws itself rejects, ws chooses the code.
 */
export class WebSocketChannel implements Channel, HeartbeatMember {
  readonly requestBudget: RequestBudget | undefined
  readonly #ws: WebSocket
  readonly #stream: WebSocketStream
  readonly #heartbeat: WebSocketHeartbeat
  /** Whether one WebSocket message can carry several messages. */
  readonly #isJoined: boolean
  readonly #writer: WebSocketWriter
  readonly #backpressure: Backpressure
  readonly #pongs: Pongs
  readonly #rules: DecodeRules
  readonly #metaCache = new MetaCache()
  readonly #envelope: Envelope
  readonly #maxMessageLength: number
  readonly #clock: Clock
  readonly #closed: Promise<void>
  #sink: Sink | undefined
  #state: 'open' | 'closing' | 'broken' | 'closed' = 'open'
  #cause: Error | undefined
  #closeReason = ''
  #sendClose: (() => void) | undefined
  #pendingReceives = 0
  #alive = true
  #readAtPing: number | undefined
  #acceptedAtPing = 0
  #wasSendingAtPing = false
  readonly #meter: ReadMeter
  readonly #turns: ListenerTurns | undefined
  #isResting = false
  /** Ends the pause in which the budget has no room. */
  #roomFound: () => void = nothing

  constructor(
    ws: WebSocket,
    stream: Duplex,
    heartbeat: WebSocketHeartbeat,
    options: WebSocketChannelOptions,
  ) {
    this.requestBudget = options.held?.requests
    this.#ws = ws
    this.#stream = stream
    this.#heartbeat = heartbeat
    this.#isJoined = ws.protocol === joinedProtocol
    const coalescing = { flushOnImmediate: options.flushOnImmediate, joins: this.#isJoined }
    this.#writer = new WebSocketWriter(ws, stream, () => this.#progress(), coalescing)
    this.#backpressure = new Backpressure(
      {
        unsent: () => this.#writer.unsent,
        retained: () => this.#writer.retained,
        tooSlow: error => this.#terminate(error),
      },
      options,
    )
    this.#pongs = new Pongs(
      ws,
      { accepted: () => this.#writer.wasAccepted(), tooSlow: error => this.#terminate(error) },
      options,
    )
    this.#rules = websocketRules(options.decode)
    this.#envelope = { ...options.envelope, acceptsRaw: true }
    this.#maxMessageLength = options.maxMessageLength ?? Number.POSITIVE_INFINITY
    this.#clock = options.clock ?? systemClock
    this.#closed = new Promise(resolve => {
      ws.once('close', (code, reason) => {
        this.#onClosed(code, reason.toString())
        resolve()
      })
    })
    // ws rejects a message over its limit by calling its own close(1009), and reports it only when
    // nothing can be sent any more. That call is the only moment in which the message can be answered.
    // It has no reason, unlike the call when the peer closes with 1009.
    const close = ws.close.bind(ws)
    ws.close = (code, reason) => {
      if (code === 1009 && reason === undefined) this.#oversize()
      else close(code, reason)
    }
    ws.pause()
    this.#meter = new ReadMeter(options.held, this.#rules.maxBytes, {
      rest: () => this.#rest(),
      pause: () => this.#waitForRoom(),
      proceed: () => this.#roomFound(),
      refuse: () => this.#noRoom(),
    })
    this.#turns = options.held?.turns
    // Before the listener of ws, so that a message in the same chunk ends the count.
    stream.prependListener('data', this.#meter.chunk)
    stream.on('data', this.#meter.parsed)
    ws.on('message', this.#message)
    ws.on('ping', this.#ping)
    ws.on('pong', this.#pong)
    ws.on('error', this.#error)
    heartbeat.add(this)
  }

  open(sink: Sink): void {
    if (this.#sink !== undefined) throw new Error('the channel is open already')
    this.#sink = sink
    if (this.#state === 'closed') queueMicrotask(() => sink.closed(this.#cause))
    else this.#ws.resume()
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    this.#backpressure.admit()
    const text = encodeForSend(message)
    if (text.length > this.#maxMessageLength) {
      const message = `sending: ${text.length} characters, over the limit of ${this.#maxMessageLength}`
      throw new ChannelError('too-large', message)
    }
    this.#writer.write(text)
    return this.#backpressure.added(text.length)
  }

  close({ isDrained = false }: { readonly isDrained?: boolean } = {}): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'closing'
      this.#closeReason = isDrained ? drained : ''
      this.#stopSending(new ChannelError('closed', 'sending: the channel is closed'))
      // A paused connection would never see the peer's close frame.
      this.#ws.resume()
      void this.#closeGracefully(1000, this.#closeReason)
    }
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  ping(): void {
    this.#alive = false
    this.#readAtPing = this.#stream.bytesRead
    this.#wasSendingAtPing = this.#writer.unsent > 0
    this.#acceptedAtPing = this.#writer.accepted
    this.#ws.ping()
  }

  isAlive(): boolean {
    if (this.#alive) return true
    // While reading is paused, the pong waits unread, which is not the peer's fault.
    if (this.#pendingReceives > 0 || this.#sink === undefined) return true
    // A long message in either direction delays the pong, and is activity itself. If nothing was queued
    // before, sending bytes only shows that the system buffer has room.
    if (this.#wasSendingAtPing && this.#writer.accepted > this.#acceptedAtPing) return true
    // A peer that accepts nothing does not stay alive by sending.
    const isStuck = this.#wasSendingAtPing && this.#writer.unsent > 0
    return !isStuck && this.#stream.bytesRead !== this.#readAtPing
  }

  lost(): void {
    this.#terminate(new ChannelError('timeout', 'the peer does not respond to pings'))
  }

  /** Lets others be served before a peer that floods this process. */
  #rest(): void {
    if (this.#isResting || this.#state !== 'open') return
    this.#isResting = true
    this.#ws.pause()
    setImmediate(() => {
      this.#isResting = false
      if (this.#pendingReceives === 0 && this.#state === 'open') this.#ws.resume()
    })
  }

  #waitForRoom(): void {
    this.#pause(
      new Promise(resolve => {
        this.#roomFound = resolve
      }),
    )
  }

  #noRoom(): void {
    if (this.#state === 'open') this.#deliver(noRoom)
    // What is read would be kept until the connection has closed.
    this.#ws.pause()
    this.#break(1013, new ChannelError('too-many', `reading: ${noRoom.detail}`))
  }

  readonly #message = (bytes: Buffer, isBinary: boolean): void => {
    this.#meter.complete()
    if (this.#state !== 'open') return
    if (isBinary) {
      this.#break(1003, new ChannelError('framing', 'received a binary message'))
      return
    }
    const turns = this.#turns
    if (turns?.isOpen === false) {
      const { length } = bytes
      this.#pause(new Promise(resolve => turns.defer(length, () => resolve(this.#read(bytes)))))
      return
    }
    turns?.spend(bytes.length)
    this.#read(bytes)
  }

  #read(bytes: Buffer): void {
    if (this.#state !== 'open') return
    // `ws` guarantees that the bytes are UTF-8.
    const text = bytes.toString('utf8')
    if (this.#isJoined && text.includes('\n')) this.#deliverLines(text, bytes.length)
    else this.#deliver(decodeBy(text, this.#rules, this.#metaCache), bytes.length)
  }

  #deliverLines(text: string, bytes: number): void {
    // All of them are delivered before backpressure can apply, so their size is limited.
    const maxBytes = limits.websocketJoinedBytes.default
    if (bytes > maxBytes) this.#oversize(maxBytes)
    for (let from = 0; from <= text.length && this.#state === 'open'; ) {
      const at = text.indexOf('\n', from)
      const end = at < 0 ? text.length : at
      const line = text.slice(from, end)
      if (!blank.test(line))
        this.#deliver(decodeBy(line, this.#rules, this.#metaCache), line.length)
      from = end + 1
    }
  }

  readonly #ping = (data: Buffer): void => {
    this.#meter.control(data)
    this.#pongs.answer(data)
  }

  readonly #pong = (data: Buffer): void => {
    this.#meter.control(data)
    this.#alive = true
  }

  readonly #error = (cause: Error): void => {
    // ws is closing already, with its own code, but would wait long for the peer.
    this.#break(
      1002,
      new ChannelError('framing', `reading a WebSocket: ${cause.message}`, { cause }),
    )
  }

  #deliver(arrival: Decoded, bytes?: number): void {
    try {
      const wait = this.#sink?.receive(arrival, this.#envelope, bytes)
      if (wait !== undefined) this.#pause(wait)
    } catch (cause) {
      this.#break(1011, new ChannelError('closed', 'delivering: the sink threw', { cause }))
    }
  }

  #pause(wait: Promise<void>): void {
    this.#pendingReceives++
    if (this.#state === 'open') this.#ws.pause()
    const resume = (): void => {
      this.#pendingReceives--
      if (this.#pendingReceives === 0 && !this.#isResting) this.#ws.resume()
    }
    wait.then(resume, resume)
  }

  #oversize(maxBytes = this.#rules.maxBytes): void {
    if (this.#state === 'open') this.#deliver(oversize(maxBytes, this.#rules.tooLargeCode))
    this.#break(1009, new ChannelError('too-large', `received a message over ${maxBytes} bytes`))
  }

  /** Closes the connection because of invalid input, and reads no more from it. */
  #break(code: number, error: ChannelError): void {
    if (this.#fail(error)) void this.#closeGracefully(code, error.message)
  }

  /** Destroys the connection without a close frame, which the peer would not read. */
  #terminate(error: ChannelError): void {
    this.#fail(error)
    this.#writer.drop()
    this.#ws.terminate()
  }

  /** Returns false if the connection was failing or closing before. */
  #fail(error: ChannelError): boolean {
    if (this.#state !== 'open') return false
    this.#state = 'broken'
    this.#cause = error
    this.#stopSending(error)
    return true
  }

  #stopSending(error: ChannelError): void {
    this.#backpressure.close(error)
    this.#pongs.close()
  }

  #progress(): void {
    this.#backpressure.progressed()
    // The close frame must not come between the fragments of a message.
    if (this.#sendClose !== undefined && this.#writer.idle) this.#sendClose()
  }

  /**
   * Sends a close frame after everything else, and gives the peer a limited time to receive it and
   * respond.
   */
  async #closeGracefully(code: number, reason: string): Promise<void> {
    this.#sendClose = () => this.#ws.close(code, reason)
    this.#progress()
    const giveUpAt = this.#clock.now() + limits.closeMs.default
    let before = Number.POSITIVE_INFINITY
    // Waits only while there is progress.
    while (this.#writer.unsent < before && this.#clock.now() < giveUpAt) {
      before = this.#writer.unsent
      if (
        await withTimeout(
          limits.closeIdleMs.default,
          this.#clock,
          done => void this.#closed.then(done),
        )
      )
        return
    }
    this.#ws.terminate()
  }

  #onClosed(code: number, reason: string): void {
    this.#heartbeat.delete(this)
    this.#meter.complete()
    if (this.#state !== 'closing') this.#cause ??= causeOf(code, reason)
    this.#state = 'closed'
    this.#stopSending(
      new ChannelError('closed', 'sending: the channel is closed', { cause: this.#cause }),
    )
    // A peer repeats the reason that it is given, so its own cannot be told from ours.
    const isDrained = code === 1000 && reason === drained && this.#closeReason !== drained
    this.#sink?.closed(this.#cause, isDrained)
  }
}

function nothing(): void {}

const blank = /^[ \t\r]*$/
