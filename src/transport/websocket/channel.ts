import type { Duplex } from 'node:stream'
import { type Channel, ChannelError, type Envelope, type Sink } from '../../jsonrpc/channel.ts'
import { decodeBy } from '../../jsonrpc/codec/decode.ts'
import {
  type DecodeOptions,
  type DecodeRules,
  decodeRules,
  withMaxBytes,
} from '../../jsonrpc/codec/decode-rules.ts'
import { oversize } from '../../jsonrpc/codec/malformed.ts'
import { Repeats } from '../../jsonrpc/codec/repeated-meta.ts'
import { textOf } from '../../jsonrpc/codec/text.ts'
import type { Decoded, Message } from '../../jsonrpc/message.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { Outbox, type OutboxOptions } from '../stream/backpressure.ts'
import { within } from '../within.ts'
import type { Beating, Heartbeat } from './heartbeat.ts'
import { WebSocketWriter } from './writer.ts'
import { joinedProtocol, type WebSocket } from './ws.ts'

export interface WebSocketChannelOptions extends OutboxOptions {
  readonly decode?: DecodeOptions
  /** Handed to the sink with each arrival. */
  readonly envelope?: Envelope
  /** Whether what is sent waits for the end of this turn of the event loop. */
  readonly byTurns?: boolean
  /** The longest message that is sent; `send` throws a ChannelError `'too-large'` for a longer one. */
  readonly longest?: number
}

/** What a WebSocket runs over; every socket counts the bytes it has read. */
export type Wire = Duplex & { readonly bytesRead?: number }

/** The rules for reading what a WebSocket brings. */
export function websocketRules(decode: DecodeOptions | undefined): DecodeRules {
  return decodeRules(withMaxBytes(decode, limits.websocketMessageBytes.default))
}

/**
 * A channel over a WebSocket that is open: each text message is one message, or one batch, of
 * JSON-RPC; of `joinedProtocol`, one on each of its lines, where blank ones are passed over. Nothing is
 * read before `open`.
 *
 * A message over the limit is answered and ends the connection with 1009, a binary one ends it with
 * 1003; what ws itself refuses has the code ws gives it.
 */
export class WebSocketChannel implements Channel, Beating {
  readonly #ws: WebSocket
  readonly #wire: Wire
  readonly #heartbeat: Heartbeat
  /** Whether several messages may come, and leave, as one. */
  readonly #isJoined: boolean
  readonly #writer: WebSocketWriter
  readonly #outbox: Outbox
  readonly #rules: DecodeRules
  readonly #repeats = new Repeats()
  readonly #envelope: Envelope
  readonly #longest: number
  readonly #clock: Clock
  readonly #ended: Promise<void>
  #sink: Sink | undefined
  #state: 'open' | 'closing' | 'broken' | 'over' = 'open'
  #cause: Error | undefined
  #goodbye: (() => void) | undefined
  #waits = 0
  #alive = true
  #readAtPing: number | undefined
  #takenAtPing: number | undefined

