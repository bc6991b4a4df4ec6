import { type Channel, ChannelError, type Envelope, type Sink } from '../jsonrpc/channel.ts'
import { type Batch, type Decoded, isList, type Message } from '../jsonrpc/message.ts'
import { DrainSignal } from './stream/backpressure.ts'

/**
 * Makes two connected channels in this process: each delivers the messages sent on the other.
 *
 * Messages are passed by reference and in order, never inside `send`; everything queued for one
 * direction is delivered together. While a promise of a sink is pending, its direction pauses, and with
 * more than 1024 messages queued `send` returns a promise. Closing either channel closes both: messages
 * sent before are delivered first, regardless of pending promises, so that closing takes no time. A
 * request is delivered with the envelope of the caller that it was sent with.
 */
export function memoryPair(): [Channel, Channel] {
  const forth = new Direction()
  const back = new Direction()
  return [new MemoryChannel(forth, back), new MemoryChannel(back, forth)]
}

const highWater = 1024
const resolved = Promise.resolve()
const envelope: Envelope = Object.freeze({})

class MemoryChannel implements Channel {
  readonly #out: Direction
  readonly #in: Direction

  constructor(out: Direction, inward: Direction) {
    this.#out = out
    this.#in = inward
  }

  open(sink: Sink): void {
    this.#in.open(sink, cause => this.#end(cause))
  }

  send(message: Message | readonly Message[], sent?: Envelope): void | Promise<void> {
    if (this.#out.ended) throw new ChannelError('closed', 'sending: the channel is closed')
    if (isList(message)) return this.#out.put(batchOf(message))
    if (sent?.isOfCaller === true && message.type === 'request') {
      this.#out.envelopes ??= new WeakMap()
      this.#out.envelopes.set(message, sent)
    }
    return this.#out.put(message)
  }

  async close(): Promise<void> {
    this.#end()
    // Both directions deliver the rest in microtasks that were queued before this one.
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

/** One direction: a queue and the sink that it delivers to. */
class Direction {
  readonly #drained = new DrainSignal()
  #queue: Decoded[] = []
  #head = 0
  #sink: Sink | undefined
  #failed: (cause: Error) => void = () => {}
  #isPaused = false
  #scheduled = false
  #isNotified = false
  #cause: Error | undefined
  ended = false
  /** The envelopes of requests that were sent with one. */
  envelopes: WeakMap<Decoded, Envelope> | undefined

  open(sink: Sink, failed: (cause: Error) => void): void {
    if (this.#sink !== undefined) throw new Error('the channel is open already')
    this.#sink = sink
    this.#failed = failed
    if (this.#queue.length > 0 || this.ended) this.#schedule()
  }

  put(arrival: Decoded): void | Promise<void> {
    this.#queue.push(arrival)
    if (this.#sink !== undefined && !this.#isPaused) this.#schedule()
    else if (this.#queue.length - this.#head > highWater) return this.#drained.wait()
  }

  end(cause?: Error): void {
    if (this.ended) return
    this.ended = true
    this.#cause = cause
    this.#drained.fail(new ChannelError('closed', 'waiting to send: the channel closed', { cause }))
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    // Cheaper than queueMicrotask, which allocates an async resource.
    void resolved.then(this.#drain)
  }

  #drain = (): void => {
    const sink = this.#sink
    if (sink !== undefined) this.#deliver(sink)
    this.#scheduled = false
    if (this.#queue.length - this.#head <= highWater) this.#drained.clear()
    if (sink !== undefined && this.ended && !this.#isNotified) {
      this.#isNotified = true
      sink.closed(this.#cause)
    }
  }

  #deliver(sink: Sink): void {
    try {
      while (this.#head < this.#queue.length && (!this.#isPaused || this.ended)) {
        // The check: head is less than length.
        const arrival = this.#queue[this.#head++] as Decoded
        const wait = sink.receive(arrival, this.envelopes?.get(arrival) ?? envelope)
        if (wait !== undefined) this.#pause(wait)
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

  #pause(wait: Promise<void>): void {
    this.#isPaused = true
    const resume = (): void => {
      this.#isPaused = false
      if (this.#head < this.#queue.length) this.#schedule()
    }
    wait.then(resume, resume)
  }
}

function batchOf(messages: readonly Message[]): Batch {
  if (messages.length === 0) throw new TypeError('a batch needs at least one message')
  return { type: 'batch', entries: messages }
}
