import type { Route } from './dispatch/route.ts'
import type { Breaker, BreakerState } from './policy/breaker.ts'
import type { InstanceState } from './upstream/instance.ts'

/** How well something works. */
export type Level = 'ok' | 'degraded' | 'down'

/** What there is to see of one instance of a server. */
export interface InstanceStatus {
  readonly key: string
  /** A program or an address. */
  readonly label: string
  readonly state: InstanceState
  /** Why it is not ready, or gets no calls. */
  readonly reason?: string
  /** When it is tried again by itself, from now. */
  readonly retryInMs?: number
  readonly breaker: BreakerState | 'off'
  readonly inFlight: number
  readonly latencyMs: number
  readonly errorRate: number
  readonly restarts: number
  /** What it speaks. */
  readonly revision?: string
  /** Whether its calls go over a WebSocket at present, though its address is one of HTTP. */
  readonly websocket?: true
  /** The programs that run for it. */
  readonly pids: readonly number[]
  /** The end of what they have written to their error output. */
  readonly stderr: string
}

/** What there is to see of one server. */
export interface ServerStatus {
  readonly name: string
  readonly level: Level
  readonly reason?: string
  readonly retryInMs?: number
  /** What somebody has to do before it gets better, if anything. */
  readonly action?: string
  readonly tools: number
  readonly prompts: number
  readonly resources: number
  readonly instances: readonly InstanceStatus[]
}

/** How a server behind the router does. */
export function statusOf(route: Route): ServerStatus {
  const { name, upstream } = route
  const instances = upstream.instances.map((instance): InstanceStatus => {
    const { key, target, state, breaker, load, restarts, retryInMs, first } = instance
    const reason = instance.reason ?? brokenBy(breaker) ?? route.ejection(instance)
    const wait = retryInMs ?? (breaker?.state === 'open' ? breaker.retryAfterMs : undefined)
    return {
      key,
      label: target.label,
      state,
      ...(reason !== undefined && { reason }),
      ...(wait !== undefined && { retryInMs: wait }),
      breaker: breaker?.state ?? 'off',
      inFlight: load.inFlight,
      latencyMs: load.latencyMs,
      errorRate: load.errorRate,
      restarts,
      revision: first?.server.revision.name,
      ...(instance.hasWebSocket && { websocket: true as const }),
      pids: instance.children.map(({ pid }) => pid),
      stderr: instance.stderr,
    }
  })
  const well = instances.filter(({ state, reason }) => state === 'ready' && reason === undefined)
  const ill = instances.find(({ reason }) => reason !== undefined)
  // One on trial gets calls, and only those tell how it does.
  const isTried = instances.some(
    ({ state, breaker }) => state === 'ready' && breaker === 'half-open',
  )
  const isCalled = well.length > 0 || isTried
  const level = well.length === instances.length ? 'ok' : isCalled ? 'degraded' : 'down'
  const { tools, prompts, resources } = upstream.lists
  return {
    name,
    level,
    ...(level !== 'ok' && { reason: ill?.reason ?? upstream.problem ?? 'it is being started' }),
    ...(ill?.retryInMs !== undefined && { retryInMs: ill.retryInMs }),
    ...(instances.some(({ state }) => state === 'quarantined') && { action: lookAfter }),
    tools: tools.length,
    prompts: prompts.length,
    resources: resources.length,
    instances,
  }
}

/** Why its breaker lets few calls through, or none. */
function brokenBy(breaker: Breaker | undefined): string | undefined {
  if (breaker === undefined || breaker.state === 'closed') return undefined
  if (breaker.state === 'open') return `its breaker is open, after ${breaker.why}`
  // Nobody may have called since its time was over.
  return breaker.why.startsWith('on trial') ? breaker.why : `on trial after ${breaker.why}`
}

const lookAfter =
  'find out why it ended; it is tried again when its configuration changes, on SIGHUP, or by router.retry'
