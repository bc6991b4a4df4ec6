import { constants, isAscii, isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { ChannelError, type Envelope, type Sink } from '../../jsonrpc/channel.ts'
import { type DecodeOptions, decodeBy, tooLarge } from '../../jsonrpc/codec/decode.ts'
import { type DecodeRules, decodeRules } from '../../jsonrpc/codec/decode-rules.ts'
import { noRoom, notJson } from '../../jsonrpc/codec/malformed.ts'
import { MetaCache } from '../../jsonrpc/codec/meta-cache.ts'
import type { Decoded, Malformed } from '../../jsonrpc/message.ts'
import type { HeldBytes } from '../../util/sockets/held-bytes.ts'
import { IncomingBytes } from '../../util/sockets/incoming-bytes.ts'
import type { FrameReader, FramingName } from '../../wire/frame.ts'
import { framing } from '../../wire/framing.ts'

/** Options for reading messages from a byte stream. */
export interface MessageReaderOptions {
  /** The framing; `lines` by default. */
  readonly framing?: FramingName
  /** Limits and rules for decoding messages. */
  readonly decode?: DecodeOptions
  /**
   * Whether to continue or to close after a message over the size limit, which is delivered as
   * malformed.
   */
  readonly oversize?: 'continue' | 'close'
  /** The envelope of each message from this stream. */
  readonly envelope?: Envelope
  /** Decides whether a frame that is not JSON is dropped; by default it is delivered as malformed. */
  readonly onJunk?: (malformed: Malformed) => 'drop' | 'deliver'
  /** Whether a byte order mark at the beginning of the stream is skipped instead of rejected. */
  readonly skipBom?: boolean
  /**
   * Bytes after which reading rests until the next turn of the event loop, so that a peer that floods
   * this process does not keep others waiting; unlimited by default.
   */
  readonly turnBytes?: number
  /** @internal Counts incomplete messages; while there is no room for more, reading waits, then the stream ends. */
  readonly held?: HeldBytes
}

/** Callbacks of a MessageReader. */
export interface MessageReaderOwner {
  /** A chunk has been read completely. */
  chunkDone(): void
  /** No message follows. `cut` if the reader stopped while bytes may still arrive. */
  ended(cause?: ChannelError, cut?: boolean): void
}

/**
 * Reads messages from a byte stream and delivers them to a sink.
 *
 * The stream is paused while promises of the sink are pending; the rest of the current chunk is still
 * delivered. Once the reader has ended or was stopped, further bytes are read and dropped, so that a
 * peer in the middle of a write can finish it.
 */
export class MessageReader {
  readonly #readable: Readable
  readonly #owner: MessageReaderOwner
  readonly #options: MessageReaderOptions
  readonly #rules: DecodeRules
  readonly #metaCache = new MetaCache()
  readonly #envelope: Envelope
  readonly #frames: FrameReader
  readonly #incoming: IncomingBytes | undefined
  /** Ends the pause in which the budget has no room. */
  #roomFound: () => void = nothing
  readonly #turnBytes: number
  #readBytes = 0
  #sink: Sink | undefined
  #unsettled = 0
  #atStart: boolean
  /** The current chunk, and its whole text if it was decoded at once. */
  #chunk: Buffer | undefined
  #text = ''

  constructor(readable: Readable, owner: MessageReaderOwner, options: MessageReaderOptions) {
    this.#readable = readable
    this.#owner = owner
    this.#options = options
    this.#rules = decodeRules(options.decode)
    this.#envelope = { ...options.envelope, acceptsRaw: true }
    this.#atStart = options.skipBom ?? false
    this.#incoming = options.held && this.#countedBy(options.held)
    this.#turnBytes = options.turnBytes ?? Number.POSITIVE_INFINITY
    this.#frames = framing(options.framing ?? 'lines').reader(
      {
        frame: (bytes, start, end) => this.#frame(bytes, start, end),
        oversize: () => this.#oversize(),
        broken: reason => this.#broken(reason),
      },
      // A frame that is longer than a string can be is too large by any limit.
      Math.min(this.#rules.maxBytes, constants.MAX_STRING_LENGTH),
    )
  }

  /** Starts delivery to `sink`. */
  start(sink: Sink): void {
    this.#sink = sink
    // A listener alone does not resume a stream that was paused explicitly.
    this.#readable.on('data', this.#onData).on('end', this.#onEnd).resume()
  }

  /** Stops delivery; bytes that still arrive are dropped. */
  stop(): void {
    if (this.#sink === undefined) return
    this.#sink = undefined
    this.#incoming?.clear()
    if (this.#unsettled > 0) this.#readable.resume()
  }

  /** Removes all listeners from the stream. */
  release(): void {
    this.stop()
    this.#readable.off('data', this.#onData).off('end', this.#onEnd)
  }

  #onData = (chunk: Uint8Array | string): void => {
    const turns = this.#options.held?.turns
    if (turns?.isOpen === false) {
      const { length } = chunk
      this.#pause(new Promise(resolve => turns.defer(length, () => resolve(this.#read(chunk)))))
      return
    }
    turns?.spend(chunk.length)
    this.#read(chunk)
  }

  #read(chunk: Uint8Array | string): void {
    if (this.#sink === undefined) return
    this.#frames.push(asBuffer(chunk))
    this.#chunk = undefined
    this.#text = ''
    this.#count(this.#frames.buffered)
    this.#owner.chunkDone()
    this.#readBytes += chunk.length
    if (this.#readBytes >= this.#turnBytes && this.#sink !== undefined) this.#rest()
  }

  /** Not counted per turn, which would need a callback in each: what matters is that a flood rests. */
  #rest(): void {
    this.#readBytes = 0
    this.#pause(new Promise(resolve => setImmediate(resolve)))
  }

  #onEnd = (): void => {
    const truncated = this.#frames.end()
    this.#end(truncated ? new ChannelError('framing', 'reading: truncated frame') : undefined)
  }

  #frame(bytes: Uint8Array, start: number, end: number): void {
    if (this.#sink === undefined) return
    const buffer = asBuffer(bytes)
    const from = this.#atStart ? afterBom(buffer, start, end) : start
    this.#atStart = false
    this.#deliver(this.#decode(buffer, from, end), this.#options.onJunk, end - from)
  }

  #decode(buffer: Buffer, start: number, end: number): Decoded {
    if (buffer !== this.#chunk) {
      this.#chunk = buffer
      this.#text = hasMore(buffer, end) && isAscii(buffer) ? buffer.toString('latin1') : ''
    }
    if (this.#text !== '')
      return decodeBy(this.#text.slice(start, end), this.#rules, this.#metaCache)
    const text = buffer.toString('utf8', start, end)
    // Invalid bytes become U+FFFD, so without one the text is valid.
    if (text.includes('\ufffd')) {
      const bytes = buffer.subarray(start, end)
      if (!isUtf8(bytes)) return decodeBy(bytes, this.#rules)
    }
    return decodeBy(text, this.#rules, this.#metaCache)
  }

  #oversize(): void {
    this.#deliver(tooLarge(this.#rules))
    if (this.#options.oversize === 'continue') return
    const cause = new ChannelError('too-large', `reading: over ${this.#rules.maxBytes} bytes`)
    this.#end(cause, true)
  }

  #count(bytes: number): void {
    if (bytes === 0) this.#incoming?.clear()
    else this.#incoming?.set(bytes, this.#rules.maxBytes)
  }

  #countedBy(held: HeldBytes): IncomingBytes {
    return new IncomingBytes(held, {
      pause: () =>
        this.#pause(
          new Promise(resolve => {
            this.#roomFound = resolve
          }),
        ),
      proceed: () => this.#roomFound(),
      refuse: () => this.#noRoom(),
    })
  }

  #noRoom(): void {
    this.#deliver(noRoom)
    this.#frames.end()
    this.#end(new ChannelError('too-many', `reading: ${noRoom.detail}`), true)
    // What is read to be dropped takes memory, too, until it is collected.
    this.#readable.pause()
  }

  #broken(reason: string): void {
    this.#deliver(notJson(reason))
    this.#end(new ChannelError('framing', `reading: ${reason}`), true)
  }

  #deliver(arrival: Decoded, onJunk?: MessageReaderOptions['onJunk'], bytes?: number): void {
    try {
      if (onJunk !== undefined && isJunk(arrival) && onJunk(arrival) === 'drop') return
      const wait = this.#sink?.receive(arrival, this.#envelope, bytes)
      if (wait !== undefined) this.#pause(wait)
    } catch (cause) {
      this.#end(new ChannelError('closed', 'delivering: the receiver threw', { cause }), true)
    }
  }

  #pause(wait: Promise<void>): void {
    if (this.#unsettled++ === 0) this.#readable.pause()
    wait.then(this.#settled, this.#settled)
  }

  #settled = (): void => {
    if (--this.#unsettled === 0 && this.#sink !== undefined) this.#readable.resume()
  }

  #end(cause?: ChannelError, cut = false): void {
    if (this.#sink === undefined) return
    this.stop()
    this.#owner.ended(cause, cut)
  }
}

/**
 * Whether the chunk probably holds several frames: then one call decodes the text of all of them.
 * Limited in size, because a slice of any of them keeps the whole text alive.
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

function nothing(): void {}
