import type { Readable, Writable } from 'node:stream'
import { type Channel, ChannelError, type Sink } from '../../jsonrpc/channel.ts'
import { textOf } from '../../jsonrpc/codec/text.ts'
import type { Message } from '../../jsonrpc/message.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'
import type { Traffic } from '../../util/traffic.ts'
import type { Framing } from '../../wire/frame.ts'
import { framing } from '../../wire/framing.ts'
import { within } from '../within.ts'
import { Outbox, type OutboxOptions } from './backpressure.ts'
import { Intake, type IntakeOptions } from './frame-reader.ts'
import { FrameWriter } from './frame-writer.ts'

export interface StreamOptions extends IntakeOptions, OutboxOptions {
  /** Bytes of small messages that are gathered into one write. */
  readonly coalesceBytes?: number
  /**
   * Whether what is sent waits for the end of this turn of the event loop instead of leaving once the
   * code that is running has finished: for whoever passes on what comes by many connections.
   */
  readonly byTurns?: boolean
  /** The streams belong to somebody else: `close` sends the rest and leaves them as they are. */
  readonly lent?: boolean
  /** Counts what passes. */
  readonly traffic?: Traffic
}

/**
 * A channel over a stream of bytes in each direction; the two may be one duplex stream.
 *
 * The two directions end apart. When the input is over, because it ended, broke off in the middle of
 * a frame, lost its framing or exceeded the size limit, the sink is told `closed` at once, and what
 * is sent still goes out until `close` is called: whoever owns the channel answers what it has
 * begun and then closes. When the output fails, sending ends at once, while what the other side had
 * written before is delivered first, for a tenth of a second at most; then the sink is told. An error
 * of the input, and a peer that is too slow in taking the output, end both.
 *
 * `closed` is never called from within `open`, `send` or `close`. A socket must be half-open
 * (`allowHalfOpen`) for answers to leave after the other side has ended its half.
 */
export function streamChannel(
  readable: Readable,
  writable: Writable,
  options: StreamOptions = {},
): Channel {
  return new StreamChannel(readable, writable, options)
}

// Every write costs a call into the system and wakes the other side; gathering without bound is slower
// too, because the other side then idles until everything comes at once.
const coalesceBytes = 16_384

class StreamChannel implements Channel {
  readonly halfOpen = true
  readonly #readable: Readable
  readonly #writable: Writable
  readonly #framing: Framing
  readonly #clock: Clock
  readonly #lent: boolean
  readonly #intake: Intake
  readonly #writer: FrameWriter
  readonly #outbox: Outbox
  #sink: Sink | undefined
  #input: 'open' | 'cut' | 'over' = 'open'
  #cause: ChannelError | undefined
  #sending = true
  #lastWords: Timer | undefined
  #moved: () => void = nothing
  #told = false
  #closing: Promise<void> | undefined
  #releasing: Promise<void> | undefined

