import { ChannelError, type ChannelErrorCode } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { ToolAnnotations } from '../../mcp/types/tool.ts'
import { checked } from '../../util/in-range.ts'
import { limits } from '../../util/limits/limits.ts'
import type { RetryOptions } from '../options.ts'

/**
 * How a call ended: the server answered it, be it with an error; the way to the server failed; nothing
 * came in time; or it ended on this side, because its caller gave it up or it can be sent nowhere.
 */
export type Outcome = 'answered' | 'lost' | 'timeout' | 'ended'

/** What decides whether a call may be made again. */
export interface RetryFacts {
  /** It changes nothing. */
  readonly isReadOnly: boolean
  /** Making it twice is like making it once. */
  readonly isIdempotent: boolean
  /** Whether anything of it may have reached the server. */
  readonly wasSent: boolean
}

/**
 * Whether a call that ended so may be made again elsewhere: where it provably was not sent, or where
 * making it twice does no harm. What a server has answered is never asked again.
 */
export function mayRetry(outcome: Outcome, facts: RetryFacts): boolean {
  if (outcome === 'answered' || outcome === 'ended') return false
  return !facts.wasSent || facts.isReadOnly || facts.isIdempotent
}

/** How a call ended that failed with this error, and whether it may have reached the server. */
export function outcomeOf(error: unknown): Ending {
  if (error instanceof RpcError) return { outcome: 'answered', wasSent: true }
  return error instanceof ChannelError ? endings[error.code] : { outcome: 'ended', wasSent: true }
}

interface Ending {
  readonly outcome: Outcome
  readonly wasSent: boolean
}

const unsent: Ending = { outcome: 'lost', wasSent: false }
const lost: Ending = { outcome: 'lost', wasSent: true }

const endings: Readonly<Record<ChannelErrorCode, Ending>> = {
  closed: unsent,
  refused: unsent,
  // One connection has too many calls, or no ids left; another has not.
  'too-many': unsent,
  'id-overflow': unsent,
  'outcome-unknown': lost,
  'too-slow': lost,
  timeout: { outcome: 'timeout', wasSent: true },
  // An answer came, and would come again.
  'too-large': { outcome: 'ended', wasSent: true },
  framing: { outcome: 'ended', wasSent: true },
  // The same everywhere.
  unserialisable: { outcome: 'ended', wasSent: false },
  'id-collision': { outcome: 'ended', wasSent: false },
}

/**
 * What is known of a request before it is sent. Of `tools/call` it is what the tool says of itself,
 * which is believed only of a server whose annotations are trusted: pass none of another.
 */
export function safetyOf(
  method: string,
  annotations?: ToolAnnotations,
): Pick<RetryFacts, 'isReadOnly' | 'isIdempotent'> {
  if (method !== 'tools/call') {
    const twice = methodRow(method)?.twice
    return twice === 'reads' ? harmless : twice === 'settles' ? repeatable : harmful
  }
  if (annotations?.readOnlyHint === true) return harmless
  return annotations?.idempotentHint === true ? repeatable : harmful
}

const harmless = { isReadOnly: true, isIdempotent: true }
const repeatable = { isReadOnly: false, isIdempotent: true }
const harmful = { isReadOnly: false, isIdempotent: false }

/** How many slots a window has: the oldest tenth is forgotten at a time. */
const slots = 10

/**
 * Keeps repeated calls to a share of all calls, so that a server in trouble does not get more of them
 * than usual: `budget` of those of the last `retryWindowMs`, and a few however few there were.
 */
export class RetryBudget {
  /** Attempts of one call altogether. */
  readonly attempts: number
  readonly #share: number
  readonly #now: () => number
  readonly #slotMs = limits.retryWindowMs.default / slots
  readonly #calls = new Float64Array(slots)
  readonly #retries = new Float64Array(slots)
  #slot: number

  /** `now` gives milliseconds that never go back. Throws a RangeError for options out of range. */
  constructor(options: RetryOptions, now: () => number) {
    const { attempts, budget } = options
    const share = budget ?? limits.retryBudget.default
    const most = attempts ?? limits.retryAttempts.default
    this.attempts = checked('retry.attempts', most, { least: 1, most: 100, whole: true })
    this.#share = checked('retry.budget', share, { least: 0, most: 1 })
    this.#now = now
    this.#slot = Math.floor(now() / this.#slotMs)
  }

  /** Counts a call. To be called once for each, not for its repetitions. */
  called(): void {
    this.#advance()
    this.#add(this.#calls)
  }

  /** Counts a repetition, if there is room for one; says whether there was. */
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

  /** Empties the slots that have become old since the last look. */
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
