/** A node has joined the cluster, as far as this node knows. */
export interface NodeJoined {
  /** The name of the node. */
  readonly node: string
  /** The address at which other nodes reach it. */
  readonly address: string
  /** Its version of this package. */
  readonly version: string
}

/** A node has left the cluster. */
export interface NodeLeft {
  /** The name of the node. */
  readonly node: string
  /**
   * `drained`: it has handed off all sessions and ended. `left`: it ended, or its lease ran out. `expelled`: this node
   * found that its process has ended.
   */
  readonly reason: 'drained' | 'left' | 'expelled'
}

/** This node has adopted a session whose node is gone. */
export interface SessionAdopted {
  /** Whether the session goes on here, or could not be continued and has ended. */
  readonly outcome: 'continued' | 'ended'
}

/** This node has adopted its share of the sessions of a node that is gone. */
export interface NodeAdopted {
  /** The name of the node that is gone. */
  readonly from: string
  /** The number of sessions that go on here. */
  readonly sessions: number
  /** The number of sessions that cannot be adopted at present; that is tried again. */
  readonly remaining: number
  /** How long it took, in milliseconds. */
  readonly durationMs: number
}

/** This node has handed off its sessions, because it drains. */
export interface SessionsHandedOff {
  /** The number of sessions that it had. */
  readonly sessions: number
  /** The number of sessions that could not be handed off. The others adopt them, or they end. */
  readonly remaining: number
  /** How long it took, in milliseconds. */
  readonly durationMs: number
}

/** This node has dropped a session, because another node owns it by now. */
export interface SessionFenced {
  /** The name of this node. */
  readonly node: string
}

/** The engine of the cluster became reachable or unreachable, or came back empty. */
export interface EngineChanged {
  /** The engine, without a password. */
  readonly engine: string
  /** Whether it can be reached. */
  readonly isUp: boolean
  /** Whether its data may be gone. The nodes write theirs again. */
  readonly wasEmptied: boolean
}

/**
 * How the request of a session on another node ended. `ok`: the other node has responded. `unknown`: the node was lost,
 * and may have executed the request. `unavailable`: no owner was found in time (503). `not-found`: there is no such session.
 * `local`: the session has moved to this node. `disconnected`: the client has gone.
 */
export type ForwardOutcome =
  | 'ok'
  | 'unknown'
  | 'unavailable'
  | 'not-found'
  | 'local'
  | 'disconnected'

/** A request of a session on another node has ended. */
export interface RequestForwarded {
  /** How it ended. */
  readonly outcome: ForwardOutcome
  /** How often it was sent to a node. */
  readonly attempts: number
  /** Whether the response is an event stream. */
  readonly isStream: boolean
  /** How long it took, in milliseconds. */
  readonly durationMs: number
}
