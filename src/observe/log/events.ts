import { limits } from '../../util/limits/limits.ts'
import { clusterLines } from '../cluster/log.ts'
import { type CallFinished, events } from '../events.ts'
import type { LogLineLevel } from './line.ts'
import type { Log, LogOptions } from './log.ts'

/** Options of the event log. */
export interface LogEventsOptions extends LogOptions {
  /** Whether to log configuration reloads; `false` if other code does. */
  readonly reloads?: boolean
  /** Whether to log that instances start, exit, restart and are quarantined; `false` if other code does. */
  readonly instances?: boolean
}

/**
 * Writes the events of this process to a log. Returns a function that stops it.
 *
 * Successful calls, and calls that failed because of the request, have the level `debug`; calls that failed
 * because of the server are warnings. At most `logCallsPerSecond` of them are written; the rest is counted.
 */
export function logEvents(
  log: Log,
  { reloads = true, instances = true }: Pick<LogEventsOptions, 'reloads' | 'instances'> = {},
): () => void {
  const ends = [
    ...callLines(log),
    ...(instances ? instanceLines(log) : []),
    ...(log.writes('debug') ? sessionLines(log) : []),
    ...otherLines(log),
    ...clusterLines(log),
    ...(reloads ? [reloadLines(log)] : []),
  ]
  return () => {
    for (const end of ends) end()
  }
}

function callLines(log: Log): (() => void)[] {
  if (!log.writes('warn')) return []
  const write = boundedLines(log)
  // If successful calls are not written, there is no need to subscribe to them.
  const channel = log.writes('debug') ? events.callFinished : events.callFailed
  return [
    channel.subscribe(call => {
      const level: LogLineLevel = isServerError(call) ? 'warn' : 'debug'
      if (log.writes(level)) write(level, call)
    }),
  ]
}

/** Writes at most `logCallsPerSecond` lines per second, and counts the rest. */
function boundedLines(log: Log): (level: LogLineLevel, call: CallFinished) => void {
  let second = 0
  let lines = 0
  return (level, call) => {
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) {
      second = now
      lines = 0
      log.reportDropped()
    }
    if (lines >= limits.logCallsPerSecond.default) {
      log.drop()
      return
    }
    lines += 1
    log.write(level, call.outcome === 'error' ? 'call failed' : 'call', callFields(call))
  }
}

/** Whether an error was caused by the server, and not by the request. */
function isServerError({ outcome, kind }: CallFinished): boolean {
  return outcome === 'error' && kind !== undefined && serverErrors.has(kind)
}

const serverErrors: ReadonlySet<string> = new Set([
  'internal_error',
  'custom_server_error',
  'transport_error',
  'timeout',
  'tool_execution_failed',
  'tool_dependency_failed',
  'prompt_render_failed',
  'template_render_failed',
])

function callFields(call: CallFinished): Record<string, unknown> {
  const { method, name, id, server, instance, outcome, kind, code, reason, caller } = call
  return {
    method,
    name,
    id,
    server,
    instance,
    outcome,
    kind,
    code,
    reason,
    durationMs: Math.round(call.durationMs * 1000) / 1000,
    retries: call.retries,
    principal: caller.principal,
    client:
      caller.client === undefined ? undefined : `${caller.client.name}/${caller.client.version}`,
    revision: caller.revision,
  }
}

function instanceLines(log: Log): (() => void)[] {
  return [
    events.instanceStarted.subscribe(event => log.write('info', 'instance started', { ...event })),
    events.instanceExited.subscribe(event => {
      log.write(event.reason === undefined ? 'info' : 'warn', 'instance exited', { ...event })
    }),
    events.instanceRestarted.subscribe(event => {
      // The first attempts, and then fewer and fewer: an address may be unreachable for days.
      const isRare = Number.isInteger(Math.log2(event.attempt))
      log.write(isRare ? 'warn' : 'debug', 'instance restarted', { ...event })
    }),
    events.instanceQuarantined.subscribe(event => {
      log.write('error', 'instance quarantined', { ...event })
    }),
  ]
}

function sessionLines(log: Log): (() => void)[] {
  return [
    events.sessionOpened.subscribe(({ session, caller }) => {
      const { principal, client, revision } = caller ?? {}
      log.write('debug', 'session opened', { session, principal, client: client?.name, revision })
    }),
    events.sessionClosed.subscribe(event => log.write('debug', 'session closed', { ...event })),
  ]
}

function otherLines(log: Log): (() => void)[] {
  return [
    ...(log.writes('debug')
      ? [
          events.limitRefused.subscribe(event => log.write('debug', 'limit reached', { ...event })),
          events.serverRequestSent.subscribe(({ server, instance, method }) => {
            log.write('debug', 'server request sent', { server, instance, method })
          }),
        ]
      : []),
    events.listFailed.subscribe(event => log.write('warn', 'list failed', { ...event })),
    events.listRecovered.subscribe(event => log.write('info', 'list recovered', { ...event })),
    events.healthMissed.subscribe(event => log.write('warn', 'health check missed', { ...event })),
    events.breakerChanged.subscribe(event => {
      log.write(event.to === 'open' ? 'warn' : 'info', 'breaker changed', { ...event })
    }),
    events.toolChanged.subscribe(event => {
      log.write(event.action === undefined ? 'info' : 'warn', 'tool changed', { ...event })
    }),
  ]
}

function reloadLines(log: Log): () => void {
  return events.configReloaded.subscribe(event => {
    log.write(event.ok ? 'info' : 'error', 'configuration reloaded', { ...event })
  })
}
