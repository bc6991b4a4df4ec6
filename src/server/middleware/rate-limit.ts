import type { Middleware } from '../../jsonrpc/handler.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { limits } from '../../util/limits/limits.ts'
import { Allowance } from '../../util/time/token-bucket.ts'

/** How many requests of one kind a caller may make. */
export interface Rate {
  readonly perSecond: number
  /** How many at once, before the rate counts; as many as in a second unless said. */
  readonly burst?: number
}

/** What limits the rate of requests. */
export interface RateLimitOptions {
  /** Rates by the name of the method, or by the beginning of names: `tools/call`, `tasks/*`, `*`. */
  readonly methods: Readonly<Record<string, Rate>>
  /** Callers that are told apart at one time; of more, the one heard of longest ago starts anew. */
  readonly maxCallers?: number
  /** Milliseconds that never go back, for tests. */
  readonly now?: () => number
}

/**
 * A middleware that refuses requests that come too fast, with the error `rate_limited` and when to try
 * again: `server.use(rateLimit({ methods: { 'tools/call': { perSecond: 10, burst: 20 } } }))`.
 *
 * Each principal has a rate of its own; callers that nobody has identified share one. A method counts
 * against the longest name that fits it. Throws a TypeError for a rate that lets nothing through.
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  const rates = new Map(Object.entries(options.methods))
  for (const [name, rate] of rates) check(name, rate)
  const most = options.maxCallers ?? limits.rateLimitedCallers.default
  const callers = new Map<string, Map<string, Allowance>>()
  const allowanceOf = (caller: string, name: string, rate: Rate): Allowance => {
    const known = callers.get(caller) ?? new Map<string, Allowance>()
    // Taken out and put back, so that the one heard of longest ago stands first.
    callers.delete(caller)
    callers.set(caller, known)
    const [oldest] = callers.keys()
    if (callers.size > most && oldest !== undefined) callers.delete(oldest)
    let allowance = known.get(name)
    if (allowance === undefined) {
      allowance = new Allowance(
        rate.burst ?? Math.max(1, rate.perSecond),
        rate.perSecond,
        options.now,
      )
      known.set(name, allowance)
    }
    return allowance
  }
  return next => (message, exchange) => {
    if (message.type === 'notification') return next(message, exchange)
    const name = ruleFor(message.method, rates)
    const rate = name === undefined ? undefined : rates.get(name)
    if (name === undefined || rate === undefined) return next(message, exchange)
    const caller = exchange.envelope.principal?.id ?? ''
    if (!allowanceOf(caller, name, rate).take()) {
      throw errors.rateLimited({ retryAfterMs: Math.ceil(1000 / rate.perSecond) })
    }
    return next(message, exchange)
  }
}

/** The longest name among the rules that fits a method. */
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
  throw new TypeError(`the rate of "${name}" must let something through`)
}