  constructor(ws: WebSocket, wire: Duplex, heartbeat: Heartbeat, options: WebSocketChannelOptions) {
    this.#ws = ws
    this.#wire = wire
    this.#heartbeat = heartbeat
    this.#isJoined = ws.protocol === joinedProtocol
    const gathering = { byTurns: options.byTurns, joins: this.#isJoined }
    this.#writer = new WebSocketWriter(ws, wire, () => this.#progress(), gathering)
    this.#outbox = new Outbox(
      { unsent: () => this.#writer.unsent, tooSlow: error => this.#cut(error) },
      options,
    )
    this.#rules = websocketRules(options.decode)
    this.#envelope = { ...options.envelope, takesWritten: true }
    this.#longest = options.longest ?? Number.POSITIVE_INFINITY
    this.#clock = options.clock ?? systemClock
    this.#ended = new Promise(resolve => {
      ws.once('close', (code, reason) => {
        this.#over(code, reason.toString())
        resolve()
      })
    })
    // ws refuses a message over its limit by calling its own close(1009), and reports it only when
    // nothing can be sent any more. Its close() is the one moment in which it can be answered. The
    // reason is missing only there: it comes along when the other side closes with 1009.
    const close = ws.close.bind(ws)
    ws.close = (code, reason) => {
      if (code === 1009 && reason === undefined) this.#oversize()
      else close(code, reason)
    }
    ws.pause()
    ws.on('message', this.#message)
    ws.on('pong', this.#pong)
    ws.on('error', this.#error)
    heartbeat.add(this)
  }

  open(sink: Sink): void {
    if (this.#sink !== undefined) throw new Error('the channel is open already')
    this.#sink = sink
    if (this.#state === 'over') queueMicrotask(() => sink.closed(this.#cause))
    else this.#ws.resume()
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    this.#outbox.admit()
    const text = textOf(message)
    if (text.length > this.#longest) {
      const what = `sending: a message of ${text.length} characters, over ${this.#longest}`
      throw new ChannelError('too-large', what)
    }
    this.#writer.write(text)
    return this.#outbox.taken(text.length)
  }

  close(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'closing'
      this.#outbox.close(new ChannelError('closed', 'sending: the channel is closed'))
      // A paused connection would never see the other side's farewell.
      this.#ws.resume()
      void this.#farewell(1000, '')
    }
    return this.#ended
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  ping(): void {
    this.#alive = false
    this.#readAtPing = this.#wire.bytesRead
    // With nothing waiting, bytes that leave show only that the system has room for them.
    this.#takenAtPing = this.#writer.unsent > 0 ? this.#writer.taken : undefined
    this.#ws.ping()
  }

  isAlive(): boolean {
    if (this.#alive) return true
    // A long message on its way, in either direction, holds up the answer, and shows more life.
    if (this.#wire.bytesRead !== this.#readAtPing) return true
    if (this.#takenAtPing !== undefined && this.#writer.taken > this.#takenAtPing) return true
    // While reading is paused the answer waits unread, which is not the other side's fault.
    return this.#waits > 0 || this.#sink === undefined
  }

  lost(): void {
    this.#cut(new ChannelError('timeout', 'the other side gives no sign of life'))
  }

  readonly #message = (bytes: Buffer, isBinary: boolean): void => {
    if (this.#state !== 'open') return
    if (isBinary) {
      this.#break(1003, new ChannelError('framing', 'a binary message came'))
      return
    }
    // It holds UTF-8, which ws has made sure of.
    const text = bytes.toString('utf8')
    if (this.#isJoined && text.includes('\n')) this.#separate(text, bytes.length)
    else this.#deliver(decodeBy(text, this.#rules, this.#repeats))
  }

  #separate(text: string, bytes: number): void {
    // All of them are taken before anybody can be made to wait, so there cannot be any number of them.
    const most = limits.websocketJoinedBytes.default
    if (bytes > most) this.#oversize(most)
    for (let from = 0; from <= text.length && this.#state === 'open'; ) {
      const at = text.indexOf('\n', from)
      const end = at < 0 ? text.length : at
      const line = text.slice(from, end)
      if (!blank.test(line)) this.#deliver(decodeBy(line, this.#rules, this.#repeats))
      from = end + 1
    }
  }

  readonly #pong = (): void => {
    this.#alive = true
  }

  readonly #error = (cause: Error): void => {
    // ws is closing already, with a code of its own; it alone would wait long for an answer.
    this.#break(
      1002,
      new ChannelError('framing', `reading a WebSocket: ${cause.message}`, { cause }),
    )
  }

  #deliver(arrival: Decoded): void {
    try {
      const wait = this.#sink?.receive(arrival, this.#envelope)
      if (wait !== undefined) this.#rest(wait)
    } catch (cause) {
      this.#break(1011, new ChannelError('closed', 'delivering: the sink threw', { cause }))
    }
  }

  #rest(wait: Promise<void>): void {
    this.#waits++
    if (this.#state === 'open') this.#ws.pause()
    const resume = (): void => {
      this.#waits--
      if (this.#waits === 0) this.#ws.resume()
    }
    wait.then(resume, resume)
  }

  #oversize(most = this.#rules.maxBytes): void {
    if (this.#state === 'open') this.#deliver(oversize(most, this.#rules.tooLargeCode))
    this.#break(1009, new ChannelError('too-large', `a message of over ${most} bytes came`))
  }

  /** Ends the connection over something that came, and reads nothing more of it. */
  #break(code: number, error: ChannelError): void {
    if (this.#fail(error)) void this.#farewell(code, error.message)
  }

  /** Ends the connection at once, without a farewell that nobody would read. */
  #cut(error: ChannelError): void {
    this.#fail(error)
    this.#ws.terminate()
  }

  /** Returns whether this is the first thing to end it. */
  #fail(error: ChannelError): boolean {
    if (this.#state !== 'open') return false
    this.#state = 'broken'
    this.#cause = error
    this.#outbox.close(error)
    return true
  }

  #progress(): void {
    this.#outbox.left()
    // The closing frame must not come between the pieces of a message.
    if (this.#goodbye !== undefined && this.#writer.idle) this.#goodbye()
  }

  /** Closes when everything is sent, and gives the other side a limited time to take it and answer. */
  async #farewell(code: number, reason: string): Promise<void> {
    this.#goodbye = () => this.#ws.close(code, reason)
    this.#progress()
    const giveUpAt = this.#clock.now() + limits.closeMs.default
    let before = Number.POSITIVE_INFINITY
    // Waiting goes on only while something moves.
    while (this.#writer.unsent < before && this.#clock.now() < giveUpAt) {
      before = this.#writer.unsent
      if (
        await within(limits.closeIdleMs.default, this.#clock, done => void this.#ended.then(done))
      )
        return
    }
    this.#ws.terminate()
  }

  #over(code: number, reason: string): void {
    this.#heartbeat.delete(this)
    if (this.#state !== 'closing') this.#cause ??= causeOf(code, reason)
    this.#state = 'over'
    this.#outbox.close(
      new ChannelError('closed', 'sending: the channel is closed', { cause: this.#cause }),
    )
    this.#sink?.closed(this.#cause)
  }
}

const blank = /^[ \t\r]*$/

/** What the other side's closing code says; nothing where it left in good order. */
function causeOf(code: number, reason: string): ChannelError | undefined {
  const words = reason === '' ? '' : `: ${reason}`
  switch (code) {
    case 1000:
    case 1001:
    case 1005:
      return undefined
    case 1006:
      return new ChannelError('closed', 'the connection was lost')
    case 1009:
      return new ChannelError('too-large', `the other side refused a message by its size${words}`)
    default:
      return new ChannelError('closed', `the other side closed with ${code}${words}`)
  }
}
