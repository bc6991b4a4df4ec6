import { RpcError } from '../jsonrpc/error.ts'
import { events } from '../observe/events.ts'
import { isRecord } from '../util/record.ts'
import type { Call } from './forward/call.ts'
import type { PinChange } from './pins/pins.ts'
import type { Instance } from './upstream/instance.ts'
import type { InstanceEvent } from './upstream/upstream.ts'

/**
 * Tells whoever listens what has become of an instance of a server. `successor` is the one that has this
 * name now: the same, or one that has taken its place and has been told of already.
 */
export function tellInstance(
  server: string,
  instance: Instance,
  event: InstanceEvent,
  successor?: Instance,
): void {
  const who = { server, instance: instance.key }
  switch (event.type) {
    case 'ready':
      if (events.instanceStarted.isHeard) {
        events.instanceStarted.publish({ ...who, pid: instance.children[0]?.pid })
      }
      return
    case 'stopped':
      if (successor?.first === undefined && events.instanceEnded.isHeard) {
        events.instanceEnded.publish(who)
      }
      tellClosed(who, instance, successor)
      return
    case 'down':
      if (events.instanceEnded.isHeard) {
        events.instanceEnded.publish({ ...who, reason: event.cause?.message })
      }
      return
    case 'restart': {
      const { attempt, delayMs } = event
      if (events.instanceRestarted.isHeard) {
        events.instanceRestarted.publish({ ...who, attempt, delayMs })
      }
      return
    }
    case 'quarantined':
      if (events.instanceQuarantined.isHeard) {
        events.instanceQuarantined.publish({ ...who, reason: event.reason })
      }
      return
    case 'breaker': {
      if (!events.breakerChanged.isHeard) return
      const { from, to, why: reason } = event
      const retryInMs = to === 'open' ? instance.breaker?.retryAfterMs : undefined
      events.breakerChanged.publish({ ...who, from, to, reason, retryInMs })
    }
  }
}

/** A breaker that is gone is not open any more. */
function tellClosed(
  who: { readonly server: string; readonly instance: string },
  { breaker }: Instance,
  successor: Instance | undefined,
): void {
  const from = breaker?.state ?? 'closed'
  const now = successor?.breaker?.state ?? 'closed'
  if (from === 'closed' || now !== 'closed' || !events.breakerChanged.isHeard) return
  events.breakerChanged.publish({ ...who, from, to: 'closed', reason: 'it was taken away' })
}

/** Tells whoever listens that a tool is not the one that it was. */
export function tellPin({ server, tool }: PinChange, pin: 'warn' | 'block'): void {
  if (!events.toolChanged.isHeard) return
  const action = pin === 'block' ? 'blocked' : 'warned'
  events.toolChanged.publish({ server, tool, change: 'changed', action })
}

/** Tells whoever listens that a limit has refused a call. Any other failure is told elsewhere. */
export function tellRefused(error: unknown, server: string, call: Call): void {
  if (!events.limitRefused.isHeard) return
  if (!(error instanceof RpcError) || error.kind !== 'rate_limited') return
  const { limit, retryAfterMs } = isRecord(error.data) ? error.data : {}
  const name = typeof limit === 'string' ? limit : ''
  events.limitRefused.publish({
    limit: name,
    scope: scopes.get(name) ?? 'server',
    server,
    tool: call.tool,
    principal: call.caller.principal?.id,
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
  })
}

/** Whose limit it is, by the name that the limit has in errors. */
const scopes: ReadonlyMap<string, 'all' | 'caller' | 'server' | 'tool'> = new Map([
  ['router', 'all'],
  ['caller', 'caller'],
  ['server', 'server'],
  ['server per caller', 'caller'],
  ['tool', 'tool'],
])

/** Tells whoever listens how many calls to a server wait for their turn. */
export function tellQueue(server: string, length: number): void {
  if (events.queueChanged.isHeard) events.queueChanged.publish({ server, length })
}

/** Tells whoever listens that a server asks a caller something. */
export function tellQuestion(server: string, method: string): void {
  if (events.questionAsked.isHeard) events.questionAsked.publish({ server, method })
}
