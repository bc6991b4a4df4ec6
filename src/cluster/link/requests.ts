import type { Clock, Timer } from '../../util/time/clock.ts'
import { linkFrameKinds } from '../../wire/link-frames.ts'
import { LinkError } from './link-error.ts'
import type { LinkOutput } from './output.ts'

interface Pending {
  readonly text: string
  readonly resolve: (reply: string) => void
  readonly reject: (error: LinkError) => void
  readonly timer: Timer
  /** The batch that holds the request; -1 if it was not sent yet. */
  sentIn: number
}

/** The requests in flight of one link. */
export class LinkRequests {
  readonly #output: LinkOutput
  readonly #clock: Clock
  readonly #pending = new Map<number, Pending>()

  constructor(output: LinkOutput, clock: Clock) {
    this.#output = output
    this.#clock = clock
  }

  get size(): number {
    return this.#pending.size
  }

  has(id: number): boolean {
    return this.#pending.has(id)
  }

  /** Adds a request, which `send` sends. Rejects with a LinkError if no reply comes in time. */
  add(id: number, text: string, timeoutMs: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const expire = (): void => this.#fail(id, `no reply within ${timeoutMs} ms`)
      const timer = this.#clock.start(expire, timeoutMs)
      this.#pending.set(id, { text, resolve, reject, timer, sentIn: -1 })
    })
  }

  /** Sends a request. */
  send(id: number): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    pending.sentIn = this.#output.batch
    if (this.#output.text(linkFrameKinds.request, id, pending.text)) return
    const message = `the request has more than ${this.#output.maxFrameBytes} bytes`
    this.#take(id)?.reject(new LinkError('refused', message))
  }

  /** Sends all requests that were added before the link was open. */
  sendAll(): void {
    for (const id of [...this.#pending.keys()]) this.send(id)
  }

  /** The reply to a request came. One that comes too late is ignored. */
  replied(id: number, reply: string): void {
    this.#take(id)?.resolve(reply)
  }

  /** The other node could not answer. */
  reset(id: number, reason: string): void {
    this.#take(id)?.reject(new LinkError('reset', reason))
  }

  /** Fails all requests. `unsent` is the code for those that were never sent. */
  failAll(message: string, unsent: 'refused' | 'closed'): void {
    for (const id of [...this.#pending.keys()]) this.#fail(id, message, unsent)
  }

  #fail(id: number, message: string, unsent: 'refused' | 'closed' = 'refused'): void {
    const pending = this.#take(id)
    if (pending === undefined) return
    const isSent = pending.sentIn !== -1 && pending.sentIn < this.#output.batch
    pending.reject(new LinkError(isSent ? 'lost' : unsent, message))
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    if (pending === undefined) return undefined
    this.#pending.delete(id)
    this.#clock.stop(pending.timer)
    return pending
  }
}
