import type { Deadlines, Link, Timed } from '../util/deadline.ts'
import { limits } from '../util/limits.ts'
import { ChannelError } from './channel.ts'
import type { ErrorObject, Id, Malformed, RpcFailure, RpcResult } from './message.ts'

/**
 * Why a reply found no call: `late` for a call given up before, `duplicate` for one answered before,
 * `foreign` for an id never given out, `orphan` for an error without an id.
 */
export type StrayReason = 'late' | 'duplicate' | 'foreign' | 'orphan'

/** A call that waits for its reply. Settled exactly once. */
export class Call implements Timed {
  readonly id: Id
  readonly method: string
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  readonly #onExpire: (call: Call) => void
  previous: Link | undefined
  next: Link | undefined
  /** Undoes what was set up for this call alone, such as listening to its signal. */
  release: (() => void) | undefined

  constructor(
    id: Id,
    method: string,
    resolve: (result: unknown) => void,
    reject: (error: unknown) => void,
    onExpire: (call: Call) => void,
  ) {
    this.id = id
    this.method = method
    this.resolve = resolve
    this.reject = reject
    this.#onExpire = onExpire
  }

  expire(): void {
    this.#onExpire(this)
  }
}

export interface PendingOptions {
  readonly deadlines: Deadlines
  readonly fromWire: (error: ErrorObject) => Error
  /** Whether an id was ever given out, as far as anyone knows. */
  readonly mayHaveGiven: (id: Id) => boolean
}

/** The calls of one peer that wait for their replies. Knows no channel. */
export class Pending {
  readonly #calls = new Map<Id, Call>()
  readonly #options: PendingOptions
  /** Calls given up, oldest first: a reply to one of these is late, not wrong. */
  readonly #abandoned = new Set<Id>()

  constructor(options: PendingOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#calls.size
  }

  has(id: Id): boolean {
    return this.#calls.has(id)
  }

  add(call: Call, timeoutMs: number): void {
    this.#calls.set(call.id, call)
    if (timeoutMs > 0 && timeoutMs !== Number.POSITIVE_INFINITY) {
      this.#options.deadlines.start(call, timeoutMs)
    }
  }

  /** Settles the call a reply belongs to, or tells why there is none. */
  settle(reply: RpcResult | RpcFailure | Malformed): StrayReason | undefined {
    if (reply.id === null) return 'orphan'
    const call = this.#take(reply.id)
    if (call === undefined) return this.#stray(reply.id)
    if (reply.type === 'result') call.resolve(reply.result)
    else if (reply.type === 'error') call.reject(this.#options.fromWire(reply.error))
    else {
      const what = `the reply to ${call.method} is no reply: ${reply.detail}`
      call.reject(new ChannelError('framing', what))
    }
    return undefined
  }

  /** Stops waiting: its reply, should it come, is late. Returns false if it was settled before. */
  abandon(call: Call): boolean {
    if (this.#take(call.id) === undefined) return false
    if (this.#abandoned.size >= limits.abandonedIds.default) {
      for (const oldest of this.#abandoned) {
        this.#abandoned.delete(oldest)
        break
      }
    }
    this.#abandoned.add(call.id)
    return true
  }

  /** Rejects a call that could not be made after all. */
  fail(id: Id, error: unknown): void {
    this.#take(id)?.reject(error)
  }

  failAll(error: Error): void {
    for (const call of [...this.#calls.values()]) {
      this.#take(call.id)
      call.reject(error)
    }
  }

  #take(id: Id): Call | undefined {
    const call = this.#calls.get(id)
    if (call === undefined) return undefined
    this.#calls.delete(id)
    this.#options.deadlines.stop(call)
    call.release?.()
    return call
  }

  #stray(id: Id): StrayReason {
    if (this.#abandoned.delete(id)) return 'late'
    return this.#options.mayHaveGiven(id) ? 'duplicate' : 'foreign'
  }
}
