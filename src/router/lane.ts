import { Client } from '../client/client.ts'
import type { Dial, ServerDescription } from '../client/connect.ts'
import { Core } from '../client/core.ts'
import { withMeta } from '../client/envelope.ts'
import type { Link } from '../client/link.ts'
import type { ClientOptions } from '../client/options.ts'
import { Patience } from '../client/patience.ts'
import type { Settings } from '../client/settings.ts'
import type { Envelope } from '../jsonrpc/channel.ts'
import { methodNotFound, type RpcError } from '../jsonrpc/error.ts'
import type { Exchange } from '../jsonrpc/handler.ts'
import type { Id, RpcRequest } from '../jsonrpc/message.ts'
import { errors } from '../mcp/errors.ts'
import { tasksExtension } from '../mcp/extension.ts'
import type { Revision } from '../mcp/revisions.ts'
import type { ClientCapabilities, Members } from '../mcp/types/base.ts'
import type { InputRequest } from '../mcp/types/input.ts'
import { atLeast, type LogLevel } from '../mcp/types/logging.ts'
import type { ChildProcess } from '../transport/child.ts'
import { type Deferred, deferred } from '../util/deferred.ts'
import type { Errand, SendOptions } from './errand.ts'

/** What the router's own requests declare where each says so: it follows the tasks of its callers. */
const ofRouter: ClientCapabilities = { extensions: { [tasksExtension]: {} } }

/** What a lane is opened with, and whom it tells. */
export interface LaneHost {
  readonly dial: Dial
  readonly client: ClientOptions
  capabilities(revision: Revision): ClientCapabilities
  /** Told every notification that belongs to no call. */
  onNews(method: string, params: Members | undefined): void
}

/**
 * One connection to a server, which the calls of several callers may share.
 *
 * Each call gets back what is its own, and nothing that is somebody else's: a question or a message of
 * a server that could belong to two callers is refused or dropped, never guessed.
 */
export class Lane {
  /** The program that was started for it. */
  child: ChildProcess | undefined
  readonly #core: Core
  #client: Client | undefined
  #logLevel: LogLevel | undefined
  #heeding: Promise<void> | undefined
  readonly #errands = new Set<Errand>()
  /** By the ids of their requests, where each request has a stream of its own. */
  readonly #byId = new Map<Id, Errand>()
  readonly #waiting = new Map<Errand, Patience>()
  /** Those whose server has asked something: what it asks next is theirs only while nobody joins them. */
  readonly #asking = new Set<Errand>()
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
      },
    )
  }

  /**
   * Connects and settles what is spoken; to be called once, before anything else. Rejects as opening a
   * client does. A server may ask something as soon as it is connected to: that is put to `first`.
   */
  async open(first?: Errand, signal?: AbortSignal): Promise<void> {
    if (first !== undefined) this.#errands.add(first)
    try {
      await this.#core.open(signal)
      this.#client = new Client(this.#core)
      if (!this.isOpen) this.#lost.resolve(undefined)
    } catch (error) {
      if (first !== undefined) this.#errands.delete(first)
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

  /** Something goes on on behalf of a call that has been answered: what the server says may belong to it. */
  keep(errand: Errand): void {
    this.#errands.add(errand)
  }

  /** The opposite; also for a call that was waited for and will not be sent after all. */
  forget(errand: Errand): void {
    this.#errands.delete(errand)
    this.#asking.delete(errand)
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
    return this.#errands.size
  }

  /**
   * Whether a call of this owner can join those under way without anybody's questions becoming
   * doubtful. Where each call has a stream of its own none ever is.
   */
  isOpenTo(owner: unknown): boolean {
    for (const errand of this.#asking) if (errand.owner !== owner) return false
    return true
  }

  /**
   * Sends a request and settles with what comes back, questions of stateless servers included. Rejects
   * with the RpcError of the server, with a ChannelError as a link does, and with the signal's reason.
   */
  send(method: string, params: object, errand: Errand, options: SendOptions): Promise<unknown> {
    const opened = this.#core.lifeline.ready()
    // A lane never reconnects, so that there is nothing to wait for.
    if (opened instanceof Promise) return opened
    const { link } = opened
    this.#errands.add(errand)
    const isWatched = errand.onProgress !== undefined || errand.ask !== undefined
    return isWatched || options.abort.onAbort === undefined
      ? this.#sendWatched(link, method, params, errand, options)
      : this.#sendPlain(link, method, params, errand, options)
  }

  /** As nearly every call: nothing but the reply can come, and nothing but the deadline moves. */
  #sendPlain(
    link: Link,
    method: string,
    params: object,
    errand: Errand,
    { abort, timeoutMs, sender }: SendOptions,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        this.#errands.delete(errand)
        if (id !== undefined) this.#byId.delete(id)
      }
      const waiter = {
        resolve: (result: unknown): void => {
          over()
          resolve(result)
        },
        reject: (error: unknown): void => {
          // What it means is known only when whoever has ended the connection has said so.
          queueMicrotask(() => {
            over()
            reject(link.failure(error, method, id, {}))
          })
        },
      }
      const id = link.start(waiter, method, withMeta(params, { sender }), { timeoutMs })
      if (id === undefined) return
      if (link.hasStreams) this.#byId.set(id, errand)
      abort.onAbort?.(reason => link.abandon(id, reason))
    })
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
    const patience = this.#patience(method, timeoutMs)
    const progressToken =
      onProgress === undefined
        ? undefined
        : progress.watch(step => {
            patience.extend()
            onProgress(step)
          })
    this.#waiting.set(errand, patience)
    const sent = withMeta(params, { progressToken, sender })
    const begun = link.begin(method, sent, { signal: abort.signal, timeoutMs: 0 })
    const { id } = begun
    if (id !== undefined && link.hasStreams) this.#byId.set(id, errand)
    const reply = patience.wait(begun.reply, begun.giveUp)
    const over = (): void => {
      this.#errands.delete(errand)
      this.#waiting.delete(errand)
      this.#asking.delete(errand)
      patience.end()
      if (progressToken !== undefined) progress.unwatch(progressToken)
      if (id !== undefined) this.#byId.delete(id)
    }
    reply.then(over, over)
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
        this.#errandOf(envelope)?.onLog?.(params ?? {})
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
    const errand = this.#errandOf(envelope)
    if (errand?.ask === undefined) throw refusal(method, this.#errands.size)
    if (envelope.about === undefined && this.#errands.has(errand)) this.#asking.add(errand)
    const patience = this.#waiting.get(errand)
    // While the caller is being asked, nobody's patience with the server runs out.
    patience?.pause()
    try {
      // The check: questions have one of three methods; their params are looked at where they are put.
      return await errand.ask({ method, params } as InputRequest, signal)
    } finally {
      patience?.resume()
    }
  }

  /** The call that a message belongs to: the one that it names, or the only one it can be. */
  #errandOf({ about }: Envelope): Errand | undefined {
    return about === undefined ? this.#sole() : this.#byId.get(about)
  }

  /** The latest of the calls, where all of them have the same owner. */
  #sole(): Errand | undefined {
    let latest: Errand | undefined
    for (const errand of this.#errands) {
      if (latest !== undefined && latest.owner !== errand.owner) return undefined
      latest = errand
    }
    return latest
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

/** Why a question gets no answer: there is nobody to be asked, or too many it could be. */
function refusal(method: string, calls: number): RpcError {
  const why =
    calls === 0
      ? 'no call is under way that it could belong to'
      : 'it cannot be told whose call it belongs to; "connections": "each" gives every caller its own'
  return errors.capabilityNotSupported({ capability: method }, { message: `${method}: ${why}` })
}
