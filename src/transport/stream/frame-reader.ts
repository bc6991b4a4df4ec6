import { constants, isAscii, isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { ChannelError, type Envelope, type Sink } from '../../jsonrpc/channel.ts'
import { type DecodeOptions, decodeBy, tooLarge } from '../../jsonrpc/codec/decode.ts'
import { type DecodeRules, decodeRules } from '../../jsonrpc/codec/decode-rules.ts'
import { notJson } from '../../jsonrpc/codec/malformed.ts'
import { Repeats } from '../../jsonrpc/codec/repeated-meta.ts'
import type { Decoded, Malformed } from '../../jsonrpc/message.ts'
import type { FrameReader, FramingName } from '../../wire/frame.ts'
import { framing } from '../../wire/framing.ts'

export interface IntakeOptions {
  /** How messages are told apart; by default one per line. */
  readonly framing?: FramingName
  readonly decode?: DecodeOptions
  /** What follows a message over the size limit, once it was delivered as malformed. */
  readonly oversize?: 'continue' | 'close'
  /** What travels beside each message from this stream. */
  readonly envelope?: Envelope
  /** Decides on text that is no JSON at all; by default it is delivered as malformed. */
  readonly onJunk?: (malformed: Malformed) => 'drop' | 'deliver'
  /** Passes over a byte order mark at the very beginning instead of refusing it. */
  readonly skipBom?: boolean
}

/** Whom an intake tells of what is no arrival. */
export interface IntakeOwner {
  /** A chunk was worked off. */
  chunkDone(): void
  /** No arrival will follow. `cut` if that was decided here while bytes may still come. */
  over(cause?: ChannelError, cut?: boolean): void
}

/**
 * Reads arrivals from a stream and delivers them.
 *
 * The stream rests while promises that the sink returned are unsettled; what one chunk holds is
 * still delivered. Once it is over or stopped, further bytes are read and dropped, so that a peer
 * in the middle of writing can come to its end.
 */
export class Intake {
  readonly #readable: Readable
  readonly #owner: IntakeOwner
  readonly #options: IntakeOptions
  readonly #rules: DecodeRules
  readonly #repeats = new Repeats()
  readonly #envelope: Envelope
  readonly #frames: FrameReader
  #sink: Sink | undefined
  #unsettled = 0
  #atStart: boolean
  /** The bytes whose first frame has been looked at, and all of their text, where it was worth reading at once. */
  #chunk: Buffer | undefined
  #text = ''

  constructor(readable: Readable, owner: IntakeOwner, options: IntakeOptions) {
    this.#readable = readable
    this.#owner = owner
    this.#options = options
    this.#rules = decodeRules(options.decode)
    this.#envelope = { ...options.envelope, takesWritten: true }
    this.#atStart = options.skipBom ?? false
    this.#frames = framing(options.framing ?? 'lines').reader(
      {
        frame: (bytes, start, end) => this.#frame(bytes, start, end),
        oversize: () => this.#oversize(),
        broken: why => this.#broken(why),
      },
      // What is larger than a string can be is too large by any limit.
      Math.min(this.#rules.maxBytes, constants.MAX_STRING_LENGTH),
    )
  }

  start(sink: Sink): void {
    this.#sink = sink
    // A stream that was paused by hand does not flow again just because somebody listens.
    this.#readable.on('data', this.#onData).on('end', this.#onEnd).resume()
  }

  /** Delivers nothing more; bytes that still come are dropped. */
  stop(): void {
    if (this.#sink === undefined) return
    this.#sink = undefined
    if (this.#unsettled > 0) this.#readable.resume()
  }

  /** Takes its hands off the stream. */
  release(): void {
    this.stop()
    this.#readable.off('data', this.#onData).off('end', this.#onEnd)
  }

  #onData = (chunk: Uint8Array | string): void => {
    if (this.#sink === undefined) return
    this.#frames.push(asBuffer(chunk))
    this.#chunk = undefined
    this.#text = ''
    this.#owner.chunkDone()
  }

  #onEnd = (): void => {
    const truncated = this.#frames.end()
    this.#over(truncated ? new ChannelError('framing', 'reading: truncated frame') : undefined)
  }

  #frame(bytes: Uint8Array, start: number, end: number): void {
    if (this.#sink === undefined) return
    const buffer = asBuffer(bytes)
    const from = this.#atStart ? afterBom(buffer, start, end) : start
    this.#atStart = false
    this.#deliver(this.#decode(buffer, from, end), this.#options.onJunk)
  }

  #decode(buffer: Buffer, start: number, end: number): Decoded {
    if (buffer !== this.#chunk) {
      this.#chunk = buffer
      this.#text = hasMore(buffer, end) && isAscii(buffer) ? buffer.toString('latin1') : ''
    }
    if (this.#text !== '') return decodeBy(this.#text.slice(start, end), this.#rules, this.#repeats)
    const text = buffer.toString('utf8', start, end)
    // Broken bytes become U+FFFD; only where there is one can anything be wrong.
    if (text.includes('\ufffd')) {
      const bytes = buffer.subarray(start, end)
      if (!isUtf8(bytes)) return decodeBy(bytes, this.#rules)
    }
    return decodeBy(text, this.#rules, this.#repeats)
  }

  #oversize(): void {
    this.#deliver(tooLarge(this.#rules))
    if (this.#options.oversize === 'continue') return
    const cause = new ChannelError('too-large', `reading: over ${this.#rules.maxBytes} bytes`)
    this.#over(cause, true)
  }

  #broken(why: string): void {
    this.#deliver(notJson(why))
    this.#over(new ChannelError('framing', `reading: ${why}`), true)
  }

  #deliver(arrival: Decoded, onJunk?: IntakeOptions['onJunk']): void {
    try {
      if (onJunk !== undefined && isJunk(arrival) && onJunk(arrival) === 'drop') return
      const wait = this.#sink?.receive(arrival, this.#envelope)
      if (wait !== undefined) this.#rest(wait)
    } catch (cause) {
      this.#over(new ChannelError('closed', 'delivering: the receiver threw', { cause }), true)
    }
  }

  #rest(wait: Promise<void>): void {
    if (this.#unsettled++ === 0) this.#readable.pause()
    wait.then(this.#settled, this.#settled)
  }

  #settled = (): void => {
    if (--this.#unsettled === 0 && this.#sink !== undefined) this.#readable.resume()
  }

  #over(cause?: ChannelError, cut = false): void {
    if (this.#sink === undefined) return
    this.stop()
    this.#owner.over(cause, cut)
  }
}

/**
 * Whether several frames are likely to be found in what was read: then one call gives the text of all,
 * where every one of them may hold on to it. Not of any size, therefore.
 */
function hasMore({ length }: Buffer, end: number): boolean {
  return end + 1 < length && length <= 65_536
}

function isJunk(arrival: Decoded): arrival is Malformed {
  return arrival.type === 'invalid' && (arrival.reason === 'json' || arrival.reason === 'encoding')
}

function asBuffer(chunk: Uint8Array | string): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk
  return typeof chunk === 'string'
    ? Buffer.from(chunk)
    : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

function afterBom(buffer: Buffer, start: number, end: number): number {
  const isBom =
    end - start >= 3 &&
    buffer[start] === 0xef &&
    buffer[start + 1] === 0xbb &&
    buffer[start + 2] === 0xbf
  return isBom ? start + 3 : start
}
