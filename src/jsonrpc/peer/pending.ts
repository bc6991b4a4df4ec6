import { limits } from '../../util/limits/limits.ts'
import type { Deadlines, Link, Timed } from '../../util/time/deadline.ts'
import { ChannelError } from '../channel.ts'
import type { ErrorObject, Id, Malformed, RpcFailure, RpcResult } from '../message.ts'
import { IdTable } from './id-table.ts'
import type { SendHandler } from './send-queue.ts'

/**
 * Why a reply matches no pending call: `late` for a call that was abandoned, `duplicate` for one that
 * was answered before, `foreign` for an id that was never issued, `orphan` for an error without an id,
 * even if it has rejected the only call in flight.
 */
export type StrayReason = 'late' | 'duplicate' | 'foreign' | 'orphan'

/**
 * Receives the outcome of a call: exactly one of its methods is called, once, synchronously by the code
 * that settles the call.
 */
export interface ReplyHandler {
  /** Whether the result may contain raw JSON that was never parsed. */
  readonly acceptsRaw?: boolean
  /** The peer has returned a result. */
  resolve(result: unknown): void
  /** The call failed, or the peer has returned an error. */
  reject(error: unknown): void
}

/** Callbacks for a call that ends without a reply. */
export interface CallHandlers {
  /** The timeout of the call has expired. */
  expire(call: Call): void
  /** The request could not be sent. */
  sendFailed(call: Call, error: unknown): void
}

/** A call that waits for its reply. Settles exactly once. */
export class Call implements Timed, SendHandler {
  readonly id: Id
  readonly method: string
  readonly handler: ReplyHandler
  /** The calls of the same batch, including this one. */
  readonly group: readonly Call[] | undefined
  readonly #handlers: CallHandlers
  previous: Link | undefined
  next: Link | undefined
  /** The timeout in milliseconds; 0 for none. */
  timeoutMs = 0
  isSent = false
  isSettled = false
  /** Releases the resources of this call, such as the listener on its signal. */
  release: (() => void) | undefined

  constructor(
    id: Id,
    method: string,
    handler: ReplyHandler,
    handlers: CallHandlers,
    group?: readonly Call[],
  ) {
    this.id = id
    this.method = method
    this.handler = handler
    this.#handlers = handlers
    this.group = group
  }

  beforeSend(): boolean {
    this.isSent = !this.isSettled
    return this.isSent
  }

  sendFailed(error: unknown): void {
    this.#handlers.sendFailed(this, error)
  }

  expire(): void {
    this.#handlers.expire(this)
  }
}

function resultFor({ acceptsRaw }: ReplyHandler, reply: RpcResult): unknown {
  return (acceptsRaw === true ? reply.raw : undefined) ?? reply.result
}

/** The parts that the pending calls of a peer need. */
export interface PendingOptions {
  readonly deadlines: Deadlines
  readonly fromWire: (error: ErrorObject) => Error
  /** Whether an id may have been issued before. */
  readonly mayHaveIssued: (id: Id) => boolean
}

/** The calls of a peer that wait for their replies. Independent of the channel. */
export class Pending {
  readonly #calls = new IdTable<Call>()
  readonly #options: PendingOptions
  /** Ids of abandoned calls, oldest first: a reply to one of these is late, not wrong. */
  #abandoned: Set<Id> | undefined
  /** Ids of calls that settled without having been sent, oldest first. */
  #unsent: Set<Id> | undefined
  #isSuspended = false

  constructor(options: PendingOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#calls.size
  }

  /** Returns the ids of pending calls that have been sent. */
  sent(): Id[] {
    return this.#calls
      .values()
      .filter(call => call.isSent)
      .map(call => call.id)
  }

  /**
   * Whether the channel accepted the request with this id, pending or settled. A request that it
   * rejected, returned or never received has provably not been executed.
   */
  wasSent(id: Id): boolean {
    const call = this.#calls.get(id)
    return call === undefined ? this.#unsent?.has(id) !== true : call.isSent
  }

  get(id: Id): Call | undefined {
    return this.#calls.get(id)
  }

  has(id: Id): boolean {
    return this.#calls.has(id)
  }

  add(call: Call, timeoutMs: number): void {
    this.#calls.set(call.id, call)
    this.#startTimeout(call, timeoutMs)
  }

