import type { Channel, Envelope } from '../../jsonrpc/channel.ts'
import { parsedMessage } from '../../jsonrpc/codec/raw-json.ts'
import { compose, type Exchange, type Handler, type Middleware } from '../../jsonrpc/handler.ts'
import type { RpcNotification, RpcRequest } from '../../jsonrpc/message.ts'
import { guarded, type PeerOptions, printError } from '../../jsonrpc/peer/options.ts'
import type { ToolAnswer } from '../../mcp/content/tool-answer.ts'
import type {
  Attachment,
  Endpoint,
  EndpointHandler,
  SessionAttachment,
  SessionHooks,
} from '../../mcp/endpoint.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import { listKinds } from '../../mcp/list-changes.ts'
import { omitsUnreadableId, type Profile, profile } from '../../mcp/profile.ts'
import {
  noRevision,
  type Revision,
  revisionNamed,
  revisions,
  unknownRevision,
} from '../../mcp/revisions/revisions.ts'
import type { ChangeReceiver, ChangeSharing } from '../../mcp/shared-changes.ts'
import type { Members } from '../../mcp/types/base.ts'
import { createSealer } from '../../util/crypto/seal.ts'
import { limits } from '../../util/limits/limits.ts'
import { fromThenable } from '../../util/promises.ts'
import type { FeatureProvider, MakeProvider } from '../features/feature-provider.ts'
import { createCursors } from '../features/pagination.ts'
import type { ServerInfo, ServerOptions } from '../options.ts'
import { resubscribe, tooManySubscriptions } from '../subscriptions/subscribe.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import type { TaskRun } from '../tasks/run.ts'
import { checkInfo } from '../validate.ts'
import { type AnyAround, checkAround } from './around.ts'
import { publicLists } from './cache-hints.ts'
import type { MethodHandler } from './custom-methods.ts'
import { Dispatcher } from './dispatcher.ts'
import { withErlmcpNames } from './erlmcp-names.ts'
import { EventListeners } from './events.ts'
import { restoredCaller } from './lifecycle.ts'
import { type LocalCallOptions, localAnswer, localCall } from './local-call.ts'
import { mountedScope } from './mounted-scope.ts'
import type { Scope } from './request-scope.ts'
import { ResultEncoder } from './result-encoder.ts'
import { ServerSession, type SessionHost, takesBatch } from './session.ts'

/**
 * Accepts connections and single messages in every protocol revision, and dispatches them to the
 * features of a local server or a router. All results and errors are encoded here.
 */
export class McpEndpoint<P extends FeatureProvider> implements Endpoint {
  /** Answers one self-contained message, without a connection. */
  readonly handle: EndpointHandler
  readonly profile: Profile
  /** The sessions and listen streams that are notified of changes. */
  readonly subscriptions: Subscriptions
  /** The listeners of the events of sessions and subscriptions. */
  readonly events: EventListeners
  readonly #peer: PeerOptions
  /** One object for all sessions, because there may be thousands. */
  readonly #sessionHost: SessionHost
  readonly #dispatcher: Dispatcher<P>
  readonly #encoder: ResultEncoder
  readonly #middlewares: Middleware[] = []
  readonly #sessions = new Set<ServerSession>()
  #closing: AbortController | undefined
  #isClosing = false

