import type { Id } from '../jsonrpc/message.ts'
import type { CallerFacts } from './caller.ts'
import { channelOf } from './event-channel.ts'

/** How a call ended. A tool that failed is none of the protocol's errors, and a question no end at all. */
export type Outcome = 'ok' | 'tool-error' | 'input-required' | 'error' | 'cancelled'

/** A request is about to be answered. */
export interface CallBegun {
  readonly method: string
  /** Of the tool or prompt that it is about, or the address of the resource. */
  readonly name?: string
  readonly id?: Id | null
  /** Which server answers, and which instance of it; undefined where there is but one. */
  readonly server?: string
  readonly instance?: string
  readonly caller: CallerFacts
  /** When it came, in the milliseconds of `performance.now()`. */
  readonly beganMs: number
}

/** It has been found out, after a call had begun, which server answers it. */
export interface CallRouted {
  readonly call: CallBegun
  /** Which one it was thought to be before. */
  readonly from?: string
  readonly to?: string
}

/** It has been answered, or has failed. */
export interface CallEnded extends CallBegun {
  readonly outcome: Outcome
  /** What went wrong, by its name in the catalogue of errors, where the outcome is `'error'`. */
  readonly kind?: string
  /** The number of that error in the catalogue; what goes over the wire depends on the caller's revision. */
  readonly code?: number
  readonly durationMs: number
  /** How often it was tried again elsewhere. */
  readonly retries?: number
}

/** An instance of a server has been started, or a connection to it opened. */
export interface InstanceStarted {
  readonly server: string
  readonly instance: string
  /** Of a program that was started. */
  readonly pid?: number
}

/** An instance has ended, or the connection to it. */
export interface InstanceEnded {
  readonly server: string
  readonly instance: string
  /** In words; undefined when it was meant to end. */
  readonly reason?: string
  /** What a program ended with. */
  readonly exitCode?: number
}

/** An instance that was lost is started or connected to again. */
export interface InstanceRestarted {
  readonly server: string
  readonly instance: string
  /** The how-many-eth attempt since it last worked, from 1 on. */
  readonly attempt: number
  /** How long was waited before it. */
  readonly delayMs?: number
}

/** An instance has failed so often that it is left alone until somebody looks. */
export interface InstanceQuarantined {
  readonly server: string
  readonly instance: string
  readonly reason: string
}

/** What a circuit breaker does for an instance: lets calls through, none, or a few to find out. */
export type BreakerState = 'closed' | 'half-open' | 'open'

/** A circuit breaker lets calls through that it did not, or the other way round. */
export interface BreakerChanged {
  readonly server: string
  readonly instance: string
  readonly from: BreakerState
  readonly to: BreakerState
  readonly reason?: string
  /** When it is tried again, from now. */
  readonly retryInMs?: number
}

/** The number of calls that wait for their turn has changed. */
export interface QueueChanged {
  readonly server: string
  readonly length: number
}

/** A connection that lasts has been taken over, or a session opened. */
export interface SessionOpened {
  /** Tells it from the others of this process; not the id that the client has, which is a secret. */
  readonly session: number
  readonly caller?: CallerFacts
}

/** It has ended. */
export interface SessionClosed {
  readonly session: number
  readonly durationMs: number
  /** In words, unless it ended in good order. */
  readonly reason?: string
}

/** A call was not let through because there were too many. */
export interface LimitRefused {
  /** Which limit, as the caller is told: `router`, `caller`, `server`, `server per caller` or `tool`. */
  readonly limit: string
  /** Whose limit. */
  readonly scope: 'all' | 'caller' | 'server' | 'tool'
  readonly server?: string
  readonly tool?: string
  readonly principal?: string
  readonly retryAfterMs?: number
}

/** A server offers a tool that it did not, or no longer, or another one of the same name. */
export interface ToolChanged {
  readonly server: string
  readonly tool: string
  readonly change: 'added' | 'removed' | 'changed'
  /** What became of it, where definitions are held fast. */
  readonly action?: 'warned' | 'blocked'
}

/** The configuration was read again. */
export interface ConfigReloaded {
  readonly ok: boolean
  readonly added?: readonly string[]
  readonly removed?: readonly string[]
  readonly changed?: readonly string[]
  /** What was wrong with it; then the one before stays. */
  readonly problems?: readonly string[]
}

/** A server behind the router asked the caller something. */
export interface QuestionAsked {
  readonly server: string
  readonly instance?: string
  /** The method of the question, such as `elicitation/create`. */
  readonly method: string
  readonly caller?: CallerFacts
}

/** Everything that can be heard of a process that serves, one channel for each kind. */
export const events = {
  /** A request is about to be answered. */
  callBegun: channelOf<CallBegun>('call:begun'),
  callRouted: channelOf<CallRouted>('call:routed'),
  /** It has been, or has failed. The event is the object that `callBegun` told of. */
  callEnded: channelOf<CallEnded>('call:ended'),
  /** It has failed, with an error of the protocol: the same event as `callEnded`, for whoever wants no other. */
  callFailed: channelOf<CallEnded>('call:failed'),
  instanceStarted: channelOf<InstanceStarted>('instance:started'),
  instanceEnded: channelOf<InstanceEnded>('instance:ended'),
  instanceRestarted: channelOf<InstanceRestarted>('instance:restarted'),
  instanceQuarantined: channelOf<InstanceQuarantined>('instance:quarantined'),
  breakerChanged: channelOf<BreakerChanged>('breaker:changed'),
  queueChanged: channelOf<QueueChanged>('queue:changed'),
  sessionOpened: channelOf<SessionOpened>('session:opened'),
  sessionClosed: channelOf<SessionClosed>('session:closed'),
  limitRefused: channelOf<LimitRefused>('limit:refused'),
  toolChanged: channelOf<ToolChanged>('tool:changed'),
  configReloaded: channelOf<ConfigReloaded>('config:reloaded'),
  questionAsked: channelOf<QuestionAsked>('question:asked'),
} as const
