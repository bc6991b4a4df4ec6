import type { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { limits } from '../../util/limits/limits.ts'
import { checkRange } from '../../util/range.ts'
import { TokenBucket } from '../../util/time/token-bucket.ts'
import type { CallLimits, Priority, UpstreamLimits } from '../options.ts'
import { ConcurrencyLimit } from './concurrency.ts'
import { bucketName, type RateLimit, type SharedBuckets, SharedRate } from './shared-rate.ts'

/** The properties of a call that limits depend on. */
export interface LimitedCall {
  /** The id of the principal; empty for all callers without one. */
  readonly caller: string
  /** The upstream name of the tool. */
  readonly tool?: string
  /** Returns the priority of the call. Called only if the call is queued. */
  readonly priority?: () => Priority
}

/** What a call holds of the limits while it runs. `release` gives it back; calling it again does nothing. */
export interface Permit {
  release(): void
}

/** The limits of all calls, and of each caller. */
export interface LimitsOptions {
  readonly router?: CallLimits & { readonly perCaller?: CallLimits }
  /** The rates that all routers of a cluster share. */
  readonly shared?: SharedBuckets
  /** Monotonic time in milliseconds. */
  readonly now: () => number
  /** The number of callers that each per-caller limit keeps apart. */
  readonly maxCallers?: number
}

/**
 * Applies every limit to a call: of the router, of the caller, of the server, of the caller at that
 * server, and of the tool. A call that one limit refuses counts at none.
 */
export class Limits {
  readonly #host: MeterHost
  readonly #maxCallers: number
  readonly #router: Meter | undefined
  readonly #callers: CallerMeters | undefined

  /** Throws a RangeError for limits that admit no call or contradict each other. */
  constructor(options: LimitsOptions) {
    this.#host = options
    this.#maxCallers = options.maxCallers ?? limits.limitedCallers.default
    const { router } = options
    this.#router = makeMeter(['router'], router, this.#host)
    this.#callers = this.#makeCallers(['caller'], router?.perCaller)
  }

  /**
   * Creates the limits of one server, unused so far, for `acquire`. Throws a RangeError as the constructor
   * does.
   */
  ofServer(server: string, options: UpstreamLimits): ServerMeters {
    const tools = new Map<string, Meter>()
    for (const [tool, its] of Object.entries(options.tools ?? {})) {
      const meter = makeMeter(['tool', server, tool], its, this.#host)
      if (meter !== undefined) tools.set(tool, meter)
    }
    return {
      all: makeMeter(['server', server], options, this.#host),
      callers: this.#makeCallers(['server per caller', server], options.perCaller),
      tools,
    }
  }

  /** Returns whether no limit applies to calls to a server with these limits, if any. */
  isUnlimited(server: ServerMeters | undefined): boolean {
    return this.#router === undefined && this.#callers === undefined && server === undefined
  }

  /**
   * Acquires a permit: at once, or as a promise if the call is queued. The promise rejects with the reason
   * of `signal`, or of the signal that `waitAt` returns for the limit that the call is queued at; what the
   * call took of a rate is spent then.
   *
   * Throws `rate_limited`, with `retryAfterMs` and the name of the limit, if a rate is exceeded or a queue
   * is full.
   */
  acquire(
    call: LimitedCall,
    server: ServerMeters | undefined,
    signal?: AbortSignal,
    waitAt: WaitAt = () => signal,
  ): Permit | Promise<Permit> {
    if (this.isUnlimited(server)) return unlimited
    signal?.throwIfAborted()
    const meters = this.#metersOf(call, server)
    const unknown = this.#host.shared === undefined ? [] : unknownRates(meters)
    if (unknown.length > 0) return acquireLater(unknown, meters, call, signal, waitAt)
    return acquireNow(meters, call, waitAt)
  }

  #makeCallers(
    names: readonly string[],
    options: CallLimits | undefined,
  ): CallerMeters | undefined {
    // Made once here too, so that invalid options are refused before the first call.
    if (makeMeter(names, options, this.#host) === undefined) return undefined
    const make = (caller: string): Meter | undefined =>
      makeMeter([...names, caller], options, this.#host)
    return new CallerMeters(make, this.#maxCallers)
  }

  /**
   * The narrowest limit first. All calls enter them in this order, so no two calls can wait for each
   * other, and a call that is queued for a busy tool does not hold what other calls could use.
   */
  #metersOf(call: LimitedCall, server: ServerMeters | undefined): readonly Meter[] {
    const tool = call.tool === undefined ? undefined : server?.tools.get(call.tool)
    const all = [
      tool,
      server?.callers?.of(call.caller),
      server?.all,
      this.#callers?.of(call.caller),
      this.#router,
    ]
    return all.filter(meter => meter !== undefined)
  }
}

/** Returns the rates of limits that must ask the engine of their cluster first. */
function unknownRates(meters: readonly Meter[]): readonly SharedRate[] {
  return meters.flatMap(({ rate }) => (rate instanceof SharedRate && rate.isUnknown ? rate : []))
}

async function acquireLater(
  unknown: readonly SharedRate[],
  meters: readonly Meter[],
  call: LimitedCall,
  signal: AbortSignal | undefined,
  waitAt: WaitAt,
): Promise<Permit> {
  for (const rate of unknown) rate.waiting++
  try {
    // Other calls may have taken the tokens that were asked for first; the second time the engine is asked for all.
    for (let attempt = 0; attempt < maxRateRequests; attempt++) {
      const still = unknownRates(meters)
      if (still.length === 0) break
      await Promise.all(still.map(rate => rate.fill()))
      signal?.throwIfAborted()
    }
  } finally {
    for (const rate of unknown) rate.waiting--
  }
  return acquireNow(meters, call, waitAt)
}

/** How often a call asks for tokens before it is refused. */
const maxRateRequests = 4

function acquireNow(
  meters: readonly Meter[],
  call: LimitedCall,
  waitAt: WaitAt,
): Permit | Promise<Permit> {
  refuse(meters)
  const entered: NamedLimit[] = []
  for (const { name, rate, concurrency } of meters) {
    rate?.take()
    if (concurrency === undefined) continue
    concurrency.admit()
    entered.push({ name, concurrency })
  }
  return enterFrom(0, entered, call, waitAt)
}

/** Returns the signal that ends the wait at the limit of this name. Called only if the call is queued. */
export type WaitAt = (limit: string) => AbortSignal | undefined

interface NamedLimit {
  readonly name: string
  readonly concurrency: ConcurrencyLimit
}

/** One limit: of the rate, of concurrent calls, or of both. */
interface Meter {
  readonly name: string
  readonly rate: RateLimit | undefined
  readonly concurrency: ConcurrencyLimit | undefined
}

/** The limits of one server, and their usage. */
export interface ServerMeters {
  readonly all: Meter | undefined
  readonly callers: CallerMeters | undefined
  readonly tools: ReadonlyMap<string, Meter>
}

/** One limit per caller. At `maxCallers` the least recently used one is dropped. */
class CallerMeters {
  readonly #make: (caller: string) => Meter | undefined
  readonly #maxCallers: number
  readonly #meters = new Map<string, Meter>()

  constructor(make: (caller: string) => Meter | undefined, maxCallers: number) {
    this.#make = make
    this.#maxCallers = maxCallers
  }

  of(caller: string): Meter | undefined {
    const known = this.#meters.get(caller)
    const meter = known ?? this.#make(caller)
    if (meter === undefined) return undefined
    // Removed and added again, so that the least recently used one stands first.
    if (known !== undefined) this.#meters.delete(caller)
    this.#meters.set(caller, meter)
    if (this.#meters.size > this.#maxCallers) {
      const [oldest] = this.#meters.keys()
      if (oldest !== undefined) this.#meters.delete(oldest)
    }
    return meter
  }
}

const unlimited: Permit = { release() {} }

class AcquiredPermit implements Permit {
  readonly #limits: readonly NamedLimit[]
  #isReleased = false

  constructor(limits: readonly NamedLimit[]) {
    this.#limits = limits
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    for (const { concurrency } of this.#limits) concurrency.leave()
  }
}

/** Throws if one of the limits refuses; of several that do, the error names the one with the longest wait. */
function refuse(meters: readonly Meter[]): void {
  let longestMs = 0
  let slowest = ''
  for (const { name, rate } of meters) {
    const waitMs = rate?.waitMs() ?? 0
    if (waitMs <= longestMs) continue
    longestMs = waitMs
    slowest = name
  }
  if (longestMs > 0) {
    // A rounding error in the last digits must not add a millisecond.
    const retryAfterMs = Math.max(1, Math.ceil(longestMs - 1e-6))
    throw errors.rateLimited({ retryAfterMs, limit: slowest })
  }
  for (const { name, concurrency } of meters) {
    if (concurrency?.isFull === true) throw overload(name)
  }
}

/** The error for a call that is refused because too many others are running or queued. */
export function overload(limit: string): RpcError {
  return errors.rateLimited(
    { retryAfterMs: limits.overloadRetryMs.default, limit },
    { message: 'Too many calls at once' },
  )
}

function enterFrom(
  first: number,
  limited: readonly NamedLimit[],
  call: LimitedCall,
  waitAt: WaitAt,
): Permit | Promise<Permit> {
  for (let at = first; at < limited.length; at++) {
    // The check: at is below length.
    const { name, concurrency } = limited[at] as NamedLimit
    const turn = concurrency.hasRoom
      ? concurrency.enter(call.caller)
      : concurrency.enter(call.caller, waitAt(name), call.priority?.())
    if (turn !== undefined) return enterAfter(turn, at, limited, call, waitAt)
  }
  return limited.length === 0 ? unlimited : new AcquiredPermit(limited)
}

async function enterAfter(
  turn: Promise<void>,
  at: number,
  limited: readonly NamedLimit[],
  call: LimitedCall,
  waitAt: WaitAt,
): Promise<Permit> {
  try {
    await turn
  } catch (error) {
    for (const { concurrency } of limited.slice(0, at)) concurrency.leave()
    for (const { concurrency } of limited.slice(at + 1)) concurrency.withdraw()
    throw error
  }
  return enterFrom(at + 1, limited, call, waitAt)
}

/** What the limits need of their router. */
type MeterHost = Pick<LimitsOptions, 'shared' | 'now'>

/** Makes a limit. `names` are its name, and what it applies to; undefined if the options limit nothing. */
function makeMeter(
  names: readonly string[],
  options: CallLimits | undefined,
  host: MeterHost,
): Meter | undefined {
  const { perSecond, burst, concurrent, queue, scope = 'cluster' } = options ?? {}
  const [name = ''] = names
  const prefix = `limits of the ${name}: `
  if (perSecond === undefined && burst !== undefined) {
    throw new RangeError(`${prefix}burst needs perSecond beside it`)
  }
  if (concurrent === undefined && queue !== undefined) {
    throw new RangeError(`${prefix}queue needs concurrent beside it`)
  }
  if (perSecond === undefined && concurrent === undefined) return undefined
  return {
    name,
    rate: makeRate(
      prefix,
      { perSecond, burst },
      scope === 'cluster' ? host : { now: host.now },
      names,
    ),
    concurrency: makeConcurrency(prefix, concurrent, queue),
  }
}

function makeRate(
  prefix: string,
  { perSecond, burst }: Pick<CallLimits, 'perSecond' | 'burst'>,
  { shared, now }: MeterHost,
  names: readonly string[],
): RateLimit | undefined {
  if (perSecond === undefined) return undefined
  // The minimum is about one call a day; 0 would admit no call at all.
  const rate = checkRange(`${prefix}perSecond`, perSecond, { min: 0.00001, max: 1e9 })
  const atOnce = checkRange(`${prefix}burst`, burst ?? Math.max(1, perSecond), { min: 1, max: 1e9 })
  if (shared === undefined) return new TokenBucket(atOnce, rate, now)
  return new SharedRate(bucketName(...names), { perSecond: rate, burst: atOnce }, shared, now)
}

function makeConcurrency(
  prefix: string,
  concurrent: number | undefined,
  queue: number = limits.callQueue.default,
): ConcurrencyLimit | undefined {
  if (concurrent === undefined) return undefined
  const atOnce = checkRange(`${prefix}concurrent`, concurrent, { min: 1, max: 1e6, integer: true })
  return new ConcurrencyLimit(
    atOnce,
    checkRange(`${prefix}queue`, queue, { min: 0, max: 1e6, integer: true }),
  )
}
