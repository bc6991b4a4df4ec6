import { isRecord } from '../../../util/objects.ts'

/** Any JSON object received from the server. */
export type MessageObject = Readonly<Record<string, unknown>>

/** A received message. */
export interface ReceivedMessage {
  readonly type: 'message'
  readonly message: MessageObject
}

/** An HTTP response without a message. */
export interface BareHttpResponse {
  readonly type: 'http'
  readonly status: number
  readonly mediaType: string
  readonly text: string
}

/** No match arrived in time. */
export interface TimedOut {
  readonly type: 'timeout'
  readonly ms: number
}

/** The wire is closed. */
export interface Closed {
  readonly type: 'closed'
  readonly reason: string
}

/** What can arrive on a wire. */
export type WireEvent = ReceivedMessage | BareHttpResponse

/** The result of `IncomingQueue.take`. */
export type TakeResult = WireEvent | TimedOut | Closed

/** A connection that sends arbitrary text, including messages that no client would send. */
export interface Wire {
  readonly incoming: IncomingQueue
  /** Sends a text as one message. Resolves when it is written; over HTTP, when the response has arrived. */
  send(text: string, headers?: Readonly<Record<string, string>>): Promise<void>
  /** Closes the wire in any state. Idempotent; never rejects. */
  close(): Promise<void>
}

/** Queues what arrives on a wire until it is taken. */
export class IncomingQueue {
  #queue: WireEvent[] = []
  #closedReason: string | undefined
  #wake: (() => void) | undefined
  /** Receives the requests of the server; they are not queued. */
  onRequest: ((message: MessageObject) => void) | undefined

  /** Why the wire is closed; undefined while it is open. */
  get closedReason(): string | undefined {
    return this.#closedReason
  }

  push(arrival: WireEvent): void {
    if (arrival.type === 'message' && 'method' in arrival.message && 'id' in arrival.message) {
      this.onRequest?.(arrival.message)
      return
    }
    this.#queue.push(arrival)
    this.#wake?.()
  }

  /** Queues a message or the messages of a batch. Returns false if the text is neither. */
  pushText(text: string): boolean {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return false
    }
    const messages = Array.isArray(value) ? value : [value]
    if (!messages.every(isRecord) || messages.length === 0) return false
    for (const message of messages) this.push({ type: 'message', message })
    return true
  }

  /** Ends the queue; the first reason counts. */
  close(reason: string): void {
    this.#closedReason ??= reason
    this.#wake?.()
  }

  /** Discards everything in the queue. */
  clear(): void {
    this.#queue = []
  }

  /** Takes the first match from the queue, or waits up to `ms` for one. Supports one waiting caller at a time. */
  async take(matches: (arrival: WireEvent) => boolean, ms: number): Promise<TakeResult> {
    const until = performance.now() + ms
    for (;;) {
      const at = this.#queue.findIndex(matches)
      const [found] = at === -1 ? [] : this.#queue.splice(at, 1)
      if (found !== undefined) return found
      if (this.#closedReason !== undefined) return { type: 'closed', reason: this.#closedReason }
      const left = until - performance.now()
      if (left <= 0) return { type: 'timeout', ms }
      await this.#next(left)
    }
  }

  #next(ms: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
