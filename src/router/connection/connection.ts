import { Client } from '../../client/client.ts'
import type { Link } from '../../client/connection/connection.ts'
import type { Dial, ServerDescription } from '../../client/connection/negotiate.ts'
import { withMeta } from '../../client/connection/request-meta.ts'
import { Core } from '../../client/core.ts'
import { isTimeout } from '../../client/errors.ts'
import type { ClientOptions } from '../../client/options.ts'
import { Patience } from '../../client/requests/call-timeout.ts'
import type { Settings } from '../../client/settings.ts'
import type { Envelope } from '../../jsonrpc/channel.ts'
import { methodNotFound } from '../../jsonrpc/error.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { RpcRequest } from '../../jsonrpc/message.ts'
import type { Waiter } from '../../jsonrpc/peer/pending.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities, Members } from '../../mcp/types/base.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { atLeast, type LogLevel } from '../../mcp/types/logging.ts'
import type { ChildProcess } from '../../transport/process/child.ts'
import { type Deferred, deferred } from '../../util/deferred.ts'
import { PlainCall, type PlainWay } from '../dispatch/plain-call.ts'
import type { Errand, SendOptions } from '../forward/errand.ts'
import { type Asker, type Unclaimed, Underway } from './request-attribution.ts'

/** What the router's own requests declare where each says so: it follows the tasks of its callers. */
const ofRouter: ClientCapabilities = { extensions: { [tasksExtension]: {} } }

/** What a lane is opened with, and whom it tells. */
export interface LaneHost {
  readonly dial: Dial
  readonly client: ClientOptions
  /** How long a question waits until it is clear whose it is. */
  readonly doubtMs: number
  capabilities(revision: Revision): ClientCapabilities
  /** Told every notification that belongs to no call. */
  onNews(method: string, params: Members | undefined): void
}

/**
 * One connection to a server, which the calls of several callers may share.
 *
 * Each call gets back what is its own, and nothing that is somebody else's: a question of a server that
 * could belong to two callers waits until it cannot any more, or is refused, and a message is dropped.
 * Nothing is guessed.
 */
export class Lane {
  /** The program that was started for it. */
  child: ChildProcess | undefined
  readonly #core: Core
  #client: Client | undefined
  #logLevel: LogLevel | undefined
  #heeding: Promise<void> | undefined
  readonly #underway: Underway
  readonly #waiting = new Map<Errand, Patience>()
  #way: PlainWay | undefined
  readonly #lost: Deferred<Error | undefined> = deferred()

  constructor(host: LaneHost) {
    this.#core = new Core(
      host.dial,
      { ...host.client, restart: false },
      {
        capabilities: revision =>
          revision.era === 'session' ? host.capabilities(revision) : ofRouter,
        onRequest: (request, exchange) => this.#answer(request, exchange),
        onNotification: (method, params, envelope) => {
          if (!this.#hear(method, params, envelope)) host.onNews(method, params)
        },
        onEnded: cause => {
          // Before it is open, connections may be tried and dropped.
          if (this.#client !== undefined) this.#lost.resolve(cause)
        },
        onLate: (id, result) => this.#underway.late(id, result),
      },
    )
    const { clock, deadlines } = this.#core.settings
    this.#underway = new Underway({ clock, deadlines, doubtMs: host.doubtMs })
  }

  /**
   * Connects and settles what is spoken; to be called once, before anything else. Rejects as opening a
   * client does. A server may ask something as soon as it is connected to: that is put to `first`.
   */
  async open(first?: Errand, signal?: AbortSignal): Promise<void> {
    if (first !== undefined) this.#underway.begin(first)
    try {
      await this.#core.open(signal)
      this.#client = new Client(this.#core)
      if (!this.isOpen) this.#lost.resolve(undefined)
    } catch (error) {
      if (first !== undefined) this.#underway.end(first)
      throw error
    }
  }

  /** Settles as soon as the connection is lost, with the cause, while what is left of it may take long to go. */
  get lost(): Promise<Error | undefined> {
    return this.#lost.promise
  }

  /** Settles when nothing is left of the connection; with the cause, unless it was closed from here. */
  get closed(): Promise<Error | undefined> {
    return this.#core.lifeline.closed
  }

  /** What its client goes by. */
  get settings(): Settings {
    return this.#core.settings
  }

  /**
   * Something goes on on behalf of a call that has been answered: what the server says may belong to it,
   * and what names the task does.
   */
  keep(errand: Errand, taskId?: string): void {
    this.#underway.keep(errand, taskId)
  }

  /** The opposite; with what it gave, unless it has failed. */
  forget(errand: Errand, taskId?: string, result?: unknown): void {
    this.#underway.forget(errand, taskId, result)
  }

  /** To be called before that where nobody waits for it any more. */
  abandon(errand: Errand): void {
    this.#underway.abandon(errand, errand, this.#core.lifeline.latest.link)
  }

  /** For requests of the router's own. */
  get client(): Client {
    if (this.#client === undefined) throw new Error('the lane has not been opened')
    return this.#client
  }

  get server(): ServerDescription {
    return this.client.server
  }

  get isOpen(): boolean {
    return !this.#core.lifeline.isClosed && this.#core.lifeline.latest.link.isOpen
  }

  /** Calls under way. */
  get inFlight(): number {
    return this.#underway.size
  }

  /** Whether a call of this owner can join those under way without anybody's questions becoming doubtful. */
  isOpenTo(owner: unknown): boolean {
    return this.#underway.isOpenTo(owner, this.#core.lifeline.latest.link.hasStreams)
  }

  /**
   * Sends a request and tells `waiter` what comes back, questions of stateless servers included. It is
   * rejected with the RpcError of the server, with a ChannelError as a link does, and with the signal's
   * reason.
   */
  start(
    waiter: Waiter,
    method: string,
    params: object,
    errand: Errand,
    options: SendOptions,
  ): void {
    const opened = this.#core.lifeline.ready()
    // A lane never reconnects, so that there is nothing to wait for but the word that it is gone.
    if (opened instanceof Promise) {
      opened.then(
        () => this.start(waiter, method, params, errand, options),
        error => waiter.reject(error),
      )
      return
    }
    const { link } = opened
    const isWatched = errand.onProgress !== undefined || errand.ask !== undefined
    if (isWatched || options.abort.onAbort === undefined) {
      this.#sendWatched(link, method, params, errand, options).then(
        result => waiter.resolve(result),
        error => waiter.reject(error),
      )
      return
    }
    new PlainCall(waiter, method, errand, this.#wayOf(link)).send(params, options)
  }

  /** Made once for a connection, of which a lane has but one. */
  #wayOf(link: Link): PlainWay {
    this.#way ??= { link, underway: this.#underway }
    return this.#way
  }

  #sendWatched(
    link: Link,
    method: string,
    params: object,
    errand: Errand,
    { abort, timeoutMs, sender }: SendOptions,
  ): Promise<unknown> {
    const { progress } = this.#core
    const { onProgress } = errand
    this.#underway.begin(errand)
    const patience = this.#patience(method, timeoutMs)
    const progressToken =
      onProgress === undefined
        ? undefined
        : progress.watch(step => {
            patience.extend()
            onProgress(step)
          })
    this.#waiting.set(errand, patience)
    const sent = withMeta(params, { progressToken, sender, isPassedOn: true })
    const begun = link.begin(method, sent, { signal: abort.signal, timeoutMs: 0 })
    const { id } = begun
    if (id !== undefined && link.hasStreams) this.#underway.name(id, errand)
    const reply = patience.wait(begun.reply, begun.giveUp)
    const over = (result?: unknown): void => {
      this.#underway.end(errand, id, result)
      this.#waiting.delete(errand)
      patience.end()
      if (progressToken !== undefined) progress.unwatch(progressToken)
    }
    reply.then(over, error => {
      const { aborted, reason } = abort.signal
      const isGivenUp = isTimeout(error) || (aborted && error === reason)
      if (id !== undefined && isGivenUp) this.#underway.abandon(errand, id, link)
      over()
    })
    return reply
  }