  constructor(readable: Readable, writable: Writable, options: StreamOptions) {
    this.#readable = readable
    this.#writable = writable
    this.#framing = framing(options.framing ?? 'lines')
    this.#clock = options.clock ?? systemClock
    this.#lent = options.lent ?? false
    const chunkDone = (): void => this.#writer.flush()
    const over = (cause?: ChannelError, cut?: boolean): void => this.#inputOver(cause, cut)
    this.#intake = new Intake(readable, { chunkDone, over }, options)
    const gather = { bytes: options.coalesceBytes ?? coalesceBytes, byTurns: options.byTurns }
    this.#writer = new FrameWriter(writable, gather, this.#progress)
    const unsent = (): number => this.#writer.unsent
    const tooSlow = (error: ChannelError): void => this.#fail(error)
    this.#outbox = new Outbox({ unsent, tooSlow }, options)
    options.traffic?.watch(readable, writable)
    // From the beginning: an error before `open` has nowhere else to go and would end the process.
    readable.on('error', this.#onReadError).on('close', this.#onReadClose)
    writable.on('error', this.#onWriteError).on('close', this.#onWriteClose)
  }

  open(sink: Sink): void {
    if (this.#sink !== undefined) throw new Error('the channel is open already')
    this.#sink = sink
    if (this.#input !== 'open') this.#tell()
    else if (this.#readable.readableEnded) this.#inputOver()
    else if (this.#readable.destroyed) this.#fail(closedBy('reading'))
    else this.#intake.start(sink)
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    this.#outbox.admit()
    const frame = this.#framing.write(textOf(message))
    this.#writer.write(frame)
    return this.#outbox.taken(frame.length)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const wasSending = this.#sending
    this.#intake.stop()
    this.#stopSending(new ChannelError('closed', 'sending: the channel is closed'))
    if (wasSending) await this.#sendRest()
    await this.#release()
    if (this.#input === 'open') this.#input = 'over'
    this.#tell()
  }

  /** Waits for what was taken to leave, as long as it moves. */
  async #sendRest(): Promise<void> {
    const giveUpAt = this.#clock.now() + limits.closeMs.default
    this.#writer.flush()
    while (!this.#writer.idle && !this.#writable.destroyed && this.#clock.now() < giveUpAt) {
      const moved = await this.#within(done => {
        this.#moved = done
      })
      if (!moved) return
    }
    if (this.#lent || this.#writable.destroyed) return
    await this.#within(done => this.#writable.end(done))
    // Bytes that nobody reads would make the system take back the answer that was just sent.
    if (this.#input === 'cut' && !this.#readable.readableEnded && !this.#readable.closed) {
      await this.#within(done => this.#readable.once('end', done).once('close', done))
    }
  }

  #within(begin: (done: () => void) => void): Promise<boolean> {
    return within(limits.closeIdleMs.default, this.#clock, begin)
  }

  #progress = (error?: Error | null): void => {
    if (error) this.#outputOver(error)
    else this.#outbox.left()
    this.#moved()
  }

  #onReadError = (error: Error): void => this.#fail(closedBy('reading', error))

  #onReadClose = (): void => {
    if (this.#input === 'open') this.#fail(closedBy('reading'))
  }

  #onWriteError = (error: Error): void => this.#outputOver(error)

  #onWriteClose = (): void => this.#outputOver()

  #inputOver(cause?: ChannelError, cut = false): void {
    if (this.#input !== 'open') return
    this.#input = cut ? 'cut' : 'over'
    this.#cause ??= cause
    this.#tell()
    if (!this.#sending) void this.#release()
  }

  #outputOver(error?: Error): void {
    this.#moved()
    if (!this.#sending) return
    const cause = closedBy('sending', error)
    this.#stopSending(cause)
    this.#cause ??= cause
    if (this.#input !== 'open') void this.#release()
    else if (this.#readable.destroyed) this.#fail(cause)
    else {
      // If this process was busy all that time, the words have come but nobody has looked yet.
      const giveUp = (): unknown => setImmediate(() => this.#fail(cause))
      this.#lastWords = this.#clock.start(giveUp, limits.lastWordsMs.default)
    }
  }

  /** Ends both directions at once, unless they are being closed in good order already. */
  #fail(cause: ChannelError): void {
    if (this.#closing !== undefined) return
    this.#stopSending(cause)
    this.#intake.stop()
    this.#inputOver(cause)
    void this.#release()
  }

  #stopSending(error: ChannelError): void {
    this.#sending = false
    this.#outbox.close(error)
  }

  #tell(): void {
    const sink = this.#sink
    if (sink === undefined || this.#told) return
    this.#told = true
    const cause = this.#cause
    queueMicrotask(() => sink.closed(cause))
  }

  #release(): Promise<void> {
    this.#releasing ??= this.#letGo()
    return this.#releasing
  }

  async #letGo(): Promise<void> {
    if (this.#lastWords !== undefined) this.#clock.stop(this.#lastWords)
    const isSent = this.#writer.idle
    this.#writer.drop()
    this.#intake.release()
    this.#readable.off('error', this.#onReadError).off('close', this.#onReadClose)
    this.#writable.off('error', this.#onWriteError).off('close', this.#onWriteClose)
    if (this.#lent) {
      this.#readable.pause()
      // The stream may still fail over what it was given.
      if (!isSent) this.#writable.on('error', nothing)
      return
    }
    await Promise.all([this.#destroy(this.#readable), this.#destroy(this.#writable)])
  }

  async #destroy(stream: Readable | Writable): Promise<void> {
    stream.on('error', nothing)
    stream.destroy()
    if (!stream.closed) await this.#within(done => stream.once('close', done))
    // One that never says that it is closed may still fail.
    if (stream.closed) stream.off('error', nothing)
  }
}

function closedBy(doing: string, error?: Error): ChannelError {
  return error === undefined
    ? new ChannelError('closed', `${doing}: the stream closed`)
    : new ChannelError('closed', `${doing}: ${error.message}`, { cause: error })
}

function nothing(): void {}
