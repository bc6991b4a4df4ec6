import { limits } from '../../util/limits/limits.ts'
import type { Deadlines, Link, Timed } from '../../util/time/deadline.ts'
import { ChannelError } from '../channel.ts'
import type { ErrorObject, Id, Malformed, RpcFailure, RpcResult } from '../message.ts'
import { IdTable } from './id-table.ts'
import type { Sender } from './send-queue.ts'

/**
 * Why a reply found no call: `late` for a call given up before, `duplicate` for one answered before,
 * `foreign` for an id never given out, `orphan` for an error without an id.
 */
export type StrayReason = 'late' | 'duplicate' | 'foreign' | 'orphan'

/** Whoever waits for the outcome of a call. Told exactly once, and inside whatever settles it. */
export interface Waiter {
  /** Whether members of a result that were not read may stay as text. */
  readonly takesWritten?: boolean
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** What becomes of a call when it does not end by its reply. */
export interface CallHandlers {
  expire(call: Call): void
  failed(call: Call, error: unknown): void
}

/** A call that waits for its reply. Settled exactly once. */
export class Call implements Timed, Sender {
  readonly id: Id
  readonly method: string
  readonly waiter: Waiter
  /** The calls that went out in the same batch, this one among them. */
  readonly group: readonly Call[] | undefined
  readonly #handlers: CallHandlers
  previous: Link | undefined
  next: Link | undefined
  isSent = false
  isSettled = false
  /** Undoes what was set up for this call alone, such as listening to its signal. */
  release: (() => void) | undefined

  constructor(
    id: Id,
    method: string,
    waiter: Waiter,
    handlers: CallHandlers,
    group?: readonly Call[],
  ) {
    this.id = id
    this.method = method
    this.waiter = waiter
    this.#handlers = handlers
    this.group = group
  }

  begins(): boolean {
    this.isSent = !this.isSettled
    return this.isSent
  }

  failed(error: unknown): void {
    this.#handlers.failed(this, error)
  }

  expire(): void {
    this.#handlers.expire(this)
  }
}

function resultFor({ takesWritten }: Waiter, reply: RpcResult): unknown {
  return (takesWritten === true ? reply.written : undefined) ?? reply.result
}

export interface PendingOptions {
  readonly deadlines: Deadlines
  readonly fromWire: (error: ErrorObject) => Error
  /** Whether an id was ever given out, as far as anyone knows. */
  readonly mayHaveGiven: (id: Id) => boolean
}

/** The calls of one peer that wait for their replies. Knows no channel. */
export class Pending {
  readonly #calls = new IdTable<Call>()
  readonly #options: PendingOptions
  /** Calls given up, oldest first: a reply to one of these is late, not wrong. */
  #abandoned: Set<Id> | undefined

  constructor(options: PendingOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#calls.size
  }

  /** The ids of calls that have been sent. */
  sent(): Id[] {
    return this.#calls
      .values()
      .filter(call => call.isSent)
      .map(call => call.id)
  }

  get(id: Id): Call | undefined {
    return this.#calls.get(id)
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
    if (reply.id === null) return this.#settleSole(reply) ? undefined : 'orphan'
    const call = this.#take(reply.id)
    if (call === undefined) return this.#stray(reply.id)
    if (reply.type === 'result') call.waiter.resolve(resultFor(call.waiter, reply))
    else if (reply.type === 'error') call.waiter.reject(this.#options.fromWire(reply.error))
    else {
      const what = `the reply to ${call.method} is no reply: ${reply.detail}`
      call.waiter.reject(new ChannelError('framing', what))
    }
    return undefined
  }

  /** Stops waiting: its reply, should it come, is late. Returns false if it was settled before. */
  abandon(call: Call): boolean {
    if (this.#take(call.id) === undefined) return false
    this.#abandoned ??= new Set()
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
    this.#take(id)?.waiter.reject(error)
  }

  failAll(errorOf: (method: string) => Error): void {
    for (const call of this.#calls.values()) {
      this.#take(call.id)
      call.waiter.reject(errorOf(call.method))
    }
  }

  /**
   * An error without an id answers something whose id could not be read. Where only one message of
   * ours is unanswered, it is that one, and waiting on would only end in a timeout.
   */
  #settleSole(reply: RpcResult | RpcFailure | Malformed): boolean {
    if (reply.type !== 'error') return false
    const [first] = this.#calls.values()
    if (first === undefined || !first.isSent) return false
    for (const call of this.#calls.values()) {
      if (call !== first && (first.group === undefined || call.group !== first.group)) return false
    }
    for (const call of this.#calls.values()) this.fail(call.id, this.#options.fromWire(reply.error))
    return true
  }

  #take(id: Id): Call | undefined {
    const call = this.#calls.get(id)
    if (call === undefined) return undefined
    this.#calls.delete(id)
    call.isSettled = true
    this.#options.deadlines.stop(call)
    call.release?.()
    return call
  }

  #stray(id: Id): StrayReason {
    if (this.#abandoned?.delete(id)) return 'late'
    return this.#options.mayHaveGiven(id) ? 'duplicate' : 'foreign'
  }
}
