import type { Readable, Writable } from 'node:stream'
import { type Channel, ChannelError, type Sink } from '../../jsonrpc/channel.ts'
import { encodeForSend } from '../../jsonrpc/codec/encode.ts'
import type { Message } from '../../jsonrpc/message.ts'
import { limits } from '../../util/limits/limits.ts'
import type { RequestBudget } from '../../util/sockets/request-budget.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'
import { withTimeout } from '../../util/time/sleep.ts'
import type { Traffic } from '../../util/traffic.ts'
import type { Framing } from '../../wire/frame.ts'
import { framing } from '../../wire/framing.ts'
import { Backpressure, type BackpressureOptions } from './backpressure.ts'
import { FrameWriter } from './frame-writer.ts'
import { MessageReader, type MessageReaderOptions } from './message-reader.ts'

/** Options of a channel over byte streams. */
export interface StreamOptions extends MessageReaderOptions, BackpressureOptions {
  /** The number of bytes of small messages that are combined into one write. */
  readonly coalesceBytes?: number
  /**
   * Whether messages are flushed at the end of this turn of the event loop instead of in the next tick:
   * for a proxy that forwards messages of many connections.
   */
  readonly flushOnImmediate?: boolean
  /** Whether `close` sends the rest and leaves the streams open, because the caller owns them. */
  readonly leaveOpen?: boolean
  /** Counts the bytes received and sent. */
  readonly traffic?: Traffic
}

/**
 * Makes a channel over one byte stream per direction; the two can be one duplex stream.
 *
 * The two directions end independently. When the input ends, is truncated in the middle of a frame,
 * loses its framing or exceeds the size limit, `closed` is called at once, and messages can still be
 * sent until `close` is called: the owner finishes the requests in flight and then closes. When the
 * output fails, sending stops at once, while input that the peer sent before is still delivered for up
 * to `finalReadMs`; then `closed` is called. An input error and a peer that reads too slowly end both
 * directions.
 *
 * `closed` is never called inside `open`, `send` or `close`. A socket must be half-open
 * (`allowHalfOpen`) to send responses after the peer has ended its half.
 */
export function streamChannel(
  readable: Readable,
  writable: Writable,
  options: StreamOptions = {},
): Channel {
  return new StreamChannel(readable, writable, options)
}

// Every write costs a system call and wakes the peer; combining without bound is slower, too, because
// the peer then idles until everything arrives at once.
const coalesceBytes = 16_384

class StreamChannel implements Channel {
  readonly halfOpen = true
  readonly requestBudget: RequestBudget | undefined
  readonly #readable: Readable
  readonly #writable: Writable
  readonly #framing: Framing
  readonly #clock: Clock
  readonly #leaveOpen: boolean
  readonly #reader: MessageReader
  readonly #writer: FrameWriter
  readonly #backpressure: Backpressure
  #sink: Sink | undefined
  #input: 'open' | 'cut' | 'ended' = 'open'
  #cause: ChannelError | undefined
  #sending = true
  #finalRead: Timer | undefined
  #onProgress: () => void = nothing
  #isNotified = false
  #closing: Promise<void> | undefined
  #releasing: Promise<void> | undefined

