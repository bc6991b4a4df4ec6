import { ChannelError, type ChannelErrorCode } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { ToolAnnotations } from '../../mcp/types/tools.ts'
import { limits } from '../../util/limits/limits.ts'
import { checkRange } from '../../util/range.ts'
import type { RetryOptions } from '../options.ts'

/**
 * How a call ended: answered by the server, even with an error; lost on the way; without a response in time;
 * or ended by this side, because its caller gave it up or it cannot be sent anywhere.
 */
export type AttemptOutcome = 'answered' | 'lost' | 'timeout' | 'ended'

/** What decides whether a call may be retried. */
export interface RetryFacts {
  /** The call has no side effects. */
  readonly isReadOnly: boolean
  /** The call has the same effect once or twice. */
  readonly isIdempotent: boolean
  /** Whether the call may have reached the server. */
  readonly wasSent: boolean
}

/**
 * Returns whether a call may be retried: if it provably was not sent, or if repeating it is harmless. A call
 * that the server answered is never retried.
 */
export function mayRetry(outcome: AttemptOutcome, facts: RetryFacts): boolean {
  if (outcome === 'answered' || outcome === 'ended') return false
  return !facts.wasSent || facts.isReadOnly || facts.isIdempotent
}

/** Returns how a call ended that failed with this error, and whether it may have reached the server. */
export function endingOf(error: unknown): Ending {
  if (error instanceof RpcError) return { outcome: 'answered', wasSent: true }
  return error instanceof ChannelError ? endings[error.code] : { outcome: 'ended', wasSent: true }
}

interface Ending {
  readonly outcome: AttemptOutcome
  readonly wasSent: boolean
}

const unsent: Ending = { outcome: 'lost', wasSent: false }
const lost: Ending = { outcome: 'lost', wasSent: true }

const endings: Readonly<Record<ChannelErrorCode, Ending>> = {
  closed: unsent,
  refused: unsent,
  // The limit of one connection; another one may be free.
  'too-many': unsent,
  'id-overflow': unsent,
  'outcome-unknown': lost,
  'too-slow': lost,
  timeout: { outcome: 'timeout', wasSent: true },
  // A response came, and would come again.
  'too-large': { outcome: 'ended', wasSent: true },
  framing: { outcome: 'ended', wasSent: true },
  // The same on every instance.
  unserialisable: { outcome: 'ended', wasSent: false },
  'id-collision': { outcome: 'ended', wasSent: false },
}

/**
 * Returns whether repeating a request is harmless. For `tools/call` that depends on the annotations of the
 * tool, which must be passed only if they are trusted.
 */
export function safetyOf(
  method: string,
  annotations?: ToolAnnotations,
): Pick<RetryFacts, 'isReadOnly' | 'isIdempotent'> {
  if (method !== 'tools/call') {
    const why = methodRow(method)?.repeatable
    return why === 'reads' ? harmless : why === 'idempotent' ? repeatable : harmful
  }
  if (annotations?.readOnlyHint === true) return harmless
  return annotations?.idempotentHint === true ? repeatable : harmful
}

const harmless = { isReadOnly: true, isIdempotent: true }
const repeatable = { isReadOnly: false, isIdempotent: true }
const harmful = { isReadOnly: false, isIdempotent: false }

/** The slots of the sliding window: the oldest tenth is dropped at a time. */
const slots = 10

/**
 * Limits retries to a share of all calls, so that a failing server does not get more calls than usual:
 * `budget` of the calls within the last `retryWindowMs`, and a few if there were fewer.
 */
export class RetryBudget {
  /** The maximum number of attempts of one call. */
  readonly attempts: number
  readonly #share: number
  readonly #now: () => number
  readonly #slotMs = limits.retryWindowMs.default / slots
  readonly #calls = new Float64Array(slots)
  readonly #retries = new Float64Array(slots)
  #slot: number

  /** `now` is monotonic time in milliseconds. Throws a RangeError for options out of range. */
  constructor(options: RetryOptions, now: () => number) {
    const { attempts, budget } = options
    const share = budget ?? limits.retryBudget.default
    const maxAttempts = attempts ?? limits.retryAttempts.default
    this.attempts = checkRange('retry.attempts', maxAttempts, { min: 1, max: 100, integer: true })
    this.#share = checkRange('retry.budget', share, { min: 0, max: 1 })
    this.#now = now
    this.#slot = Math.floor(now() / this.#slotMs)
  }

  /** Counts a call. Must be called once per call, not for its retries. */
  called(): void {
    this.#advance()
    this.#add(this.#calls)
  }

  /** Counts a retry, if the budget allows one; returns whether it does. */
  take(): boolean {
    this.#advance()
    if (this.#share === 0) return false
    const room = Math.max(limits.retryMinimum.default, this.#share * sum(this.#calls))
    if (sum(this.#retries) + 1 > room) return false
    this.#add(this.#retries)
    return true
  }

  #add(counts: Float64Array): void {
    const at = this.#slot % slots
    counts[at] = (counts[at] ?? 0) + 1
  }

  /** Clears the slots that have left the window since the last call. */
  #advance(): void {
    const slot = Math.floor(this.#now() / this.#slotMs)
    const passed = Math.min(slots, slot - this.#slot)
    for (let step = 0; step < passed; step++) {
      const at = (slot - step) % slots
      this.#calls[at] = 0
      this.#retries[at] = 0
    }
    this.#slot = slot
  }
}

function sum(counts: Float64Array): number {
  let total = 0
  for (const count of counts) total += count
  return total
}