  constructor(info: ServerInfo, makeProvider: MakeProvider<P>, options: ServerOptions) {
    checkInfo(info)
    this.profile = profile(options.profile)
    const onError = guarded(options.onError ?? printError)
    this.#peer = { onError, ...options.peer }
    this.events = new EventListeners(onError)
    this.subscriptions = new Subscriptions(onError, this.events)
    this.#dispatcher = new Dispatcher(info, makeProvider, {
      profile: this.profile,
      revisions: servedRevisions(options.revisions),
      pageSize: pageSizeOf(options),
      extensions: options.extensions,
      experimental: options.experimental,
      sealer: createSealer({ keys: options.keys }),
      cursors: createCursors({ keys: options.keys }),
      subscriptions: this.subscriptions,
      tasks: options.tasks,
      publicLists: publicLists(options.cache),
      context: options.context,
      events: this.events,
      onError,
    })
    this.#encoder = new ResultEncoder({
      info: this.#dispatcher.info,
      profile: this.profile,
      revisions: this.revisions,
      cache: options.cache,
      onError,
    })
    this.handle = this.#handlerFor(undefined)
    this.#sessionHost = this.#makeSessionHost()
  }

  /** The features that it serves. */
  get features(): P {
    return this.#dispatcher.features
  }

  /** The revisions that it serves, oldest first. */
  get revisions(): readonly Revision[] {
    return this.#dispatcher.revisions
  }

  /**
   * Adds a middleware around every request and notification, those in batches included; the first is
   * outermost. It is called once for each connection: state that all connections share must be outside
   * of it.
   */
  use(middleware: Middleware): void {
    this.#middlewares.push(middleware)
  }

  /** Adds a middleware around the requests of one method; the first is outermost. */
  around(method: string, middleware: AnyAround): void {
    checkAround(method, middleware)
    this.#dispatcher.scope.add(method, middleware)
  }

  /** Calls a tool without a connection. */
  async call(name: string, args: Members, options: LocalCallOptions): Promise<ToolAnswer> {
    return localAnswer(name, await this.#dispatcher.call(localCall(name, args, options)))
  }

  /** Returns what it adds to requests where it is mounted on another server; a new object for each mount. */
  mountScope(): Scope {
    return mountedScope(this.#dispatcher.scope, this.#middlewares)
  }

  /** The connections that are open. */
  get sessions(): ReadonlySet<ServerSession> {
    return this.#sessions
  }

  /** The tasks that this process runs. */
  get runningTasks(): Iterable<TaskRun> {
    return this.#dispatcher.tasks.running
  }

  /** Aborted when closing begins. */
  get signal(): AbortSignal {
    this.#closing ??= new AbortController()
    if (this.#isClosing) this.#closing.abort()
    return this.#closing.signal
  }

  /**
   * Adds a method that the protocol does not have, such as `x/status`, for requests and notifications in
   * every revision. Throws a TypeError for a name that is taken.
   */
  method(name: string, handler: MethodHandler): void {
    this.#dispatcher.methods.add(name, handler)
  }

  /**
   * Notifies the client of a URL elicitation that the interaction on the web page is complete, where its
   * revision has that notification. Ignores an unknown or forgotten id.
   */
  completeElicitation(elicitationId: string): void {
    for (const session of this.#sessions) {
      if (session.elicitations.complete(elicitationId)) {
        session.notify('notifications/elicitation/complete', { elicitationId })
      }
    }
  }

  /** Takes over a channel until it closes. */
  attach(channel: Channel, envelope: Envelope = {}): Attachment {
    return this.#attach(channel, envelope)
  }

  /** Takes over a channel whose session another process can continue, or continues one. */
  attachSession(channel: Channel, envelope: Envelope, hooks: SessionHooks): SessionAttachment {
    const { state } = hooks
    if (state === undefined) return this.#attach(channel, envelope, hooks)
    const caller = restoredCaller(state, envelope.principal, this.revisions)
    if (!this.subscriptions.hasRoomFor(state.subscriptions)) throw tooManySubscriptions()
    const session = this.#attach(channel, envelope, hooks)
    session.restore(caller, state)
    resubscribe(session, caller, state.subscriptions, this.subscriptions)
    return session
  }

  #attach(channel: Channel, envelope: Envelope, hooks?: SessionHooks): ServerSession {
    const isErlmcp = this.profile.notificationNames === 'erlmcp'
    const session = new ServerSession(
      isErlmcp ? withErlmcpNames(channel) : channel,
      envelope,
      this.#sessionHost,
      hooks,
    )
    this.#sessions.add(session)
    this.subscriptions.add(session)
    return session
  }

  /** Exchanges notices of changes with other processes that serve the same server. */
  shareChanges(sharing: ChangeSharing): ChangeReceiver {
    const { subscriptions } = this
    subscriptions.onPublished = change => sharing.publish(change)
    subscriptions.onWatched = (uri, isWatched) => sharing.watch(uri, isWatched)
    subscriptions.whenWatched = uris => sharing.whenWatched(uris)
    for (const uri of subscriptions.watched()) sharing.watch(uri, true)
    return {
      deliver: change => subscriptions.deliver(change),
      lists: () => this.#sessionHost.lists(),
    }
  }

  /** Cancels the running tasks and closes every connection gracefully. */
  async close(options?: { readonly drainMs?: number }): Promise<void> {
    this.#isClosing = true
    this.#closing?.abort()
    // First, so that requests that wait for a task still get its result.
    await this.#dispatcher.tasks.close()
    this.subscriptions.endAll()
    await Promise.all(Array.from(this.#sessions, session => session.close(options)))
    // Requests that were drained may have started more tasks.
    await this.#dispatcher.tasks.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #makeSessionHost(): SessionHost {
    const { profile } = this
    return {
      peer: {
        // For the peer's own errors: text that is not a message has the same error in all revisions.
        toWire: error => toWire(error, { profile }),
        ...this.#peer,
      },
      takesBatches: (batch, caller) => takesBatch(profile, batch, caller),
      omitsNullIds: caller => omitsUnreadableId(profile, caller?.revision),
      handlerFor: session => this.#handlerFor(session),
      lists: () => listKinds.filter(kind => this.features.available[kind]),
      onReady: session => this.events.emit('ready', session),
      onClosing: closing => {
        if (!this.#sessions.delete(closing)) return
        this.subscriptions.remove(closing)
        const { caller } = closing
        if (caller === undefined) return
        for (const uri of closing.subscriptions) {
          this.subscriptions.unwatch(uri, { caller, session: closing })
        }
        if (closing.isReady) this.events.emit('closed', closing)
      },
    }
  }

  /**
   * The handler of one connection, with the middlewares that exist when it is called.
   *
   * Without middlewares a message goes straight to the dispatcher. The caller is read once, here or by
   * the HTTP service, and its revision completes the result.
   */
  #handlerFor(session: ServerSession | undefined): EndpointHandler {
    const dispatcher = this.#dispatcher
    const encoder = this.#encoder
    const middlewares = this.#middlewares
    let chain: Handler | undefined
    let chained = 0
    return (message, exchange, known) => {
      let revision = known?.revision
      try {
        if (chained !== middlewares.length) {
          chained = middlewares.length
          chain = compose(this.#innermost(session), middlewares)
        }
        let outcome: unknown
        if (chain === undefined) {
          const caller =
            known ??
            (message.type === 'request'
              ? dispatcher.callerOf(message, exchange, session)
              : undefined)
          revision = caller?.revision
          const acceptsRaw = exchange.acceptsRaw === true
          outcome = dispatcher.answer(message, exchange, session, caller, acceptsRaw)
        } else {
          // A middleware may answer by itself, also requests whose caller would be invalid.
          revision ??= encoder.namedRevision(message)
          outcome = fromThenable(chain(parsedMessage(message), exchange))
        }
        return outcome instanceof Promise
          ? this.#whenSettled(outcome, message, exchange, session, revision)
          : encoder.complete(outcome, revision, message.method)
      } catch (error) {
        throw this.#failure(error, message, exchange, session, revision)
      }
    }
  }

  /**
   * The handler behind the middlewares. It reads the caller of the message that they pass on, which they
   * may have changed, and completes the result, because they see results as they are sent.
   */
  #innermost(session: ServerSession | undefined): Handler {
    const dispatcher = this.#dispatcher
    const encoder = this.#encoder
    return (message, exchange) => {
      const isRequest = message.type === 'request'
      const caller = isRequest ? dispatcher.callerOf(message, exchange, session) : undefined
      const outcome = dispatcher.answer(message, exchange, session, caller, false)
      if (caller === undefined) return outcome
      const { revision } = caller
      return outcome instanceof Promise
        ? this.#completeLater(outcome, revision, message.method)
        : encoder.complete(outcome, revision, message.method)
    }
  }

  #completeLater(outcome: Promise<unknown>, revision: Revision, method: string): Promise<unknown> {
    return outcome.then(result => this.#encoder.complete(result, revision, method))
  }

  /** Encodes the outcome of a promise. In a method of its own, so that other calls create no closures. */
  #whenSettled(
    outcome: Promise<unknown>,
    message: RpcRequest | RpcNotification,
    exchange: Exchange,
    session: ServerSession | undefined,
    revision: Revision | undefined,
  ): Promise<unknown> {
    const fail = (error: unknown): never => {
      throw this.#failure(error, message, exchange, session, revision)
    }
    return outcome.then(result => {
      try {
        return this.#encoder.complete(result, revision, message.method)
      } catch (error) {
        return fail(error)
      }
    }, fail)
  }

  /** Encodes an error of a feature or a middleware for the revision of the caller. */
  #failure(
    error: unknown,
    message: RpcRequest | RpcNotification,
    exchange: Exchange,
    session: ServerSession | undefined,
    revision: Revision | undefined,
  ): unknown {
    // Without a known caller: a request of a session, or a stateless one whose caller is invalid.
    const spoken = revision ?? this.#encoder.namedRevision(message) ?? session?.caller?.revision
    return this.#encoder.failure(error, message, exchange, spoken)
  }
}

function servedRevisions(names: ServerOptions['revisions']): readonly Revision[] {
  if (names === undefined) return revisions
  if (names.length === 0) throw noRevision()
  for (const name of names) {
    if (revisionNamed(name) === undefined) throw unknownRevision(name)
  }
  const served = new Set<string>(names)
  return revisions.filter(revision => served.has(revision.name))
}

function pageSizeOf({ pageSize = limits.pageSize.default }: ServerOptions): number {
  if (Number.isInteger(pageSize) && pageSize > 0) return pageSize
  throw new TypeError(`option "pageSize" must be an integer ≥ 1 (got ${pageSize})`)
}
