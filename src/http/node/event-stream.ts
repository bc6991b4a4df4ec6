import { limits } from '../../util/limits/limits.ts'
import { systemDeadlines, timed } from '../../util/time/deadline.ts'
import type { EventStream, OutboundOptions } from '../exchange.ts'
import { departures, type Outgoing } from './write-batch.ts'

/** What carries the text of an event stream to its reader. */
export interface StreamWay {
  /** Whether nothing can be carried any more. */
  readonly isOver: boolean
  /** Bytes that were passed and have not left yet. */
  readonly waitingBytes: number
  /** Passes on a piece of the stream; the head of the answer goes ahead of the first. Never throws. */
  pass(piece: StreamPiece): void
  /** Cuts the stream off. */
  cut(): void
  /**
   * Calls `listener` whenever everything that waited has left, and when it never will, until the returned
   * function is called.
   */
  watch(listener: () => void): () => void
}

/** A part of an event stream as it goes out. */
export interface StreamPiece {
  readonly text: string
  /** The size of the text. */
  readonly bytes: number
  readonly encoding: 'latin1' | 'utf8'
  readonly isFirst: boolean
  readonly isLast: boolean
}

/**
 * An event stream on a connection of Node's. What is written in one turn of the event loop leaves
 * together. Writers are asked to wait for a slow reader, and one that stops reading is cut off.
 */
export class NodeStream implements EventStream, Outgoing {
  readonly #way: StreamWay
  readonly #high: number
  readonly #most: number
  readonly #stallMs: number
  /** What was written in this turn of the event loop. */
  #text = ''
  #bytes = 0
  #isQueued = true
  /** Whether the head of the answer has been passed. */
  #isBegun = false
  #isEnded = false
  #room: Promise<void> | undefined

  constructor(way: StreamWay, options: OutboundOptions) {
    this.#way = way
    this.#high = options.highWaterBytes ?? limits.outboundHighWaterBytes.default
    this.#most = options.maxOutboundBytes ?? limits.outboundBytes.default
    this.#stallMs = options.stallMs ?? limits.stallMs.default
    // The head leaves in any case, and whatever follows in this turn with it.
    departures.add(this)
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  write(text: string): void | Promise<void> {
    const way = this.#way
    if (this.#isEnded || way.isOver) return
    this.#text += text
    this.#bytes += Buffer.byteLength(text)
    this.#queue()
    if (this.#bytes + way.waitingBytes <= this.#high) return
    this.#pass()
    const waiting = way.waitingBytes
    if (waiting > this.#most) way.cut()
    else if (waiting > this.#high) return this.#wait()
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#queue()
  }

  leave(): void {
    this.#isQueued = false
    this.#pass()
  }

  #queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    departures.add(this)
  }

  #pass(): void {
    const text = this.#text
    const bytes = this.#bytes
    const isFirst = !this.#isBegun
    this.#text = ''
    this.#bytes = 0
    this.#isBegun = true
    if (this.#way.isOver) return
    // Plain ASCII can be copied as it is.
    const encoding = bytes === text.length ? 'latin1' : 'utf8'
    this.#way.pass({ text, bytes, encoding, isFirst, isLast: this.#isEnded })
  }

  #wait(): Promise<void> {
    this.#room ??= new Promise(resolve => {
      const way = this.#way
      const stalled = timed(() => way.cut())
      const over = (): void => {
        systemDeadlines.stop(stalled)
        unwatch()
        this.#room = undefined
        resolve()
      }
      systemDeadlines.start(stalled, this.#stallMs)
      const unwatch = way.watch(over)
    })
    return this.#room
  }
}
