import { limits } from '../../util/limits/limits.ts'
import type { EventStream, HttpOutboundOptions } from '../exchange.ts'
import { type Flushable, writeBatch } from './write-batch.ts'

/** Where the text of an event stream is written: a fast response or a `ServerResponse`. */
export interface StreamOutput {
  /** Whether nothing more can be written. */
  readonly isFinished: boolean
  /** Bytes that were written and have not been sent yet. */
  readonly bufferedBytes: number
  /**
   * Writes a chunk of the stream, and before the first one the head of the response. Cuts the
   * connection of a client that stops reading, also after the last chunk. Never throws.
   */
  write(piece: StreamChunk): void
  /** Destroys the connection of the stream. */
  cut(): void
  /**
   * Calls `listener` whenever the buffer has drained, and when the connection closes, until the
   * returned function is called.
   */
  watch(listener: () => void): () => void
}

/** The text that is written to an event stream in one turn of the event loop. */
export interface StreamChunk {
  readonly text: string
  /** The size of the text in UTF-8. */
  readonly bytes: number
  readonly encoding: 'latin1' | 'utf8'
  readonly isFirst: boolean
  readonly isLast: boolean
}

/**
 * An event stream on a Node connection. Text written in one turn of the event loop is sent in one
 * write. Writers are asked to wait for a slow client, and the stream of one that is too slow is cut;
 * the output itself watches for a client that stops reading.
 */
export class NodeStream implements EventStream, Flushable {
  readonly #output: StreamOutput
  readonly #highWater: number
  readonly #maxBytes: number
  /** Text written in this turn of the event loop. */
  #text = ''
  #bytes = 0
  #isQueued = true
  /** Whether the head of the response has been written. */
  #isBegun = false
  #isEnded = false
  #room: Promise<void> | undefined

  constructor(output: StreamOutput, options: HttpOutboundOptions) {
    this.#output = output
    this.#highWater = options.highWaterBytes ?? limits.outboundHighWaterBytes.default
    this.#maxBytes = options.maxOutboundBytes ?? limits.outboundBytes.default
    // The head is sent in any case, together with the text that follows in this turn.
    writeBatch.add(this)
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  write(text: string): void | Promise<void> {
    const output = this.#output
    if (this.#isEnded || output.isFinished) return
    this.#text += text
    this.#bytes += Buffer.byteLength(text)
    this.#queue()
    if (this.#bytes + output.bufferedBytes <= this.#highWater) return
    this.#writeOut()
    const waiting = output.bufferedBytes
    if (waiting > this.#maxBytes) output.cut()
    else if (waiting > this.#highWater) return this.#wait()
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#queue()
  }

  flush(): void {
    this.#isQueued = false
    this.#writeOut()
  }

  #queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    writeBatch.add(this)
  }

  #writeOut(): void {
    const text = this.#text
    const bytes = this.#bytes
    const isFirst = !this.#isBegun
    this.#text = ''
    this.#bytes = 0
    this.#isBegun = true
    if (this.#output.isFinished) return
    // ASCII is the same in Latin-1, which Node copies without encoding.
    const encoding = bytes === text.length ? 'latin1' : 'utf8'
    this.#output.write({ text, bytes, encoding, isFirst, isLast: this.#isEnded })
  }

  #wait(): Promise<void> {
    this.#room ??= new Promise(resolve => {
      const done = (): void => {
        unwatch()
        this.#room = undefined
        resolve()
      }
      const unwatch = this.#output.watch(done)
    })
    return this.#room
  }
}
