import type { TaskStatus } from '../mcp/types/tasks.ts'
import type { ServerSession } from '../server/core/session.ts'
import type { Subscriptions } from '../server/subscriptions/subscriptions.ts'
import type { TaskRun } from '../server/tasks/run.ts'

/** A connection of a caller to a router, at one moment. */
export interface CallerSession {
  /** Identifies the connection in this process. It is not the session id of HTTP, which is a secret. */
  readonly id: string
  /** What the client claims to be; undefined before `initialize`, and for stateless clients. */
  readonly client?: {
    /** The name that the client claims. */
    readonly name: string
    /** The version that the client claims. */
    readonly version: string
  }
  /** The id of the authenticated principal. */
  readonly principal?: string
  /** The negotiated revision; undefined before `initialize`, and for stateless clients. */
  readonly revision?: string
  /** The transport, such as `http` or `stdio`; undefined if it is unknown. */
  readonly transport?: string
  /** When the connection was accepted, in milliseconds since 1970. */
  readonly openedAt: number
  /** Requests of the client that are not answered yet. */
  readonly inFlight: number
  /** Server requests that the client has not answered yet. */
  readonly serverRequests: number
  /** The streams of notifications that are open: listen streams, and the event streams of HTTP. */
  readonly openStreams: number
  /** The URIs of the resources that the client has subscribed to. */
  readonly subscriptions: readonly string[]
}

/** A resource that callers of a router have subscribed to. */
export interface CallerSubscription {
  /** The URI of the resource. */
  readonly uri: string
  /** How many subscriptions there are. */
  readonly count: number
}

/** A call of a caller that has become a task and has not ended. */
export interface CallerTask {
  /** The id of the task, which is a secret of its owner. */
  readonly id: string
  /** The tool that was called, as callers see it. */
  readonly tool: string
  /** Whether the task is working or waits for input. */
  readonly status: TaskStatus
  /** The status message. */
  readonly message?: string
  /** The id of the principal that owns the task. */
  readonly principal?: string
  /** When the task was created, in milliseconds since 1970. */
  readonly createdAt: number
  /** How long the task is kept from its creation. */
  readonly ttlMs: number
}

/** The connections, subscriptions and tasks of the callers of a router, for people who look after it. */
export interface CallerState {
  /** Returns the connections that are open, in the order in which they were accepted. */
  sessions(): readonly CallerSession[]
  /**
   * Closes a connection: its requests in flight are cancelled. Resolves with false if there is none with this id.
   * The client may connect again.
   */
  endSession(id: string): Promise<boolean>
  /** Returns the resources that callers have subscribed to. */
  subscriptions(): readonly CallerSubscription[]
  /** Returns the tasks that this process runs for callers. */
  tasks(): readonly CallerTask[]
  /** Cancels a task. Resolves with false if this process runs none with this id. */
  cancelTask(id: string): Promise<boolean>
}

/** Where connections, subscriptions and tasks are found. */
interface CallerStateHost {
  readonly sessions: readonly ServerSession[]
  readonly runningTasks: readonly TaskRun[]
  readonly subscriptions: readonly Subscriptions[]
}

/** Returns the state of the callers of a router, which is read when its methods are called. */
export function callerState(host: CallerStateHost): CallerState {
  return {
    sessions: () => host.sessions.map(callerSession).sort((a, b) => a.openedAt - b.openedAt),
    endSession: async id => {
      const session = host.sessions.find(each => each.id === id)
      await session?.close({ drainMs: 0 })
      return session !== undefined
    },
    subscriptions: () => {
      const counts = new Map<string, number>()
      for (const { watcherCounts } of host.subscriptions) {
        for (const [uri, count] of watcherCounts) counts.set(uri, (counts.get(uri) ?? 0) + count)
      }
      return Array.from(counts, ([uri, count]) => ({ uri, count }))
    },
    tasks: () => host.runningTasks.map(({ record }) => callerTask(record)),
    cancelTask: async id => {
      const task = host.runningTasks.find(({ record }) => record.id === id)
      await task?.cancel('Cancelled by an operator')
      return task !== undefined
    },
  }
}

function callerSession(session: ServerSession): CallerSession {
  const { id, caller, envelope, openedAt, openStreams, peer } = session
  const principal = caller?.principal?.id ?? envelope.principal?.id
  return {
    id,
    ...(caller?.client && { client: { name: caller.client.name, version: caller.client.version } }),
    ...(principal !== undefined && { principal }),
    ...(caller && { revision: caller.revision.name }),
    ...(envelope.transport && { transport: envelope.transport.name }),
    openedAt,
    inFlight: peer.inFlight,
    serverRequests: peer.pendingCalls,
    openStreams,
    subscriptions: [...session.subscriptions],
  }
}

function callerTask({
  id,
  tool,
  status,
  message,
  principal,
  ...record
}: TaskRun['record']): CallerTask {
  return {
    id,
    tool,
    status,
    ...(message !== undefined && { message }),
    ...(principal !== undefined && { principal }),
    createdAt: Date.parse(record.createdAt),
    ttlMs: record.ttlMs,
  }
}
