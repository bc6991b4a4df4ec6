import type { Id } from '../jsonrpc/message.ts'
import type { CallerInfo } from './caller.ts'
import type {
  EngineChanged,
  NodeAdopted,
  NodeJoined,
  NodeLeft,
  RequestForwarded,
  SessionAdopted,
  SessionFenced,
  SessionsHandedOff,
} from './cluster/events.ts'
import { channelOf } from './event-channel.ts'

/** The outcome of a call. A failed tool is not a protocol error; with `input-required` the caller will retry. */
export type Outcome = 'ok' | 'tool-error' | 'input-required' | 'error' | 'cancelled'

/** A request is about to be handled. */
export interface CallStarted {
  /** The method of the request, such as `tools/call`. */
  readonly method: string
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name?: string
  /** The id of the request; undefined for a notification. */
  readonly id?: Id | null
  /** The server that handles the request; undefined if there is only one. */
  readonly server?: string
  /** The instance of that server; undefined if there is only one. */
  readonly instance?: string
  /** The caller, as far as it is known. */
  readonly caller: CallerInfo
  /** When the request arrived, in milliseconds of `performance.now()`. */
  readonly startedMs: number
}

/** The server of a call was determined or changed after `callStarted`. */
export interface CallRouted {
  /** The call, as `callStarted` published it. */
  readonly call: CallStarted
  /** The server before; undefined if it was unknown. */
  readonly from?: string
  /** The server now. */
  readonly to?: string
}

/** A request has been handled, with any outcome. */
export interface CallFinished extends CallStarted {
  /** How the call ended. */
  readonly outcome: Outcome
  /** The name of the error in the error catalog, if the outcome is `'error'`. */
  readonly kind?: string
  /** What is at the root of that error, such as `HTTP 503` or `ECONNREFUSED`, if that is known. */
  readonly reason?: string
  /** The code of that error in the catalog; the code on the wire depends on the revision of the caller. */
  readonly code?: number
  /** How long it took, in milliseconds. */
  readonly durationMs: number
  /** How often the router retried the call. */
  readonly retries?: number
}

/** A router has sent a call to an instance, and knows how that ended. A call that is retried has several attempts. */
export interface CallAttempted {
  /** The call, as `callStarted` published it. */
  readonly call: CallStarted
  /** The number of this attempt, starting at 1. */
  readonly attempt: number
  /** The server of the attempt. */
  readonly server: string
  /** The instance that the call was sent to. */
  readonly instance: string
  /** When the attempt started, in milliseconds of `performance.now()`. */
  readonly startedMs: number
  /** How long it took, in milliseconds. */
  readonly durationMs: number
  /** Why the attempt failed, for people; undefined if the instance returned a result. */
  readonly failure?: string
}

/** A call waited before it was sent to an instance. */
export interface CallWaited {
  /** The call, as `callStarted` published it. */
  readonly call: CallStarted
  /** What the call waited for: room within a limit, or an instance that takes calls. */
  readonly reason: 'limit' | 'instance'
  /** When it began to wait, in milliseconds of `performance.now()`. */
  readonly startedMs: number
  /** How long it waited, in milliseconds. */
  readonly durationMs: number
}

/** A server reported progress of a call, to a caller that wants it. */
export interface CallProgressed {
  /** The call, as `callStarted` published it. */
  readonly call: CallStarted
  /** How far the call is, in units of the server. */
  readonly progress: number
  /** The value of `progress` at the end, if the server knows it. */
  readonly total?: number
  /** What the server is doing, for people. */
  readonly message?: string
}

/** A call has ended, with its contents. Published only by routers, and only while there are subscribers. */
export interface CallRecorded {
  /** The call, as `callStarted` published it. */
  readonly call: CallStarted
  /** The params of the request. Secrets are not redacted yet. */
  readonly params: unknown
  /** The result, if there is one. Secrets are not redacted yet. */
  readonly result?: unknown
  /** The message of the error that the caller got instead of a result. */
  readonly error?: string
}