  /** Restarts the timeout of a pending call; 0 disables it. */
  restartTimeout(id: Id, timeoutMs: number): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    this.#options.deadlines.stop(call)
    this.#startTimeout(call, timeoutMs)
  }

  /** Suspends the timeouts of all calls, or starts them anew. */
  suspendTimeouts(isSuspended: boolean): void {
    this.#isSuspended = isSuspended
    for (const call of this.#calls.values()) this.restartTimeout(call.id, call.timeoutMs)
  }

  #startTimeout(call: Call, timeoutMs: number): void {
    call.timeoutMs = timeoutMs
    if (this.#isSuspended) return
    if (timeoutMs > 0 && timeoutMs !== Number.POSITIVE_INFINITY) {
      this.#options.deadlines.start(call, timeoutMs)
    }
  }

  /** Settles the call that a reply belongs to; returns the reason if there is none. */
  settle(reply: RpcResult | RpcFailure | Malformed): StrayReason | undefined {
    if (reply.id === null) {
      this.#settleOnly(reply)
      // Reported in any case: which message it is about is a guess.
      return 'orphan'
    }
    const call = this.#take(reply.id)
    if (call === undefined) return this.#stray(reply.id)
    if (reply.type === 'result') call.handler.resolve(resultFor(call.handler, reply))
    else if (reply.type === 'error') call.handler.reject(this.#options.fromWire(reply.error))
    else {
      const message = `${call.method}: the reply is malformed: ${reply.detail}`
      call.handler.reject(new ChannelError('framing', message))
    }
    return undefined
  }

  /**
   * Stops waiting for the reply, which is reported as late if it comes. Returns false if the call has
   * settled.
   */
  abandon(call: Call): boolean {
    if (this.#take(call.id) === undefined) return false
    this.#abandoned = withId(this.#abandoned, call.id)
    return true
  }

  /**
   * Rejects a call; `isUnsent` means that its request was not delivered. Does nothing once it has
   * settled.
   */
  fail(id: Id, error: unknown, isUnsent = false): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    if (isUnsent) call.isSent = false
    this.#take(id)
    call.handler.reject(error)
  }

  /** Rejects every pending call. */
  failAll(errorOf: (method: string) => Error): void {
    for (const call of this.#calls.values()) {
      this.#take(call.id)
      call.handler.reject(errorOf(call.method))
    }
  }

  /**
   * An error without an id that says that a message was not read is the response to one whose id the
   * peer could not read. If only one message is unanswered, the error belongs to it, and waiting longer
   * would only end in a timeout. Any other error without an id is ignored: the call may be running.
   */
  #settleOnly(reply: RpcResult | RpcFailure | Malformed): void {
    if (reply.type !== 'error' || !unreadable.has(reply.error.code)) return
    const [first] = this.#calls.values()
    if (first === undefined || !first.isSent) return
    for (const call of this.#calls.values()) {
      if (call !== first && (first.group === undefined || call.group !== first.group)) return
    }
    for (const call of this.#calls.values()) this.fail(call.id, this.#options.fromWire(reply.error))
  }

  #take(id: Id): Call | undefined {
    const call = this.#calls.get(id)
    if (call === undefined) return undefined
    this.#calls.delete(id)
    call.isSettled = true
    if (!call.isSent) this.#unsent = withId(this.#unsent, id)
    this.#options.deadlines.stop(call)
    call.release?.()
    return call
  }

  #stray(id: Id): StrayReason {
    if (this.#abandoned?.delete(id)) return 'late'
    return this.#options.mayHaveIssued(id) ? 'duplicate' : 'foreign'
  }
}

/** The errors for messages that were not read: no JSON, no request, too large, too large a batch. */
const unreadable = new Set([-32700, -32600, -32012, -32069])

/** Adds an id to a bounded set; evicts the oldest id when the set is full. */
function withId(ids: Set<Id> = new Set(), id: Id): Set<Id> {
  if (ids.size >= limits.abandonedIds.default) {
    for (const oldest of ids) {
      ids.delete(oldest)
      break
    }
  }
  return ids.add(id)
}

/**
 * Cancels calls when their signals abort. Adds one listener per signal, however many calls share it,
 * because Node.js warns of a leak from the eleventh listener on.
 */
export class AbortListeners {
  readonly #onAbort: (call: Call, reason: unknown) => void
  readonly #bySignal = new Map<AbortSignal, Set<Call>>()

  constructor(onAbort: (call: Call, reason: unknown) => void) {
    this.#onAbort = onAbort
  }

  /** Watches a signal that has not aborted; returns a function that stops watching it for this call. */
  watch(signal: AbortSignal, call: Call): () => void {
    let calls = this.#bySignal.get(signal)
    if (calls === undefined) {
      calls = new Set()
      this.#bySignal.set(signal, calls)
      signal.addEventListener('abort', this.#listener)
    }
    calls.add(call)
    return () => this.#unwatch(signal, call)
  }

  #unwatch(signal: AbortSignal, call: Call): void {
    const calls = this.#bySignal.get(signal)
    if (calls === undefined || !calls.delete(call) || calls.size > 0) return
    this.#bySignal.delete(signal)
    signal.removeEventListener('abort', this.#listener)
  }

  readonly #listener = (event: Event): void => {
    // The check: the listener is added to signals only.
    const signal = event.target as AbortSignal
    for (const call of [...(this.#bySignal.get(signal) ?? [])]) this.#onAbort(call, signal.reason)
  }
}