  constructor(readable: Readable, writable: Writable, options: StreamOptions) {
    this.requestBudget = options.held?.requests
    this.#readable = readable
    this.#writable = writable
    this.#framing = framing(options.framing ?? 'lines')
    this.#clock = options.clock ?? systemClock
    this.#leaveOpen = options.leaveOpen ?? false
    const chunkDone = (): void => this.#writer.flush()
    const ended = (cause?: ChannelError, cut?: boolean): void => this.#inputEnded(cause, cut)
    this.#reader = new MessageReader(readable, { chunkDone, ended }, options)
    const coalescing = {
      bytes: options.coalesceBytes ?? coalesceBytes,
      flushOnImmediate: options.flushOnImmediate,
    }
    this.#writer = new FrameWriter(writable, coalescing, this.#progress)
    const unsent = (): number => this.#writer.unsent
    const retained = (): number => this.#writer.retained
    const tooSlow = (error: ChannelError): void => this.#fail(error)
    this.#backpressure = new Backpressure({ unsent, retained, tooSlow }, options)
    options.traffic?.watch(readable, writable)
    // Added at once, because an error event before `open` without a listener would crash the process.
    readable.on('error', this.#onReadError).on('close', this.#onReadClose)
    writable.on('error', this.#onWriteError).on('close', this.#onWriteClose)
  }

  open(sink: Sink): void {
    if (this.#sink !== undefined) throw new Error('the channel is open already')
    this.#sink = sink
    if (this.#input !== 'open') this.#notifyClosed()
    else if (this.#readable.readableEnded) this.#inputEnded()
    else if (this.#readable.destroyed) this.#fail(closedWhile('reading'))
    else this.#reader.start(sink)
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    this.#backpressure.admit()
    const frame = this.#framing.write(encodeForSend(message))
    this.#writer.write(frame)
    return this.#backpressure.added(frame.length)
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
    this.#reader.stop()
    this.#stopSending(new ChannelError('closed', 'sending: the channel is closed'))
    if (wasSending) await this.#sendRest()
    await this.#release()
    if (this.#input === 'open') this.#input = 'ended'
    this.#notifyClosed()
  }

  /** Waits until everything accepted has been sent, as long as there is progress. */
  async #sendRest(): Promise<void> {
    const giveUpAt = this.#clock.now() + limits.closeMs.default
    this.#writer.flush()
    while (!this.#writer.idle && !this.#writable.destroyed && this.#clock.now() < giveUpAt) {
      const isMoving = await this.#withTimeout(done => {
        this.#onProgress = done
      })
      if (!isMoving) return
    }
    if (this.#leaveOpen || this.#writable.destroyed) return
    await this.#withTimeout(done => this.#writable.end(done))
    // Unread input would make the system reset the connection and discard the response that was just
    // sent.
    if (this.#input === 'cut' && !this.#readable.readableEnded && !this.#readable.closed) {
      await this.#withTimeout(done => this.#readable.once('end', done).once('close', done))
    }
  }

  #withTimeout(begin: (done: () => void) => void): Promise<boolean> {
    return withTimeout(limits.closeIdleMs.default, this.#clock, begin)
  }

  #progress = (error?: Error | null): void => {
    if (error) this.#outputEnded(error)
    else this.#backpressure.progressed()
    this.#onProgress()
  }

  #onReadError = (error: Error): void => this.#fail(closedWhile('reading', error))

  #onReadClose = (): void => {
    if (this.#input === 'open') this.#fail(closedWhile('reading'))
  }

  #onWriteError = (error: Error): void => this.#outputEnded(error)

  #onWriteClose = (): void => this.#outputEnded()

  #inputEnded(cause?: ChannelError, cut = false): void {
    if (this.#input !== 'open') return
    this.#input = cut ? 'cut' : 'ended'
    this.#cause ??= cause
    this.#notifyClosed()
    if (!this.#sending) void this.#release()
  }

  #outputEnded(error?: Error): void {
    this.#onProgress()
    if (!this.#sending) return
    const cause = closedWhile('sending', error)
    this.#stopSending(cause)
    this.#cause ??= cause
    if (this.#input !== 'open') void this.#release()
    else if (this.#readable.destroyed) this.#fail(cause)
    else {
      // If this process was busy all that time, input may have arrived that was not read yet.
      const giveUp = (): unknown => setImmediate(() => this.#fail(cause))
      this.#finalRead = this.#clock.start(giveUp, limits.finalReadMs.default)
    }
  }

  /** Ends both directions at once, unless `close` was called before. */
  #fail(cause: ChannelError): void {
    if (this.#closing !== undefined) return
    this.#stopSending(cause)
    this.#reader.stop()
    this.#inputEnded(cause)
    void this.#release()
  }

  #stopSending(error: ChannelError): void {
    this.#sending = false
    this.#backpressure.close(error)
  }

  #notifyClosed(): void {
    const sink = this.#sink
    if (sink === undefined || this.#isNotified) return
    this.#isNotified = true
    const cause = this.#cause
    queueMicrotask(() => sink.closed(cause))
  }

  #release(): Promise<void> {
    this.#releasing ??= this.#releaseStreams()
    return this.#releasing
  }

  async #releaseStreams(): Promise<void> {
    if (this.#finalRead !== undefined) this.#clock.stop(this.#finalRead)
    const isSent = this.#writer.idle
    this.#writer.drop()
    this.#reader.release()
    this.#readable.off('error', this.#onReadError).off('close', this.#onReadClose)
    this.#writable.off('error', this.#onWriteError).off('close', this.#onWriteClose)
    if (this.#leaveOpen) {
      this.#readable.pause()
      // The stream can still fail to write what it was given.
      if (!isSent) this.#writable.on('error', nothing)
      return
    }
    await Promise.all([this.#destroy(this.#readable), this.#destroy(this.#writable)])
  }

  async #destroy(stream: Readable | Writable): Promise<void> {
    stream.on('error', nothing)
    stream.destroy()
    if (!stream.closed) await this.#withTimeout(done => stream.once('close', done))
    // A stream that has not reported its close can still fail.
    if (stream.closed) stream.off('error', nothing)
  }
}

function closedWhile(doing: string, error?: Error): ChannelError {
  return error === undefined
    ? new ChannelError('closed', `${doing}: the stream closed`)
    : new ChannelError('closed', `${doing}: ${error.message}`, { cause: error })
}

function nothing(): void {}
