import { RpcError } from '../jsonrpc/error.ts'
import type { Caller } from '../mcp/caller.ts'
import type { CallSpan } from '../observe/call.ts'
import {
  type CallAttempted,
  type CallProgressed,
  type CallWaited,
  events,
} from '../observe/events.ts'
import { isRecord } from '../util/objects.ts'
import { errorMessage } from '../util/text/error-message.ts'
import { hideValues } from '../util/text/hidden-values.ts'
import type { PinChange } from './pins/pins.ts'
import { failureText } from './upstream/failure-text.ts'
import type { Instance } from './upstream/instance.ts'
import type { ListProblem } from './upstream/lists/server-lists.ts'
import type { InstanceEvent } from './upstream/upstream-host.ts'

/**
 * Publishes a state change of an instance. `successor` is the instance that has this key now: the same
 * one, or its replacement, whose own events have been published already.
 */
export function publishInstanceEvent(
  server: string,
  instance: Instance,
  event: InstanceEvent,
  successor?: Instance,
): void {
  const who = { server, instance: instance.key }
  switch (event.type) {
    case 'ready':
      if (events.instanceStarted.hasSubscribers) {
        events.instanceStarted.publish({ ...who, pid: instance.children[0]?.pid })
      }
      return
    case 'stopped':
      if (successor?.first === undefined && events.instanceExited.hasSubscribers) {
        events.instanceExited.publish(who)
      }
      publishBreakerClosed(who, instance, successor)
      return
    case 'down':
      if (events.instanceExited.hasSubscribers) {
        const { cause } = event
        events.instanceExited.publish({
          ...who,
          reason: cause && failureText(cause),
          details: detailsOf(cause, instance),
        })
      }
      return
    case 'restart': {
      const { attempt, delayMs } = event
      if (events.instanceRestarted.hasSubscribers) {
        events.instanceRestarted.publish({ ...who, attempt, delayMs })
      }
      return
    }
    case 'quarantined':
      if (events.instanceQuarantined.hasSubscribers) {
        events.instanceQuarantined.publish({ ...who, reason: event.reason })
      }
      return
    case 'missed':
      if (events.healthMissed.hasSubscribers) events.healthMissed.publish(who)
      return
    case 'breaker': {
      if (!events.breakerChanged.hasSubscribers) return
      const { from, to, why: reason } = event
      const retryInMs = to === 'open' ? instance.breaker?.retryAfterMs : undefined
      events.breakerChanged.publish({ ...who, from, to, reason, retryInMs })
    }
  }
}

/** Returns what the reason leaves out: the rest of stderr, or the causes of the error; undefined if nothing. */
function detailsOf(cause: Error | undefined, { stderr }: Instance): string | undefined {
  const texts = stderr.trim() === '' ? [] : [stderr.trim()]
  for (let one = cause?.cause, depth = 0; one instanceof Error && depth < 8; one = one.cause) {
    texts.push(one.message)
    depth++
  }
  const reason = cause?.message ?? ''
  const unsaid = texts.filter(text => !reason.includes(text))
  return unsaid.length === 0 ? undefined : hideValues(unsaid.join('; '))
}

/** Publishes that the breaker of a removed instance is no longer open. */
function publishBreakerClosed(
  who: { readonly server: string; readonly instance: string },
  { breaker }: Instance,
  successor: Instance | undefined,
): void {
  const from = breaker?.state ?? 'closed'
  const now = successor?.breaker?.state ?? 'closed'
  if (from === 'closed' || now !== 'closed' || !events.breakerChanged.hasSubscribers) return
  events.breakerChanged.publish({ ...who, from, to: 'closed', reason: 'instance removed' })
}

/** Publishes that a list of a server could not be read. */
export function publishListFailed(
  server: string,
  { key: instance }: Instance,
  { method, reason }: ListProblem,
): void {
  if (events.listFailed.hasSubscribers) {
    events.listFailed.publish({ server, instance, method, reason })
  }
}

/** Publishes that a list that could not be read was read. */
export function publishListRecovered(
  server: string,
  { key: instance }: Instance,
  method: string,
): void {
  if (events.listRecovered.hasSubscribers)
    events.listRecovered.publish({ server, instance, method })
}

/** Publishes that the definition of a tool differs from the pinned one. */
export function publishPinChange({ server, tool }: PinChange, pin: 'warn' | 'block'): void {
  if (!events.toolChanged.hasSubscribers) return
  const action = pin === 'block' ? 'blocked' : 'warned'
  events.toolChanged.publish({ server, tool, change: 'changed', action })
}

/** Publishes that a limit rejected a call. Ignores errors of any other kind, which have events of their own. */
export function publishLimitRefused(
  error: unknown,
  server: string,
  call: { readonly tool: string | undefined; readonly caller: Caller },
): void {
  if (!events.limitRefused.hasSubscribers) return
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

/** The scope of a limit, by the name that errors give to the limit. */
const scopes: ReadonlyMap<string, 'all' | 'caller' | 'server' | 'tool'> = new Map([
  ['router', 'all'],
  ['caller', 'caller'],
  ['server', 'server'],
  ['server per caller', 'caller'],
  ['tool', 'tool'],
])

/** Publishes the number of calls queued for a server. */
export function publishQueueLength(server: string, length: number): void {
  if (events.queueChanged.hasSubscribers) events.queueChanged.publish({ server, length })
}

/** Publishes that a server sent a request (elicitation, sampling, roots) to a caller. */
export function publishServerRequest(server: string, method: string, call?: CallSpan): void {
  if (!events.serverRequestSent.hasSubscribers) return
  const { instance } = call ?? {}
  events.serverRequestSent.publish({ server, instance, method, call })
}

/** Publishes that an attempt to send a call has ended. Without a span there are no subscribers. */
export function publishAttempt(
  span: CallSpan | undefined,
  event: Omit<CallAttempted, 'call' | 'failure' | 'durationMs'>,
  nowMs: number,
  error?: unknown,
): void {
  if (span === undefined || !events.callAttempted.hasSubscribers) return
  const failure = error === undefined ? undefined : hideValues(errorMessage(error))
  const durationMs = nowMs - event.startedMs
  events.callAttempted.publish({ ...event, call: span, durationMs, failure })
}

/** Publishes that a server reported progress of a call. Without a span there are no subscribers. */
export function publishProgress(
  span: CallSpan | undefined,
  { progress, total, message }: Omit<CallProgressed, 'call'>,
): void {
  if (span === undefined || !events.callProgressed.hasSubscribers) return
  events.callProgressed.publish({ call: span, progress, total, message })
}

/** Publishes that a call has waited. Without a span there are no subscribers. */
export function publishWait(
  span: CallSpan | undefined,
  reason: CallWaited['reason'],
  startedMs: number,
  nowMs: number,
): void {
  if (span === undefined || !events.callWaited.hasSubscribers) return
  events.callWaited.publish({ call: span, reason, startedMs, durationMs: nowMs - startedMs })
}
