import type { Channel, Envelope } from '../../jsonrpc/channel.ts'
import type { Handler } from '../../jsonrpc/handler.ts'
import type { Batch, Id } from '../../jsonrpc/message.ts'
import type { CloseOptions, PeerOptions } from '../../jsonrpc/peer/options.ts'
import { Peer } from '../../jsonrpc/peer/peer.ts'
import type { Caller } from '../../mcp/caller.ts'
import type { SessionAttachment, SessionHooks, SessionState } from '../../mcp/endpoint.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { type ListKind, listChangedMethods } from '../../mcp/list-changes.ts'
import { wantsLevel } from '../../mcp/log-level.ts'
import { readRequestMeta } from '../../mcp/meta.ts'
import type { Profile } from '../../mcp/profile.ts'
import { isLogLevel, type LogLevel } from '../../mcp/types/logging.ts'
import type { Root } from '../../mcp/types/roots.ts'
import { randomHex } from '../../util/random.ts'
import { UrlElicitations } from '../input/elicit.ts'
import { requestRoots } from '../input/input-requests.ts'
import type { Session } from '../session.ts'
import { type ChangeNotice, concerns, type Subscriber } from '../subscriptions/subscriptions.ts'

/** The spelling of cancellation in MCP: the same for both sides and in every revision. */
export const mcpCancellation = {
  method: 'notifications/cancelled',
  member: 'requestId',
  reason: 'reason',
  except: 'initialize',
} as const

/** What a session needs from its endpoint. */
export interface SessionHost {
  readonly peer: PeerOptions
  /** Whether a batch is accepted; `caller` is undefined before `initialize`. */
  takesBatches(batch: Batch, caller: Caller | undefined): boolean
  /** Whether the error for a message without a readable id omits the id. */
  omitsNullIds(caller: Caller | undefined): boolean
  handlerFor(session: ServerSession): Handler
  /** The lists that clients can be notified of. */
  lists(): readonly ListKind[]
  /** The client can receive requests and notifications. Called once. */
  onReady(session: ServerSession): void
  /** The channel is closed, or about to be. */
  onClosing(session: ServerSession): void
}

/**
 * One connection of a client: the caller that `initialize` established, the log level, the resource
 * subscriptions and the listen streams. Stateless requests may use the connection too; they leave no
 * state on it that affects other requests.
 */
export class ServerSession implements Session, SessionAttachment, Subscriber {
  /** Settles when the connection has closed; with the error if it did not close normally. */
  readonly closed: Promise<Error | undefined>
  /** When the connection was accepted, in milliseconds since 1970. */
  readonly openedAt = Date.now()
  /** What accompanies every message of the connection, such as its principal. */
  readonly envelope: Envelope
  /** The client of the session, once `initialize` has succeeded. */
  caller: Caller | undefined
  /** The URL elicitations that the client was asked to open, until they are completed. */
  readonly elicitations = new UrlElicitations()
  #isReady = false
  // Most sessions need none of these, and a server may have thousands of sessions.
  #id: string | undefined
  #taskKey: string | undefined
  #logLevel: LogLevel | undefined
  #uris: Set<string> | undefined
  #taskWakeups: Map<string, () => void> | undefined
  #endListenStreams: Set<() => void> | undefined
  readonly #channel: Channel
  readonly #peer: Peer
  readonly #host: SessionHost
  readonly #hooks: SessionHooks | undefined
  /** What this process has for the session that no other can have. */
  #holds = 0

