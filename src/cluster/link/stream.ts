import { type Deferred, deferred } from '../../util/promises.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { linkFrameKinds } from '../../wire/link-frames.ts'
import { LinkError } from './link-error.ts'
import type { LinkStream, StreamReceiver } from './link-stream.ts'
import type { LinkOutput } from './output.ts'

/** What a stream needs of its link. */
export interface LinkStreamHost {
  /** The output; undefined until the link is open. */
  readonly output: LinkOutput | undefined
  /** The bytes of one stream that this side accepts ahead of processing. */
  readonly creditBytes: number
  /** The data in one frame. */
  readonly dataBytes: number
  /** Removes a stream that has ended. */
  remove(stream: Stream): void
  /** Calls `write` of the stream when the system accepts data again. */
  waitForDrain(stream: Stream): void
}

/** One stream of a link. What is sent before the link is open, or without credit, waits here. */
export class Stream implements LinkStream {
  readonly id: number
  readonly #host: LinkStreamHost
  #receiver: StreamReceiver | undefined
  /** The batch that holds the frame by which this node opened the stream; -1 if there is none yet. */
  #openedIn = -1
  /** The bytes that may be sent. */
  #window = 0
  /** Heads and data that wait, in order, and how much of the first was sent. */
  readonly #waiting: (string | Uint8Array)[] = []
  #sentOfFirst = 0
  /** Resolves when nothing waits any more. */
  #room: Deferred<void> | undefined
  /** The bytes that the other node may still send, and those whose credit was not returned yet. */
  #expected: number
  #processed = 0
  #isEnding = false
  #hasSentEnd = false
  #hasReceivedEnd = false
  #isOver = false

  constructor(host: LinkStreamHost, id: number, receiver?: StreamReceiver) {
    this.#host = host
    this.id = id
    this.#receiver = receiver
    this.#expected = host.creditBytes
  }

  /** Sets the receiver of a stream that another node has opened. */
  set receiver(receiver: StreamReceiver) {
    if (!this.#isOver) this.#receiver = receiver
  }

  /** Whether the stream, or what opened it, may have reached the other node. */
  get isSent(): boolean {
    const { output } = this.#host
    return this.#openedIn !== -1 && output !== undefined && this.#openedIn < output.batch
  }

  /** Begins to send: the frame that opens the stream was added to the output. */
  begin(window: number): void {
    this.#openedIn = this.#host.output?.batch ?? -1
    this.#window = window
    this.write(Number.POSITIVE_INFINITY)
  }

  sendHead(head: string): void {
    if (this.#isEnding || this.#isOver) return
    this.#waiting.push(head)
    this.write(Number.POSITIVE_INFINITY)
  }

  send(data: Uint8Array): void | Promise<void> {
    const { length } = data
    if (this.#isEnding || this.#isOver || length === 0) return
    const { output, dataBytes } = this.#host
    const fits = length <= this.#window && length <= dataBytes && this.#waiting.length === 0
    if (fits && output !== undefined && !output.isFull) {
      this.#window -= length
      output.data(this.id, data, 0, length)
      return
    }
    this.#waiting.push(data)
    this.write(Number.POSITIVE_INFINITY)
    if (this.#waiting.length === 0) return
    this.#room ??= deferred()
    return this.#room.promise
  }

  end(): void {
    if (this.#isEnding || this.#isOver) return
    this.#isEnding = true
    this.write(Number.POSITIVE_INFINITY)
  }

  reset(reason: string): void {
    if (this.#isOver) return
    if (this.#openedIn !== -1) this.#host.output?.reset(this.id, reason)
    this.#finish()
  }

  /**
   * Sends what waits, at most this many frames of data, as far as there is credit. Returns whether it could send more
   * at once.
   */
  write(maxFrames: number): boolean {
    const { output, dataBytes } = this.#host
    if (this.#openedIn === -1 || output === undefined) return false
    let frames = 0
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (typeof first === 'string') {
        if (!this.#writeHead(output, first)) return false
        continue
      }
      const start = this.#sentOfFirst
      const size = Math.min(first.length - start, this.#window, dataBytes)
      if (size === 0) return false
      if (output.isFull) {
        this.#host.waitForDrain(this)
        return false
      }
      if (frames++ === maxFrames) return true
      this.#window -= size
      this.#sentOfFirst += size
      if (this.#sentOfFirst === first.length) {
        this.#waiting.shift()
        this.#sentOfFirst = 0
      }
      output.data(this.id, first, start, start + size)
    }
    this.#wrote(output)
    return false
  }

  /** The other node sent a head. */
  receiveHead(head: string): void {
    try {
      this.#receiver?.head?.(head)
    } catch (error) {
      this.#break(errorMessage(error))
    }
  }

  /** The other node sent data. */
  receiveData(bytes: Uint8Array): void {
    if (this.#isOver) return
    const { length } = bytes
    this.#expected -= length
    if (this.#hasReceivedEnd || this.#expected < 0) {
      this.#break(
        this.#hasReceivedEnd ? 'data came after the end' : 'more data came than the credit allows',
      )
      return
    }
    let outcome: void | Promise<void>
    try {
      outcome = this.#receiver?.data(bytes)
    } catch (error) {
      this.#break(errorMessage(error))
      return
    }
    if (outcome === undefined) this.#process(length)
    else
      outcome.then(
        () => this.#process(length),
        error => this.#break(errorMessage(error)),
      )
  }

  /** The other node has ended its direction. */
  receiveEnd(): void {
    if (this.#hasReceivedEnd) return
    this.#hasReceivedEnd = true
    try {
      this.#receiver?.end()
    } catch (error) {
      this.#break(errorMessage(error))
    }
    if (this.#hasSentEnd && !this.#isOver) this.#finish()
  }

  /** The other node allows more data. */
  receiveCredit(bytes: number): void {
    this.#window += bytes
    this.write(Number.POSITIVE_INFINITY)
  }

  /** Ends the stream early and tells its receiver. */
  fail(error: LinkError): void {
    const receiver = this.#receiver
    if (this.#isOver) return
    this.#finish()
    try {
      receiver?.failed(error)
    } catch {
      // The stream has ended, so there is nobody to report it to.
    }
  }

  #writeHead(output: LinkOutput, head: string): boolean {
    this.#waiting.shift()
    if (output.text(linkFrameKinds.head, this.id, head)) return true
    this.#break(`a head has more than ${output.maxFrameBytes} bytes`)
    return false
  }

  /** Everything that waited was sent. */
  #wrote(output: LinkOutput): void {
    this.#room?.resolve()
    this.#room = undefined
    if (!this.#isEnding || this.#hasSentEnd) return
    this.#hasSentEnd = true
    output.end(this.id)
    if (this.#hasReceivedEnd) this.#finish()
  }

  /** Data was processed. Credit is returned in large parts, because each costs a frame. */
  #process(bytes: number): void {
    this.#processed += bytes
    if (this.#isOver || this.#hasReceivedEnd || this.#processed * 2 < this.#host.creditBytes) return
    this.#expected += this.#processed
    this.#host.output?.credit(this.id, this.#processed)
    this.#processed = 0
  }

  /** Resets the stream on account of a mistake, of the other node or of the receiver. */
  #break(reason: string): void {
    if (this.#isOver) return
    this.#host.output?.reset(this.id, reason)
    this.fail(new LinkError('reset', reason))
  }

  #finish(): void {
    this.#isOver = true
    this.#waiting.length = 0
    this.#room?.resolve()
    this.#room = undefined
    this.#receiver = undefined
    this.#host.remove(this)
  }
}
