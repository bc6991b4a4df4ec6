import type { Middleware } from '../../jsonrpc/handler.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { limits } from '../../util/limits/limits.ts'
import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { TokenBucket } from '../../util/time/token-bucket.ts'

/** The rate of requests that a caller may make. */
export interface Rate {
  /** Requests per second, on average. */
  readonly perSecond: number
  /** How many requests may come at once before the rate applies; by default those of one second. */
  readonly burst?: number
}

/** The options of `rateLimit`. */
export interface RateLimitOptions {
  /** Rates by the name of the method, or by a prefix of names: `tools/call`, `tasks/*`, `*`. */
  readonly methods: Readonly<Record<string, Rate>>
  /** The maximum number of callers with a rate of their own; beyond it the least recent one is reset. */
  readonly maxCallers?: number
  /** A monotonic clock in milliseconds, for tests. */
  readonly now?: () => number
}

const rate: OptionTableOf<Rate> = { perSecond: 'number', burst: 'number' }
const table: OptionTableOf<RateLimitOptions> = {
  methods: { '*': rate },
  maxCallers: 'max',
  now: 'function',
}

/**
 * A middleware that rejects requests that come too fast, with the error `rate_limited` and the time to
 * wait: `server.use(rateLimit({ methods: { 'tools/call': { perSecond: 10, burst: 20 } } }))`.
 *
 * Each principal has a rate of its own; callers without a principal share one. A method counts against
 * the longest name that matches it. Throws a TypeError for a rate that admits no requests.
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  checkOptions(options, table)
  if (options.methods === undefined) {
    throw new TypeError(
      'rateLimit needs methods, such as { methods: { "tools/call": { perSecond: 10 } } }',
    )
  }
  const rates = new Map(Object.entries(options.methods))
  for (const [name, rate] of rates) check(name, rate)
  const max = options.maxCallers ?? limits.rateLimitedCallers.default
  const callers = new Map<string, Map<string, TokenBucket>>()
  const bucketOf = (caller: string, name: string, rate: Rate): TokenBucket => {
    const known = callers.get(caller) ?? new Map<string, TokenBucket>()
    // Removed and added again, so that the least recent caller is the first.
    callers.delete(caller)
    callers.set(caller, known)
    const [oldest] = callers.keys()
    if (callers.size > max && oldest !== undefined) callers.delete(oldest)
    let bucket = known.get(name)
    if (bucket === undefined) {
      bucket = new TokenBucket(
        rate.burst ?? Math.max(1, rate.perSecond),
        rate.perSecond,
        options.now,
      )
      known.set(name, bucket)
    }
    return bucket
  }
  return next => (message, exchange) => {
    if (message.type === 'notification') return next(message, exchange)
    const name = ruleFor(message.method, rates)
    const rate = name === undefined ? undefined : rates.get(name)
    if (name === undefined || rate === undefined) return next(message, exchange)
    const caller = exchange.envelope.principal?.id ?? ''
    if (!bucketOf(caller, name, rate).take()) {
      throw errors.rateLimited({ retryAfterMs: Math.ceil(1000 / rate.perSecond) })
    }
    return next(message, exchange)
  }
}

/** The longest name among the rules that matches a method. */
function ruleFor(method: string, rules: ReadonlyMap<string, Rate>): string | undefined {
  if (rules.has(method)) return method
  let found: string | undefined
  for (const name of rules.keys()) {
    if (!name.endsWith('*') || !method.startsWith(name.slice(0, -1))) continue
    if (found === undefined || name.length > found.length) found = name
  }
  return found
}

function check(name: string, { perSecond, burst = 1 }: Rate): void {
  if (perSecond > 0 && Number.isFinite(perSecond) && burst >= 1) return
  throw new TypeError(`the rate of "${name}" must admit requests: perSecond > 0 and burst ≥ 1`)
}