  constructor(channel: Channel, envelope: Envelope, host: SessionHost, hooks?: SessionHooks) {
    this.envelope = envelope
    this.#channel = channel
    this.#host = host
    this.#hooks = hooks
    this.#peer = new Peer(channel, host.handlerFor(this), {
      ...host.peer,
      ...(hooks?.state !== undefined && { makeId: host.peer.makeId ?? unusedIds() }),
      batches: batch => host.takesBatches(batch, this.caller),
      omitsNullIds: () => host.omitsNullIds(this.caller),
      cancellation: mcpCancellation,
      // The client cannot cancel them any more: they would delay closing as long as requests may run.
      onDisconnect: () => this.#endAllListenStreams(),
    })
    this.closed = this.#peer.closed
    void this.closed.then(() => host.onClosing(this))
  }

  get id(): string {
    this.#id ??= crypto.randomUUID()
    return this.#id
  }

  /**
   * Whether the client has sent `notifications/initialized`, or a request that implies it. Before that
   * the server sends it no notifications and no requests.
   */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Marks the session as ready to receive requests and notifications. Idempotent. */
  markReady(): void {
    if (this.#isReady) return
    this.#isReady = true
    this.#host.onReady(this)
    this.#hooks?.onChange()
  }

  /** Set by `logging/setLevel`. */
  get logLevel(): LogLevel | undefined {
    return this.#logLevel
  }

  set logLevel(level: LogLevel | undefined) {
    this.#logLevel = level
    this.#hooks?.onChange()
  }

  /** The key under which tasks of the session are stored, where it has no principal. */
  get taskKey(): string {
    this.#taskKey ??= crypto.randomUUID()
    return this.#taskKey
  }

  state(): SessionState | undefined {
    const { caller, logLevel } = this
    if (caller === undefined) return undefined
    const { revision, capabilities, client } = caller
    return {
      revision: revision.name,
      capabilities,
      ...(client !== undefined && { client }),
      ...(logLevel !== undefined && { logLevel }),
      isReady: this.#isReady,
      subscriptions: [...this.subscriptions],
      taskKey: this.taskKey,
    }
  }

  /** Continues the session of another process. Its subscriptions are added by the endpoint. */
  restore(caller: Caller, { logLevel, isReady, taskKey }: SessionState): void {
    this.caller = caller
    this.#logLevel = logLevel
    this.#taskKey = taskKey
    if (isReady) this.markReady()
  }

  get isMovable(): boolean {
    return this.#holds === 0
  }

  /**
   * Records that this process has something for the session that no other process can have. Returns a function
   * that must be called once, when that has gone.
   */
  hold(): () => void {
    this.#holds++
    if (this.#holds === 1) this.#hooks?.onChange()
    return () => {
      this.#holds--
      if (this.#holds === 0) this.#hooks?.onChange()
    }
  }

  get pendingCalls(): number {
    return this.#peer.pendingCalls
  }

  notifyAll(): void {
    const changes: ChangeNotice[] = this.#host.lists().map(type => ({ type }))
    for (const uri of this.subscriptions) changes.push({ type: 'resource', uri })
    for (const change of changes) if (this.accepts(change)) this.deliver(change)
  }

  /** The peer of the connection, for requests to the client. */
  get peer(): Peer {
    return this.#peer
  }

  /** The resources that the session has subscribed to. */
  get subscriptions(): ReadonlySet<string> {
    return this.#uris ?? none
  }

  /** Subscribes to a resource. Returns false where the session had subscribed already. */
  subscribe(uri: string): boolean {
    if (this.subscriptions.has(uri)) return false
    this.#uris ??= new Set()
    this.#uris.add(uri)
    this.#hooks?.onChange()
    return true
  }

  /** Unsubscribes from a resource. Returns false where the session had not subscribed. */
  unsubscribe(uri: string): boolean {
    const isRemoved = this.#uris?.delete(uri) ?? false
    if (isRemoved) this.#hooks?.onChange()
    return isRemoved
  }

  /**
   * Callbacks by task id, called when the client reports progress of a server request that it answers as
   * a task.
   */
  get taskWakeups(): Map<string, () => void> {
    this.#taskWakeups ??= new Map()
    return this.#taskWakeups
  }

  /** Functions that complete the listen streams of this connection, one for each. */
  get endListenStreams(): Set<() => void> {
    this.#endListenStreams ??= new Set()
    return this.#endListenStreams
  }

  /** The streams of notifications that are open: listen streams, and the event streams of HTTP. */
  get openStreams(): number {
    return (this.#endListenStreams?.size ?? 0) + (this.envelope.transport?.openStreams ?? 0)
  }

  /** Handles `notifications/tasks/status`: wakes what waits for the client's task, to poll it at once. */
  onTaskStatus(id: unknown): void {
    if (typeof id === 'string') this.#taskWakeups?.get(id)?.()
  }

  /** Returns whether the client gets a notification of this change. */
  accepts(change: ChangeNotice): boolean {
    if (!this.isReady || change.type === 'task') return false
    if (!concerns(change, this.caller)) return false
    return change.type !== 'resource' || this.#uris?.has(change.uri) === true
  }

  /** Notifies the client of a change. */
  deliver(change: ChangeNotice): void {
    if (change.type === 'task') return
    if (change.type === 'resource') {
      this.notify('notifications/resources/updated', { uri: change.uri })
    } else {
      this.notify(listChangedMethods[change.type])
    }
  }

  /** Requests the roots of the client. */
  async roots(): Promise<readonly Root[]> {
    const { caller } = this
    if (caller === undefined) throw errors.notInitialized()
    return requestRoots(caller, this.#peer)
  }

  /** Sends a log message, if the client wants messages of this level. */
  log(level: LogLevel, data: unknown, logger?: string): void {
    if (!isLogLevel(level)) throw new TypeError(`unknown log level "${level}"`)
    const { caller } = this
    if (caller === undefined || !this.#isReady) return
    if (!wantsLevel(caller, this.logLevel, level)) return
    this.notify('notifications/message', { level, logger, data: data ?? null })
  }

  /** Sends a notification. Drops it where the channel is closed, as the network would. */
  notify(method: string, params?: object): void {
    try {
      const waiting = this.#peer.notify(method, params)
      if (waiting !== undefined) waiting.then(undefined, () => {})
    } catch {
      // `closed` reports the end of the channel.
    }
  }

  /**
   * Closes the event stream of a request, so that the client reconnects for the rest. Returns false where
   * the client does not support that.
   */
  poll(about: Id): boolean {
    return this.#channel.poll?.(about) ?? false
  }

  /**
   * Closes the connection, after the requests in flight were answered or `drainMs` milliseconds have
   * passed.
   */
  async close(options?: CloseOptions): Promise<void> {
    this.#host.onClosing(this)
    this.#endAllListenStreams()
    await this.#peer.close(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #endAllListenStreams(): void {
    for (const end of [...(this.#endListenStreams ?? [])]) end()
  }
}

const none: ReadonlySet<string> = new Set()

/** Makes ids of server requests that the process before cannot have used: the client may still answer those. */
function unusedIds(): () => string {
  const prefix = randomHex(8)
  let last = 0
  return () => `${prefix}-${++last}`
}

/**
 * Whether a batch is accepted, by the profile or by the revision of the session. A batch that holds
 * `initialize` never is; where the revision decides, neither is one with a stateless request, because
 * stateless revisions have no batches.
 */
export function takesBatch(
  { batches }: Profile,
  batch: Batch,
  caller: Caller | undefined,
): boolean {
  if (batches === 'never' || batch.entries.some(isInitialize)) return false
  if (batches === 'always') return true
  return caller?.revision.batches === true && !batch.entries.some(isStateless)
}

type Entry = Batch['entries'][number]

function isInitialize(entry: Entry): boolean {
  return entry.type === 'request' && entry.method === 'initialize'
}

function isStateless(entry: Entry): boolean {
  return entry.type === 'request' && readRequestMeta(entry.params) !== undefined
}
