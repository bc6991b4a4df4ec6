import { createHash } from 'node:crypto'
import type {
  CallAttempted,
  CallFinished,
  CallProgressed,
  CallStarted,
  CallWaited,
} from '../../observe/events.ts'
import { redactText } from '../../observe/log/redact.ts'
import { limits } from '../../util/limits/limits.ts'
import type { CallProgressRow, CallRow, SpanRow } from '../wire.ts'

/** The name of the client of the console itself. */
export const ownClientName = 'trunkline-console'

/** What happened during a call, as events reported it. */
export type CallPart =
  | { readonly type: 'attempt'; readonly event: CallAttempted }
  | { readonly type: 'wait'; readonly event: CallWaited }
  | { readonly type: 'question'; readonly method: string; readonly atMs: number }

/** The newest progress of a call, and how many reports there were. */
export interface CallProgress {
  readonly event: CallProgressed
  readonly atMs: number
  readonly reports: number
}

/** How rows are made. */
export interface RowOptions {
  /** Whether principals are shown as they are, or as a digest. */
  readonly people: 'shown' | 'hash'
  /** Milliseconds since 1970 at `performance.now()` 0. */
  readonly origin: number
}

/** Makes the row of a call. `call` has not finished if it has no duration yet. */
export function callRow(
  seq: number,
  call: CallStarted & Partial<CallFinished>,
  parts: readonly CallPart[] | undefined,
  { people, origin }: RowOptions,
  progress?: CallProgress,
): CallRow {
  const { method, name, server, instance, startedMs, kind, code, reason, retries } = call
  const { client, principal, revision, era } = call.caller
  const ms = call.durationMs ?? -1
  const isFinished = ms >= 0
  const questions = parts?.filter(({ type }) => type === 'question').length ?? 0
  const isSlow = isFinished && ms >= limits.slowCallMs.default
  return {
    seq,
    at: origin + startedMs,
    method,
    ...(name !== undefined && { name: redactText(name) }),
    ...(server !== undefined && { server }),
    ...(instance !== undefined && { instance }),
    ...(client !== undefined && {
      client: redactText(client.name),
      version: redactText(client.version),
    }),
    ...(principal !== undefined && {
      principal: shownPrincipal(principal, people),
    }),
    ...(revision !== undefined && { revision }),
    ...(era && { era }),
    ...(isFinished && { ms: Math.round(ms * 1000) / 1000, outcome: call.outcome }),
    ...(kind !== undefined && { kind }),
    ...(code !== undefined && { code }),
    ...(reason !== undefined && { reason: redactText(reason) }),
    ...(retries !== undefined && retries > 0 && { retries }),
    ...(progress && { progress: progressRow(progress, startedMs) }),
    ...(questions > 0 && { questions }),
    ...(isSlow && { isSlow }),
    ...(client?.name === ownClientName && { isOurs: true }),
    ...(parts !== undefined && { spans: parts.map(part => spanRow(part, startedMs)) }),
  }
}

function progressRow({ event, atMs, reports }: CallProgress, startedMs: number): CallProgressRow {
  const { progress, total, message } = event
  return {
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && {
      message: redactText(message).slice(0, limits.consoleProgressLength.default),
    }),
    atMs: rounded(atMs - startedMs),
    reports,
  }
}

function spanRow(part: CallPart, startedMs: number): SpanRow {
  if (part.type === 'question') {
    const from = rounded(part.atMs - startedMs)
    return { what: 'question', from, label: part.method }
  }
  const from = rounded(part.event.startedMs - startedMs)
  const to = rounded(part.event.startedMs + part.event.durationMs - startedMs)
  if (part.type === 'wait') {
    const label = part.event.reason === 'limit' ? 'waits for a limit' : 'waits for an instance'
    return { what: 'wait', from, to, label }
  }
  const { server, instance, attempt, failure } = part.event
  return {
    what: 'attempt',
    from,
    to,
    label: `${server}/${instance}${attempt > 1 ? `, attempt ${attempt}` : ''}`,
    instance,
    ...(failure !== undefined && { failure: redactText(failure) }),
  }
}

function rounded(ms: number): number {
  return Math.max(0, Math.round(ms * 1000) / 1000)
}

/** Returns a principal as it is shown: as it is, or as eight digits of a digest. */
export function shownPrincipal(principal: string, people: RowOptions['people']): string {
  if (people === 'shown') return principal
  return createHash('sha256').update(principal).digest('hex').slice(0, 8)
}
