import type { LogLevel } from '../mcp/types/base.ts'
import { ResponseCache } from './cache.ts'
import { ChangeSubscriptions } from './changes/subscriptions.ts'
import type { ConnectionHandlers } from './connection/connection.ts'
import { Heartbeat } from './connection/heartbeat.ts'
import { type Dial, type Negotiated, open } from './connection/negotiate.ts'
import type { ProxyHooks } from './connection/proxy-hooks.ts'
import { ReconnectingConnection } from './connection/reconnect.ts'
import type { ClientOptions } from './options.ts'
import { answerInputRequests } from './requests/input-rounds.ts'
import { OutputSchemas } from './requests/output-schemas.ts'
import { ProgressHandlers } from './requests/progress.ts'
import { Requests } from './requests/requests.ts'
import { ServerRequestHandlers } from './server-requests/handlers.ts'
import { Incoming } from './server-requests/incoming.ts'
import { ServerRequestTasks } from './server-requests/tasks.ts'
import { type Settings, settingsOf } from './settings.ts'
import { ClientTasks } from './tasks/tasks.ts'

/** Holds the parts of one client and connects them. `open` must be called before anything else. */
export class Core {
  readonly settings: Settings
  readonly handlers: ServerRequestHandlers
  readonly progress: ProgressHandlers
  readonly requests: Requests
  readonly subscriptions: ChangeSubscriptions
  readonly tasks: ClientTasks
  readonly outputs: OutputSchemas
  /** The requested log level: sent once in a session, and with each request to a stateless server. */
  logLevel: LogLevel | undefined
  readonly #dial: Dial
  readonly #connectionHandlers: ConnectionHandlers
  readonly #cache: ResponseCache
  readonly #serverRequestTasks: ServerRequestTasks
  readonly #heartbeat: Heartbeat
  readonly #identity: (() => string) | undefined
  #reconnecting: ReconnectingConnection | undefined
  #isClosing = false

  /**
   * `identity` returns who is authenticated on the connections of `dial`, if that can change. Throws a
   * TypeError for invalid options.
   */
  constructor(dial: Dial, options: ClientOptions, hooks?: ProxyHooks, identity?: () => string) {
    const settings = settingsOf(options)
    const progress = new ProgressHandlers(settings.onError)
    this.settings = settings
    this.progress = progress
    this.handlers = new ServerRequestHandlers(options, hooks)
    this.#dial = dial
    this.#identity = identity
    this.#serverRequestTasks = new ServerRequestTasks(settings)
    this.#heartbeat = new Heartbeat(settings)
    this.#cache = new ResponseCache(settings.clock)
    this.outputs = new OutputSchemas(settings.onError)
    this.requests = this.#makeRequests(progress)
    this.subscriptions = this.#makeSubscriptions()
    this.tasks = this.#makeTasks(options)
    const { handlers, requests, outputs, subscriptions, tasks } = this
    const parts = { options, settings, handlers, requests, progress, outputs, subscriptions, tasks }
    const incoming = new Incoming({
      ...parts,
      cache: this.#cache,
      serverRequestTasks: this.#serverRequestTasks,
      hooks,
    })
    this.#connectionHandlers = {
      onRequest: (request, exchange, connection) =>
        incoming.onRequest(request, exchange, connection),
      onNotification: (message, envelope, connection) =>
        incoming.onNotification(message, envelope, connection),
      onLost: (connection, cause) => {
        this.#serverRequestTasks.forget(connection)
        this.#reconnecting?.onLost(connection, cause)
        hooks?.onLost?.(cause)
      },
      onSuspended: isSuspended => this.requests.pauseTimeouts(isSuspended),
      onLate: (id, result) => hooks?.onLate?.(id, result),
    }
  }

  /** The connection to the server, which is opened again when it is lost. Throws before `open`. */
  get reconnecting(): ReconnectingConnection {
    if (this.#reconnecting === undefined) throw new Error('the client has not been opened')
    return this.#reconnecting
  }

  /** Connects, and from then on reconnects when the connection is lost. */
  async open(signal?: AbortSignal): Promise<void> {
    const first = await this.#open(signal)
    const reconnecting = new ReconnectingConnection(
      first,
      {
        open: gone => this.#open(gone),
        onReopened: opened => {
          this.#heartbeat.begin(opened)
          this.#onReopened()
        },
        onClosed: cause => {
          this.#heartbeat.end()
          this.subscriptions.onClosed(cause)
        },
      },
      this.settings,
    )
    this.#reconnecting = reconnecting
    this.#heartbeat.begin(first)
    if (!first.connection.isOpen) reconnecting.onLost(first.connection, undefined)
  }

  /** Closes everything, change subscriptions first. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.subscriptions.onClosed()
    this.#serverRequestTasks.forget(this.reconnecting.latest.connection)
    await this.reconnecting.close()
    this.settings.deadlines.rest()
  }

  #open(signal: AbortSignal | undefined): Promise<Negotiated> {
    const capabilitiesOf = this.handlers.capabilities.bind(this.handlers)
    const { settings } = this
    return open({
      dial: this.#dial,
      handlers: this.#connectionHandlers,
      settings,
      capabilitiesOf,
      signal,
    })
  }

  #makeRequests(progress: ProgressHandlers): Requests {
    return new Requests({
      settings: this.settings,
      handlers: this.handlers,
      progress,
      cache: this.#cache,
      reconnecting: () => this.reconnecting,
      logLevel: () => this.logLevel,
      checkIdentity: this.#identity && this.#identityCheck(this.#identity),
    })
  }

  /** Returns a function that forgets what belongs to another identity than the current one. */
  #identityCheck(identity: () => string): () => void {
    let known = identity()
    return () => {
      const current = identity()
      if (current === known) return
      known = current
      this.#cache.clear()
      this.outputs.clear()
    }
  }

  #makeSubscriptions(): ChangeSubscriptions {
    return new ChangeSubscriptions({
      settings: this.settings,
      opened: async () => this.reconnecting.ready(),
      isClosed: () => this.reconnecting.isClosed,
      begin: (opened, method, params, how) => this.requests.begin(opened, method, params, how),
      // A session that is being closed need not be unsubscribed from.
      request: async (method, params) =>
        this.#isClosing ? {} : this.requests.request(method, params),
    })
  }

  #makeTasks(options: ClientOptions): ClientTasks {
    const { settings, handlers, requests } = this
    return new ClientTasks({
      settings,
      isDeclared: options.tasks !== false,
      taskSupport: name => this.outputs.taskSupport(name),
      server: async () => (await this.reconnecting.ready()).server,
      request: (method, params, how) => requests.request(method, params, how),
      answer: (inputRequests, signal) => {
        const { revision } = this.reconnecting.latest.server
        return answerInputRequests('tasks/get', inputRequests, { handlers, revision, signal })
      },
    })
  }

  #onReopened(): void {
    // Changes that happened without a connection were missed.
    this.#cache.clear()
    this.outputs.clear()
    this.subscriptions.onReopened()
    const { logLevel } = this
    const { features } = this.reconnecting.latest.server.revision
    if (logLevel === undefined || features.logLevel === 'request') return
    this.requests
      .request('logging/setLevel', { level: logLevel })
      .then(undefined, error => this.settings.onError(error))
  }
}
