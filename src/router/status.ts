import type { HealthLevel } from '../observe/health/health.ts'
import type { Route } from './dispatch/route.ts'
import type { Breaker, BreakerState } from './policy/breaker.ts'
import type { InstanceState } from './upstream/instance-lifecycle.ts'

/** A snapshot of one instance of a server. */
export interface InstanceStatus {
  readonly key: string
  /** The command or the address. */
  readonly label: string
  readonly state: InstanceState
  /** Why the instance is not ready or receives no calls. */
  readonly reason?: string
  /** Milliseconds until the router retries the instance. */
  readonly retryInMs?: number
  readonly breaker: BreakerState | 'off'
  readonly inFlight: number
  readonly latencyMs: number
  readonly errorRate: number
  readonly restarts: number
  /** The negotiated protocol revision. */
  readonly revision?: string
  /** Present if calls currently use a WebSocket although the address is an HTTP address. */
  readonly websocket?: true
  /** Ids of the running processes. */
  readonly pids: readonly number[]
  /** The tail of the stderr output of these processes. */
  readonly stderr: string
}

/** A snapshot of one upstream server. */
export interface ServerStatus {
  readonly name: string
  readonly level: HealthLevel
  readonly reason?: string
  readonly retryInMs?: number
  /** What the operator has to do before the server recovers, if anything. */
  readonly action?: string
  readonly tools: number
  readonly prompts: number
  readonly resources: number
  readonly instances: readonly InstanceStatus[]
}

/** Returns a snapshot of one upstream server and its instances. */
export function statusOf(route: Route): ServerStatus {
  const { name, upstream } = route
  const instances = upstream.instances.map((instance): InstanceStatus => {
    const { key, target, state, breaker, load, restarts, retryInMs, first } = instance
    const reason = instance.reason ?? breakerReason(breaker) ?? route.ejection(instance)
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
  const healthy = instances.filter(({ state, reason }) => state === 'ready' && reason === undefined)
  const unhealthy = instances.find(({ reason }) => reason !== undefined)
  // A half-open breaker lets calls through, and only their results show whether the instance works.
  const isProbed = instances.some(
    ({ state, breaker }) => state === 'ready' && breaker === 'half-open',
  )
  const isCallable = healthy.length > 0 || isProbed
  const level = healthy.length === instances.length ? 'ok' : isCallable ? 'degraded' : 'down'
  const { tools, prompts, resources } = upstream.lists
  return {
    name,
    level,
    ...(level !== 'ok' && { reason: unhealthy?.reason ?? upstream.problem ?? 'starting' }),
    ...(unhealthy?.retryInMs !== undefined && { retryInMs: unhealthy.retryInMs }),
    ...(instances.some(({ state }) => state === 'quarantined') && { action: quarantineAction }),
    tools: tools.length,
    prompts: prompts.length,
    resources: resources.length,
    instances,
  }
}

/** Says why a breaker blocks some or all calls; undefined for a closed breaker. */
function breakerReason(breaker: Breaker | undefined): string | undefined {
  if (breaker === undefined || breaker.state === 'closed') return undefined
  if (breaker.state === 'open') return `its circuit breaker is open after ${breaker.why}`
  // The open period may have passed without a call since.
  return breaker.why.startsWith('probing') ? breaker.why : `probing after ${breaker.why}`
}

const quarantineAction =
  'find out why it exited; the router retries it on a configuration change, on SIGHUP, or with router.retry()'
