import { type Channel, ChannelError, type Envelope, type Sink } from '../jsonrpc/channel.ts'
import { type Batch, type Decoded, isList, type Message } from '../jsonrpc/message.ts'
import { Room } from './stream/room.ts'

/**
 * Two channels, each delivering what is sent on the other.
 *
 * Messages go over by reference and in order, later than the `send` and never inside it; everything
 * queued for one direction is delivered together. While a sink's promise is unsettled its direction
 * rests, and with more than 1024 messages waiting `send` asks to wait. Closing either side closes
 * both: what was sent before is delivered first, without regard to promises, so that closing takes
 * no time.
 */
export function memoryPair(): [Channel, Channel] {
  const there = new Lane()
  const back = new Lane()
  return [new Side(there, back), new Side(back, there)]
}

const highWater = 1024
const settled = Promise.resolve()
const envelope: Envelope = Object.freeze({})

class Side implements Channel {
  readonly #out: Lane
  readonly #in: Lane

  constructor(out: Lane, inward: Lane) {
    this.#out = out
    this.#in = inward
  }

  open(sink: Sink): void {
    this.#in.open(sink, cause => this.#end(cause))
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    if (this.#out.ended) throw new ChannelError('closed', 'sending: the channel is closed')
    return this.#out.put(isList(message) ? batchOf(message) : message)
  }

  async close(): Promise<void> {
    this.#end()
    // Both directions deliver their rest in microtasks that were queued before this one.
    await undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #end(cause?: Error): void {
    this.#out.end(cause)
    this.#in.end(cause)
  }
}

/** One direction: a queue and the sink at its end. */
class Lane {
  readonly #room = new Room()
  #queue: Decoded[] = []
  #head = 0
  #sink: Sink | undefined
  #failed: (cause: Error) => void = () => {}
  #resting = false
  #scheduled = false
  #told = false
  #cause: Error | undefined
  ended = false

  open(sink: Sink, failed: (cause: Error) => void): void {
    if (this.#sink !== undefined) throw new Error('the channel is open already')
    this.#sink = sink
    this.#failed = failed
    if (this.#queue.length > 0 || this.ended) this.#schedule()
  }

  put(arrival: Decoded): void | Promise<void> {
    this.#queue.push(arrival)
    if (this.#sink !== undefined && !this.#resting) this.#schedule()
    else if (this.#queue.length - this.#head > highWater) return this.#room.wait()
  }

  end(cause?: Error): void {
    if (this.ended) return
    this.ended = true
    this.#cause = cause
    this.#room.fail(new ChannelError('closed', 'waiting to send: the channel closed', { cause }))
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    // Cheaper than queueMicrotask, which makes an object for whoever traces asynchronous work.
    void settled.then(this.#drain)
  }

  #drain = (): void => {
    const sink = this.#sink
    if (sink !== undefined) this.#deliver(sink)
    this.#scheduled = false
    if (this.#queue.length - this.#head <= highWater) this.#room.clear()
    if (sink !== undefined && this.ended && !this.#told) {
      this.#told = true
      sink.closed(this.#cause)
    }
  }

  #deliver(sink: Sink): void {
    try {
      while (this.#head < this.#queue.length && (!this.#resting || this.ended)) {
        // The check: head is below length.
        const wait = sink.receive(this.#queue[this.#head++] as Decoded, envelope)
        if (wait !== undefined) this.#rest(wait)
      }
    } catch (cause) {
      this.#failed(new ChannelError('closed', 'delivering: the receiver threw', { cause }))
      this.#head = this.#queue.length
    }
    if (this.#head === this.#queue.length) {
      this.#queue = []
      this.#head = 0
    } else if (this.#head > highWater) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
  }

  #rest(wait: Promise<void>): void {
    this.#resting = true
    const resume = (): void => {
      this.#resting = false
      if (this.#head < this.#queue.length) this.#schedule()
    }
    wait.then(resume, resume)
  }
}

function batchOf(messages: readonly Message[]): Batch {
  if (messages.length === 0) throw new TypeError('a batch needs at least one message')
  return { type: 'batch', entries: messages }
}
