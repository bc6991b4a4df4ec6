import type { Tool } from '../mcp/types/tools.ts'
import type { HealthLevel } from '../observe/health/health.ts'
import type { ToolEntry } from './catalog/entries.ts'
import { prefixOf } from './catalog/names.ts'
import type { Route } from './dispatch/route.ts'
import type { Breaker, BreakerState } from './policy/breaker.ts'
import type { InstanceState } from './upstream/instance-lifecycle.ts'

/** A tool that callers of a router see. */
export interface ExposedTool {
  /** Its name there. */
  readonly name: string
  /** The server that it belongs to. */
  readonly server: string
}

/** A tool that callers of a router see, with its definition. */
export interface ExposedDefinition extends ExposedTool {
  /** Its name on the server. */
  readonly upstreamName: string
  /** The definition that callers see. */
  readonly definition: Tool
  /** Why callers see it under this name. */
  readonly naming: 'own' | 'prefixed' | 'renamed' | 'shortened'
  /** Whether the router believes the annotations of the server. */
  readonly isTrusted: boolean
}

/** A snapshot of one instance of a server. */
export interface InstanceStatus {
  /** Identifies the instance among those of its server, such as `0`. */
  readonly key: string
  /** The command or the address. */
  readonly label: string
  /** What the instance is doing, such as starting or ready. */
  readonly state: InstanceState
  /** Why the instance is not ready or receives no calls. */
  readonly reason?: string
  /** The reason in words that anyone may read: without output of the server, addresses and paths. */
  readonly summary?: string
  /** Milliseconds until the router retries the instance. */
  readonly retryInMs?: number
  /** The root of the latest failure, unless a call was answered since, such as `HTTP 503` or `ECONNREFUSED`. */
  readonly lastFailure?: string
  /** The state of the circuit breaker; `'off'` if the server has none. */
  readonly breaker: BreakerState | 'off'
  /** Calls that were sent to the instance and not answered yet. */
  readonly inFlight: number
  /** The mean duration of recent calls, in milliseconds; 0 if unknown. */
  readonly latencyMs: number
  /** The share of recent calls that failed, from 0 to 1. */
  readonly errorRate: number
  /** How often the instance was restarted. */
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
  /** The name of the server in the router. */
  readonly name: string
  /** Whether the server works, works in part, or is down. */
  readonly level: HealthLevel
  /** Why the server is degraded or down, for people. */
  readonly reason?: string
  /** The reason in words that anyone may read: without output of the server, addresses and paths. */
  readonly summary?: string
  /** Milliseconds until the router retries the server. */
  readonly retryInMs?: number
  /** The root of the latest failure of an instance that has not answered a call since, such as `HTTP 401`. */
  readonly lastFailure?: string
  /** What the operator has to do before the server recovers, if anything. */
  readonly action?: string
  /** The number of its tools. */
  readonly tools: number
  /** The number of its prompts. */
  readonly prompts: number
  /** The number of its resources. */
  readonly resources: number
  /** The instances of the server. */
  readonly instances: readonly InstanceStatus[]
}

/** Returns the definition of a tool that callers see. */
export function exposedDefinitionOf({ shown, name, route }: ToolEntry): ExposedDefinition {
  return {
    name: shown.name,
    server: route.name,
    upstreamName: name,
    definition: shown,
    naming: namingOf(shown.name, name, route),
    isTrusted: route.upstream.options.trustAnnotations === true,
  }
}

function namingOf(
  shown: string,
  own: string,
  { name, upstream }: Route,
): ExposedDefinition['naming'] {
  if (shown === own) return 'own'
  const { prefix, tools } = upstream.options
  const replaced = new Map(Object.entries(tools?.rename ?? {})).get(own)
  if (shown !== prefixOf(name, prefix) + (replaced ?? own)) return 'shortened'
  return replaced === undefined ? 'prefixed' : 'renamed'
}

/** Returns a snapshot of one upstream server and its instances. */
export function serverStatusOf(route: Route): ServerStatus {
  const { name, upstream } = route
  const instances = upstream.instances.map((instance): InstanceStatus => {
    const { key, target, state, breaker, load, restarts, retryInMs, first } = instance
    const { heldMs, lastFailure } = instance.availability
    const held = heldMs > 0 ? 'it asked for a pause (Retry-After)' : undefined
    const blocked = held ?? breakerReason(breaker) ?? route.ejection(instance)
    const late = blocked ?? missedReason(instance.misses)
    const reason = instance.reason ?? late
    const summary = instance.summary ?? late
    const openMs = breaker?.state === 'open' ? breaker.retryAfterMs : undefined
    const wait = retryInMs ?? (heldMs > 0 ? Math.ceil(heldMs) : openMs)
    return {
      key,
      label: target.label,
      state,
      ...(reason !== undefined && { reason, summary }),
      ...(wait !== undefined && { retryInMs: wait }),
      ...(lastFailure !== undefined && { lastFailure }),
      breaker: breaker?.state ?? 'off',
      inFlight: load.inFlight,
      latencyMs: load.latencyMs,
      errorRate: load.errorRate,
      restarts,
      revision: upstream.isUnlisted ? undefined : first?.server.revision.name,
      ...(instance.hasWebSocket && { websocket: true as const }),
      pids: instance.children.map(({ pid }) => pid),
      stderr: instance.stderr,
    }
  })
  const healthy = instances.filter(
    ({ state, reason }) => (state === 'ready' || state === 'idle') && reason === undefined,
  )
  const unhealthy = instances.find(({ reason }) => reason !== undefined)
  // It gets calls, and only their results show whether it works.
  const isDoubtful = upstream.instances.some(
    ({ state, breaker, misses, isReady }) =>
      state === 'ready' && (breaker?.state === 'half-open' || (misses > 0 && isReady)),
  )
  const isCallable = healthy.length > 0 || isDoubtful
  const lastFailed = instances.find(({ lastFailure }) => lastFailure !== undefined)
  const [listProblem] = upstream.listProblems
  const isWhole = healthy.length === instances.length && listProblem === undefined
  const level = isWhole ? 'ok' : isCallable ? 'degraded' : 'down'
  const listReason = listProblem && `${listProblem.method}: ${listProblem.reason}`
  const { tools, prompts, resources } = upstream.lists
  return {
    name,
    level,
    ...(level !== 'ok' && {
      reason: unhealthy?.reason ?? upstream.problem ?? listReason ?? 'starting',
      summary: unhealthy?.summary ?? listProblem?.summary ?? 'it is starting',
    }),
    ...(unhealthy?.retryInMs !== undefined && { retryInMs: unhealthy.retryInMs }),
    ...(instances.some(({ state }) => state === 'quarantined') && {
      action: upstream.options.configError === undefined ? quarantineAction : configAction,
    }),
    ...(lastFailed !== undefined && { lastFailure: lastFailed.lastFailure }),
    tools: tools.length,
    prompts: prompts.length,
    resources: resources.length,
    instances,
  }
}

/** Says how many health checks were missed in a row; undefined for none. */
function missedReason(misses: number): string | undefined {
  if (misses === 0) return undefined
  return `missed ${misses} health check${misses === 1 ? '' : 's'}`
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

const configAction = 'correct its configuration; the router applies a change of the file at once'
