import type { Id } from '../jsonrpc/message.ts'
import type { CallerInfo } from './caller.ts'
import { channelOf } from './event-channel.ts'

/** The outcome of a call. A failed tool is not a protocol error; with `input-required` the caller will retry. */
export type Outcome = 'ok' | 'tool-error' | 'input-required' | 'error' | 'cancelled'

/** A request is about to be handled. */
export interface CallStarted {
  readonly method: string
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name?: string
  readonly id?: Id | null
  /** The server that handles the request; undefined if there is only one. */
  readonly server?: string
  /** The instance of that server; undefined if there is only one. */
  readonly instance?: string
  readonly caller: CallerInfo
  /** When the request arrived, in milliseconds of `performance.now()`. */
  readonly startedMs: number
}

/** The server of a call was determined or changed after `callStarted`. */
export interface CallRouted {
  readonly call: CallStarted
  /** The server before; undefined if it was unknown. */
  readonly from?: string
  /** The server now. */
  readonly to?: string
}

/** A request has been handled, with any outcome. */
export interface CallFinished extends CallStarted {
  readonly outcome: Outcome
  /** The name of the error in the error catalog, if the outcome is `'error'`. */
  readonly kind?: string
  /** The code of that error in the catalog; the code on the wire depends on the revision of the caller. */
  readonly code?: number
  readonly durationMs: number
  /** How often the router retried the call. */
  readonly retries?: number
}

/** An instance of a server was started, or a connection to it opened. */
export interface InstanceStarted {
  readonly server: string
  readonly instance: string
  /** The process id of a started process. */
  readonly pid?: number
}

/** The process of an instance exited, or the connection to it closed. */
export interface InstanceExited {
  readonly server: string
  readonly instance: string
  /** Why, for people; undefined if the router stopped the instance. */
  readonly reason?: string
  /** The exit code of the process. */
  readonly exitCode?: number
}

/** An instance is being started or connected to again. */
export interface InstanceRestarted {
  readonly server: string
  readonly instance: string
  /** The number of this attempt since the instance last worked, starting at 1. */
  readonly attempt: number
  /** The delay before this attempt. */
  readonly delayMs?: number
}

/** An instance failed too often and is not restarted until an operator releases it. */
export interface InstanceQuarantined {
  readonly server: string
  readonly instance: string
  readonly reason: string
}

/** The state of a circuit breaker: `closed` allows calls, `open` none, `half-open` a few trial calls. */
export type BreakerState = 'closed' | 'half-open' | 'open'

/** A circuit breaker changed its state. */
export interface BreakerChanged {
  readonly server: string
  readonly instance: string
  readonly from: BreakerState
  readonly to: BreakerState
  readonly reason?: string
  /** Milliseconds until the next trial call. */
  readonly retryInMs?: number
}

/** The number of queued calls of a server changed. */
export interface QueueChanged {
  readonly server: string
  readonly length: number
}

/** A connection was accepted, or an HTTP session opened. */
export interface SessionOpened {
  /** Identifies the session in this process. It is not the session id of the client, which is a secret. */
  readonly session: number
  readonly caller?: CallerInfo
}

/** A connection or session closed. */
export interface SessionClosed {
  readonly session: number
  readonly durationMs: number
  /** Why, for people; undefined if it closed normally. */
  readonly reason?: string
}

/** A call was refused because a limit was reached. */
export interface LimitRefused {
  /** The limit, as in the error that the caller gets: `router`, `caller`, `server`, `server per caller` or `tool`. */
  readonly limit: string
  /** What the limit applies to. */
  readonly scope: 'all' | 'caller' | 'server' | 'tool'
  readonly server?: string
  readonly tool?: string
  readonly principal?: string
  readonly retryAfterMs?: number
}

/** A tool of a server was added, removed or changed. */
export interface ToolChanged {
  readonly server: string
  readonly tool: string
  readonly change: 'added' | 'removed' | 'changed'
  /** What the router did about it, if tool definitions are pinned. */
  readonly action?: 'warned' | 'blocked'
}

/** The configuration was reloaded. */
export interface ConfigReloaded {
  readonly ok: boolean
  readonly added?: readonly string[]
  readonly removed?: readonly string[]
  readonly changed?: readonly string[]
  /** What is wrong with the new configuration, if it was rejected; the old one stays in effect. */
  readonly problems?: readonly string[]
}

/** An upstream server sent a request to the caller. */
export interface ServerRequestSent {
  readonly server: string
  readonly instance?: string
  /** The method of the request, such as `elicitation/create`. */
  readonly method: string
  readonly caller?: CallerInfo
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
  instanceStarted: channelOf<InstanceStarted>('instance:started'),
  instanceExited: channelOf<InstanceExited>('instance:exited'),
  instanceRestarted: channelOf<InstanceRestarted>('instance:restarted'),
  instanceQuarantined: channelOf<InstanceQuarantined>('instance:quarantined'),
  breakerChanged: channelOf<BreakerChanged>('breaker:changed'),
  queueChanged: channelOf<QueueChanged>('queue:changed'),
  sessionOpened: channelOf<SessionOpened>('session:opened'),
  sessionClosed: channelOf<SessionClosed>('session:closed'),
  limitRefused: channelOf<LimitRefused>('limit:refused'),
  toolChanged: channelOf<ToolChanged>('tool:changed'),
  configReloaded: channelOf<ConfigReloaded>('config:reloaded'),
  serverRequestSent: channelOf<ServerRequestSent>('server-request:sent'),
} as const