/** A line was written to the log. */
export interface LogWritten {
  /** How severe it is. */
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  /** The name of the event: a short constant text. */
  readonly what: string
  /** The variable data. Secrets are not redacted yet. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** An instance of a server was started, or a connection to it opened. */
export interface InstanceStarted {
  /** The name of the server. */
  readonly server: string
  /** The instance that was started. */
  readonly instance: string
  /** The process id of a started process. */
  readonly pid?: number
}

/** The process of an instance exited, or the connection to it closed. */
export interface InstanceExited {
  /** The name of the server. */
  readonly server: string
  /** The instance that exited. */
  readonly instance: string
  /** Why, for people; undefined if the router stopped the instance. */
  readonly reason?: string
  /** What the reason leaves out, such as the rest of the error output of the process. */
  readonly details?: string
  /** The exit code of the process. */
  readonly exitCode?: number
}

/** An instance is being started or connected to again. */
export interface InstanceRestarted {
  /** The name of the server. */
  readonly server: string
  /** The instance that is being started again. */
  readonly instance: string
  /** The number of this attempt since the instance last worked, starting at 1. */
  readonly attempt: number
  /** The delay before this attempt. */
  readonly delayMs?: number
}

/** An instance failed too often and is not restarted until an operator releases it. */
export interface InstanceQuarantined {
  /** The name of the server. */
  readonly server: string
  /** The instance that is not restarted. */
  readonly instance: string
  /** Why, for people. */
  readonly reason: string
}

/** An instance did not respond to a health check. Published for the first of several in a row. */
export interface HealthMissed {
  /** The name of the server. */
  readonly server: string
  /** The instance that did not respond. */
  readonly instance: string
}

/** A list of a server could not be read, or for another reason than before. */
export interface ListFailed {
  /** The name of the server. */
  readonly server: string
  /** The instance whose list could not be read. */
  readonly instance: string
  /** The method of the request, such as `tools/list`. */
  readonly method: string
  /** Why, for people. */
  readonly reason: string
}

/** A list that could not be read was read. */
export interface ListRecovered {
  /** The name of the server. */
  readonly server: string
  /** The instance whose list was read. */
  readonly instance: string
  /** The method of the request, such as `tools/list`. */
  readonly method: string
}

/** The state of a circuit breaker: `closed` allows calls, `open` none, `half-open` a few trial calls. */
export type BreakerState = 'closed' | 'half-open' | 'open'

/** A circuit breaker changed its state. */
export interface BreakerChanged {
  /** The name of the server. */
  readonly server: string
  /** The instance whose calls the breaker controls. */
  readonly instance: string
  /** The state before. */
  readonly from: BreakerState
  /** The state now. */
  readonly to: BreakerState
  /** Why, for people. */
  readonly reason?: string
  /** Milliseconds until the next trial call. */
  readonly retryInMs?: number
}

/** The number of queued calls of a server changed. */
export interface QueueChanged {
  /** The name of the server. */
  readonly server: string
  /** The number of calls that wait now. */
  readonly length: number
}

/** A connection was accepted, or an HTTP session opened. */
export interface SessionOpened {
  /** Identifies the session in this process. It is not the session id of the client, which is a secret. */
  readonly session: number
  /** The client, as far as it is known. */
  readonly caller?: CallerInfo
}

/** A connection or session closed. */
export interface SessionClosed {
  /** The number of the session, as `sessionOpened` published it. */
  readonly session: number
  /** How long it was open, in milliseconds. */
  readonly durationMs: number
  /** Why, for people; undefined if it closed normally. */
  readonly reason?: string
}

/** A call was refused because a limit was reached. */
export interface LimitRefused {
  /**
   * The limit, as in the error that the caller gets: `router`, `caller`, `server`, `server per caller` or
   * `tool`.
   */
  readonly limit: string
  /** What the limit applies to. */
  readonly scope: 'all' | 'caller' | 'server' | 'tool'
  /** The name of the server, if the limit belongs to one. */
  readonly server?: string
  /** The name of the tool, if the limit belongs to one. */
  readonly tool?: string
  /** The principal of the caller, if it is authenticated. */
  readonly principal?: string
  /** When the caller may try again, in milliseconds from now, if that is known. */
  readonly retryAfterMs?: number
}

/** A router refused a call, could not deliver it, or does not know its outcome. */
export interface Undelivered {
  /** The name of the server that the call was for. */
  readonly server: string
  /** The method of the request, such as `tools/call`. */
  readonly method: string
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name?: string
  /** The principal of the caller, if it is authenticated. */
  readonly principal?: string
  /** The code of the error that the caller got. */
  readonly code: number
  /** The name of that error in the error catalog. */
  readonly kind?: string
  /** The message of the error that the caller got. */
  readonly message: string
  /** Whether the call certainly was not executed. */
  readonly outcome: 'not-executed' | 'unknown'
  /** What is at the root of the error, such as `HTTP 503` or `ECONNREFUSED`, if that is known. */
  readonly reason?: string
  /** The limit that refused the call. */
  readonly limit?: string
  /** When the caller may try again, in milliseconds from then, if that is known. */
  readonly retryAfterMs?: number
}

/** A tool of a server was added, removed or changed. */
export interface ToolChanged {
  /** The name of the server. */
  readonly server: string
  /** The name of the tool on that server. */
  readonly tool: string
  /** What happened to the tool. */
  readonly change: 'added' | 'removed' | 'changed'
  /** What the router did about it, if tool definitions are pinned. */
  readonly action?: 'warned' | 'blocked'
}

/** The configuration was reloaded. */
export interface ConfigReloaded {
  /** Whether the new configuration is in effect. */
  readonly ok: boolean
  /** The names of the servers that were added. */
  readonly added?: readonly string[]
  /** The names of the servers that were removed. */
  readonly removed?: readonly string[]
  /** The names of the servers that were changed. */
  readonly changed?: readonly string[]
  /** What is wrong with the new configuration, if it was rejected; the old one stays in effect. */
  readonly problems?: readonly string[]
}

/** An upstream server sent a request to the caller. */
export interface ServerRequestSent {
  /** The name of the server. */
  readonly server: string
  /** The instance that sent the request. */
  readonly instance?: string
  /** The method of the request, such as `elicitation/create`. */
  readonly method: string
  /** The caller that gets the request, if it is known. */
  readonly caller?: CallerInfo
  /** The call during which the server sent the request, as `callStarted` published it, if that is known. */
  readonly call?: CallStarted
}

/** The events of this process, one channel for each type. */
export const events = {
  /** A request is about to be handled. */
  callStarted: channelOf<CallStarted>('call:started'),
  callRouted: channelOf<CallRouted>('call:routed'),
  /** A request has been handled, with any outcome. The event is the same object as that of `callStarted`. */
  callFinished: channelOf<CallFinished>('call:finished'),
  /** A request failed with a protocol error. The same event as `callFinished`, for subscribers to errors only. */
  callFailed: channelOf<CallFinished>('call:failed'),
  callAttempted: channelOf<CallAttempted>('call:attempted'),
  callWaited: channelOf<CallWaited>('call:waited'),
  callProgressed: channelOf<CallProgressed>('call:progressed'),
  callRecorded: channelOf<CallRecorded>('call:recorded'),
  instanceStarted: channelOf<InstanceStarted>('instance:started'),
  instanceExited: channelOf<InstanceExited>('instance:exited'),
  instanceRestarted: channelOf<InstanceRestarted>('instance:restarted'),
  instanceQuarantined: channelOf<InstanceQuarantined>('instance:quarantined'),
  listFailed: channelOf<ListFailed>('list:failed'),
  listRecovered: channelOf<ListRecovered>('list:recovered'),
  healthMissed: channelOf<HealthMissed>('health:missed'),
  breakerChanged: channelOf<BreakerChanged>('breaker:changed'),
  queueChanged: channelOf<QueueChanged>('queue:changed'),
  sessionOpened: channelOf<SessionOpened>('session:opened'),
  sessionClosed: channelOf<SessionClosed>('session:closed'),
  limitRefused: channelOf<LimitRefused>('limit:refused'),
  undelivered: channelOf<Undelivered>('call:undelivered'),
  toolChanged: channelOf<ToolChanged>('tool:changed'),
  configReloaded: channelOf<ConfigReloaded>('config:reloaded'),
  serverRequestSent: channelOf<ServerRequestSent>('server-request:sent'),
  logWritten: channelOf<LogWritten>('log:written'),
  nodeJoined: channelOf<NodeJoined>('node:joined'),
  nodeLeft: channelOf<NodeLeft>('node:left'),
  nodeAdopted: channelOf<NodeAdopted>('node:adopted'),
  sessionAdopted: channelOf<SessionAdopted>('session:adopted'),
  sessionsHandedOff: channelOf<SessionsHandedOff>('handoff:finished'),
  sessionFenced: channelOf<SessionFenced>('session:fenced'),
  engineChanged: channelOf<EngineChanged>('engine:changed'),
  requestForwarded: channelOf<RequestForwarded>('request:forwarded'),
} as const