  /**
   * Asks a server with sessions for log messages of this level, if it has not been asked for as many:
   * who gets which is decided here. Settles when it has been told; never rejects.
   */
  heedLog(level: LogLevel | undefined): Promise<void> | undefined {
    if (level === undefined || this.server.capabilities.logging === undefined) return undefined
    if (this.#logLevel !== undefined && atLeast(level, this.#logLevel)) return this.#heeding
    if (this.server.revision.era === 'stateless') return undefined
    this.#logLevel = level
    this.#heeding = this.client.setLogLevel(level).then(
      () => {},
      () => {},
    )
    return this.#heeding
  }

  /** Passes on a notification to the call it belongs to; false where it belongs to none. */
  #hear(method: string, params: Members | undefined, envelope: Envelope): boolean {
    switch (method) {
      case 'notifications/progress':
      case 'notifications/cancelled':
        return true
      case 'notifications/message':
        this.#underway.of(envelope.about)?.onLog?.(params ?? {})
        return true
      default:
        return false
    }
  }

  /** Cuts the connection as if it had been lost: calls under way may have been carried out. */
  lose(cause: Error): void {
    this.#core.lifeline.latest.link.lose(cause)
  }

  /** Ends the connection; whatever waits rejects. Never rejects. */
  async close(): Promise<void> {
    await this.#client?.close()
  }

  /** Answers a request of the server by asking whoever made the call that it belongs to. */
  async #answer({ method, params }: RpcRequest, { signal, envelope }: Exchange): Promise<unknown> {
    if (!isQuestion(method)) throw methodNotFound(method)
    const asker = await this.#asker({ method, params, about: envelope.about, signal })
    const patience = this.#waiting.get(asker)
    // While the caller is being asked, nobody's patience with the server runs out.
    patience?.pause()
    try {
      // The check: questions have one of three methods; their params are looked at where they are put.
      return await asker.ask({ method, params } as InputRequest, signal)
    } finally {
      patience?.resume()
    }
  }

  /** Whose a question is. While that is not clear, the server waits for us and not the other way round. */
  #asker(question: Unclaimed): Asker | Promise<Asker> {
    const asker = this.#underway.whose(question)
    if (!(asker instanceof Promise)) return asker
    const paused = [...this.#waiting.values()]
    for (const patience of paused) patience.pause()
    return asker.finally(() => {
      for (const patience of paused) patience.resume()
    })
  }

  #patience(what: string, timeoutMs: number): Patience {
    const { deadlines } = this.#core.settings
    return new Patience({ what, deadlines, timeoutMs, totalMs: 0 })
  }
}

function isQuestion(method: string): method is InputRequest['method'] {
  return (
    method === 'elicitation/create' ||
    method === 'sampling/createMessage' ||
    method === 'roots/list'
  )
}
