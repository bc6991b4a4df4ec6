import type { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { checked } from '../../util/in-range.ts'
import { limits } from '../../util/limits/limits.ts'
import { Allowance } from '../../util/time/token-bucket.ts'
import type { CallLimits, UpstreamLimits } from '../options.ts'
import { Gate } from './concurrency.ts'

/** What a call is, as far as limits go. */
export interface LimitedCall {
  /** Who calls; callers that nobody has identified share one name. */
  readonly caller: string
  /** The tool, by the name that its server gives it. */
  readonly tool?: string
}

/** What a call holds while it runs. `leave` gives it back; calling it again does nothing. */
export interface Pass {
  leave(): void
}

/** The limits of all calls, and of each caller; and where the time comes from. */
export interface LimitsOptions {
  readonly router?: CallLimits & { readonly perCaller?: CallLimits }
  /** Milliseconds that never go back. */
  readonly now: () => number
  /** Callers that are told apart at one time, at each limit that is per caller. */
  readonly maxCallers?: number
}

/**
 * Holds calls to every limit that applies to them: of the router, of the caller, of the server, of the
 * caller at that server, and of the tool. A call that one of them refuses counts at none.
 */
export class Limits {
  readonly #now: () => number
  readonly #maxCallers: number
  readonly #router: Meter | undefined
  readonly #callers: CallerMeters | undefined

  /** Throws a RangeError for limits that let nothing through or contradict themselves. */
  constructor(options: LimitsOptions) {
    this.#now = options.now
    this.#maxCallers = options.maxCallers ?? limits.limitedCallers.default
    const { router } = options
    this.#router = makeMeter('router', router, options.now)
    this.#callers = makeCallers('caller', router?.perCaller, options.now, this.#maxCallers)
  }

  /**
   * The limits of one server, of which nothing is used yet. They belong to whoever asks for them, who
   * passes them to `enter`. Throws a RangeError as the constructor does.
   */
  ofServer(options: UpstreamLimits): ServerMeters {
    const tools = new Map<string, Meter>()
    for (const [tool, its] of Object.entries(options.tools ?? {})) {
      const meter = makeMeter('tool', its, this.#now)
      if (meter !== undefined) tools.set(tool, meter)
    }
    return {
      all: makeMeter('server', options, this.#now),
      callers: makeCallers('server per caller', options.perCaller, this.#now, this.#maxCallers),
      tools,
    }
  }

  /** Whether no limit applies to calls to a server with these, or without any of its own. */
  isFree(server: ServerMeters | undefined): boolean {
    return this.#router === undefined && this.#callers === undefined && server === undefined
  }

  /**
   * Lets a call through: at once, or as a promise where it has to wait for its turn; that rejects with
   * the reason of the signal, if it aborts first, or of the one that `waitAt` gives for the limit that
   * is waited at. What it took of a rate is spent then.
   *
   * Throws `rate_limited`, with `retryAfterMs` and the name of the limit, where the call comes too soon
   * or too many are waiting already.
   */
  enter(
    call: LimitedCall,
    server: ServerMeters | undefined,
    signal?: AbortSignal,
    waitAt: WaitAt = () => signal,
  ): Pass | Promise<Pass> {
    if (this.isFree(server)) return free
    signal?.throwIfAborted()
    const meters = this.#metersOf(call, server)
    refuse(meters)
    const gates: Gated[] = []
    for (const { name, allowance, gate } of meters) {
      allowance?.take()
      if (gate === undefined) continue
      gate.admit()
      gates.push({ name, gate })
    }
    return enterFrom(0, gates, call.caller, waitAt)
  }

  /**
   * The narrowest first. In this order they are entered, all calls in the same, so that no two can wait
   * for each other; and whoever waits for a busy tool does not meanwhile hold what others could use.
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

/** Gives what ends a wait at the limit of this name. Asked only where there is a wait. */
export type WaitAt = (limit: string) => AbortSignal | undefined

/** A limit of how many there are at one time. */
interface Gated {
  readonly name: string
  readonly gate: Gate
}

/** One limit: a rate, a number at one time, or both. */
interface Meter {
  readonly name: string
  readonly allowance: Allowance | undefined
  readonly gate: Gate | undefined
}

/** The limits of one server, and how far they are used. */
export interface ServerMeters {
  readonly all: Meter | undefined
  readonly callers: CallerMeters | undefined
  readonly tools: ReadonlyMap<string, Meter>
}

/** A limit for each caller by itself. Of too many, the one heard of longest ago is forgotten. */
class CallerMeters {
  readonly #make: () => Meter
  readonly #most: number
  readonly #meters = new Map<string, Meter>()

  constructor(make: () => Meter, most: number) {
    this.#make = make
    this.#most = most
  }

  of(caller: string): Meter {
    const known = this.#meters.get(caller)
    const meter = known ?? this.#make()
    // Taken out and put back, so that the one heard of longest ago stands first.
    if (known !== undefined) this.#meters.delete(caller)
    this.#meters.set(caller, meter)
    if (this.#meters.size > this.#most) {
      const [oldest] = this.#meters.keys()
      if (oldest !== undefined) this.#meters.delete(oldest)
    }
    return meter
  }
}

const free: Pass = { leave() {} }

class HeldPass implements Pass {
  readonly #gates: readonly Gated[]
  #isOver = false

  constructor(gates: readonly Gated[]) {
    this.#gates = gates
  }

  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const { gate } of this.#gates) gate.leave()
  }
}

/** Throws if one of the limits refuses; of several that do, the one that takes longest is named. */
function refuse(meters: readonly Meter[]): void {
  let longestMs = 0
  let slowest = ''
  for (const { name, allowance } of meters) {
    const waitMs = allowance?.waitMs() ?? 0
    if (waitMs <= longestMs) continue
    longestMs = waitMs
    slowest = name
  }
  if (longestMs > 0) {
    // What is a whole number but for the last digits of the sum stays that number.
    const retryAfterMs = Math.max(1, Math.ceil(longestMs - 1e-6))
    throw errors.rateLimited({ retryAfterMs, limit: slowest })
  }
  for (const { name, gate } of meters) if (gate?.isFull === true) throw overload(name)
}

/** What a caller is told whose call is not even begun, because others are in its way. */
export function overload(limit: string): RpcError {
  return errors.rateLimited(
    { retryAfterMs: limits.overloadRetryMs.default, limit },
    { message: 'Too many calls at once' },
  )
}

function enterFrom(
  first: number,
  gates: readonly Gated[],
  caller: string,
  waitAt: WaitAt,
): Pass | Promise<Pass> {
  for (let at = first; at < gates.length; at++) {
    // The check: at is below length.
    const { name, gate } = gates[at] as Gated
    const turn = gate.enter(caller, gate.hasRoom ? undefined : waitAt(name))
    if (turn !== undefined) return enterAfter(turn, at, gates, caller, waitAt)
  }
  return gates.length === 0 ? free : new HeldPass(gates)
}

async function enterAfter(
  turn: Promise<void>,
  at: number,
  gates: readonly Gated[],
  caller: string,
  waitAt: WaitAt,
): Promise<Pass> {
  try {
    await turn
  } catch (error) {
    for (const { gate } of gates.slice(0, at)) gate.leave()
    for (const { gate } of gates.slice(at + 1)) gate.withdraw()
    throw error
  }
  return enterFrom(at + 1, gates, caller, waitAt)
}

function makeCallers(
  name: string,
  options: CallLimits | undefined,
  now: () => number,
  most: number,
): CallerMeters | undefined {
  // Made once here too, so that bad options are refused before the first call.
  if (makeMeter(name, options, now) === undefined) return undefined
  const make = () =>
    makeMeter(name, options, now) ?? { name, allowance: undefined, gate: undefined }
  return new CallerMeters(make, most)
}

function makeMeter(
  name: string,
  options: CallLimits | undefined,
  now: () => number,
): Meter | undefined {
  const { perSecond, burst, concurrent, queue } = options ?? {}
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
    allowance: makeAllowance(prefix, perSecond, burst, now),
    gate: makeGate(prefix, concurrent, queue),
  }
}

function makeAllowance(
  prefix: string,
  perSecond: number | undefined,
  burst: number | undefined,
  now: () => number,
): Allowance | undefined {
  if (perSecond === undefined) return undefined
  // Once in a day and a bit; and 0 would let nothing through, ever.
  const rate = checked(`${prefix}perSecond`, perSecond, { least: 0.00001, most: 1e9 })
  const atOnce = checked(`${prefix}burst`, burst ?? Math.max(1, perSecond), { least: 1, most: 1e9 })
  return new Allowance(atOnce, rate, now)
}

function makeGate(
  prefix: string,
  concurrent: number | undefined,
  queue: number = limits.callQueue.default,
): Gate | undefined {
  if (concurrent === undefined) return undefined
  const atOnce = checked(`${prefix}concurrent`, concurrent, { least: 1, most: 1e6, whole: true })
  return new Gate(atOnce, checked(`${prefix}queue`, queue, { least: 0, most: 1e6, whole: true }))
}
