import type { Channel, Envelope } from '../../jsonrpc/channel.ts'
import { wholeMessage } from '../../jsonrpc/codec/raw-json.ts'
import { compose, type Handler, type Middleware } from '../../jsonrpc/handler.ts'
import { guarded, type PeerOptions, printError } from '../../jsonrpc/peer/options.ts'
import type { Attachment, Endpoint } from '../../mcp/endpoint.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import { type Profile, profile } from '../../mcp/profile.ts'
import { type Revision, revisionNamed, revisions } from '../../mcp/revisions/revisions.ts'
import { limits } from '../../util/limits/limits.ts'
import { promised } from '../../util/promised.ts'
import { createSealer } from '../crypto/seal.ts'
import { createCursors } from '../features/cursor.ts'
import type { MakeOffer, Offer } from '../features/feature-provider.ts'
import type { ServerInfo, ServerOptions } from '../options.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import { checkInfo } from '../validate.ts'
import { takesBatch } from './batches.ts'
import type { MethodHandler } from './custom-methods.ts'
import { Switchboard } from './dispatcher.ts'
import { withSeedNames } from './erlmcp-names.ts'
import { Session, type SessionHost } from './session.ts'

/**
 * The side of an endpoint that callers see: connections and single messages, in every revision, with
 * whatever it has to offer behind it.
 */
export class Front<O extends Offer> implements Endpoint {
  /** Answers one self-contained message, without a connection. */
  readonly handle: Handler
  readonly profile: Profile
  readonly #peer: PeerOptions
  /** The same for all of them, because there may be thousands. */
  readonly #sessionHost: SessionHost
  readonly #switchboard: Switchboard<O>
  /** Those who want to know of changes. */
  readonly subscriptions: Subscriptions
  readonly #middlewares: Middleware[] = []
  readonly #sessions = new Set<Session>()

  constructor(info: ServerInfo, makeOffer: MakeOffer<O>, options: ServerOptions) {
    checkInfo(info)
    this.profile = profile(options.profile)
    const onError = guarded(options.onError ?? printError)
    this.#peer = { onError, ...options.peer }
    this.subscriptions = new Subscriptions(onError)
    this.#switchboard = new Switchboard(info, makeOffer, {
      profile: this.profile,
      revisions: served(options.revisions),
      pageSize: pageSizeOf(options),
      cache: options.cache,
      extensions: options.extensions,
      experimental: options.experimental,
      sealer: createSealer({ keys: options.keys }),
      cursors: createCursors({ keys: options.keys }),
      subscriptions: this.subscriptions,
      tasks: options.tasks,
      onError,
    })
    this.handle = this.#wrapped(undefined)
    this.#sessionHost = this.#makeSessionHost()
  }

  /** What it has to offer. */
  get offer(): O {
    return this.#switchboard.offer
  }

  /** The revisions it serves, oldest first. */
  get revisions(): readonly Revision[] {
    return this.#switchboard.revisions
  }

  /**
   * Puts a middleware around every request and notification, batches included; the first is outermost.
   * It is called once for each connection: what all of them share stands outside of it.
   */
  use(middleware: Middleware): void {
    this.#middlewares.push(middleware)
  }

  /**
   * Answers a method that the protocol does not have, such as `x/status`, and takes notifications of
   * that name, in every revision. Throws a TypeError for a name that is taken.
   */
  method(name: string, handler: MethodHandler): void {
    this.#switchboard.methods.add(name, handler)
  }

  /**
   * Tells the client that was asked to open a web page that the matter there is settled, where its
   * revision has a word for it. Does nothing for an id of which that is not, or no longer, known.
   */
  elicited(elicitationId: string): void {
    for (const session of this.#sessions) {
      if (session.elicitations.settle(elicitationId)) {
        session.notify('notifications/elicitation/complete', { elicitationId })
      }
    }
  }

  /** Takes over a channel for as long as it lives. */
  attach(channel: Channel, envelope: Envelope = {}): Attachment {
    const isSeed = this.profile.notificationNames === 'seed'
    const way = isSeed ? withSeedNames(channel) : channel
    const session = new Session(way, envelope, this.#sessionHost)
    this.#sessions.add(session)
    this.subscriptions.add(session)
    return session
  }

  /** Cancels the tasks that run and ends every connection in good order. */
  async close(options?: { readonly drainMs?: number }): Promise<void> {
    // First of all, so that whoever waits for a task is still told how it ended.
    await this.#switchboard.tasks.close()
    this.subscriptions.endAll()
    await Promise.all(Array.from(this.#sessions, session => session.close(options)))
    // Requests that were waited for may have begun more of them.
    await this.#switchboard.tasks.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #makeSessionHost(): SessionHost {
    const { profile } = this
    return {
      peer: {
        // For what a connection answers by itself: text that is no message has the same error in all.
        toWire: error => toWire(error, { profile }),
        ...this.#peer,
      },
      takesBatches: (batch, caller) => takesBatch(profile, batch, caller),
      omitsNullIds: profile.errorNumbers === 'specification',
      handlerFor: opened => this.#wrapped(opened),
      onClosing: closing => {
        if (!this.#sessions.delete(closing)) return
        this.subscriptions.remove(closing)
        for (const uri of closing.uris) this.subscriptions.unwant(uri)
      },
    }
  }

  /** The handler of one connection, with whatever middleware there is by the time it is called. */
  #wrapped(session: Session | undefined): Handler {
    const switchboard = this.#switchboard
    const { wording } = switchboard
    // A middleware sees results as they are sent; where there is none they are completed further below.
    const bare: Handler = (message, exchange) =>
      switchboard.answer(message, exchange, session, true)
    const core: Handler = (message, exchange) => switchboard.answer(message, exchange, session)
    let count = 0
    let handler = bare
    return (message, exchange) => {
      try {
        if (count !== this.#middlewares.length) {
          count = this.#middlewares.length
          handler = compose(core, this.#middlewares)
        }
        const given = handler(count === 0 ? message : wholeMessage(message), exchange)
        const result = count === 0 ? given : promised(given)
        if (!(result instanceof Promise)) {
          return count === 0 ? result : wording.completed(result, message)
        }
        // The error of whatever fails, a middleware included, is said in the caller's numbers.
        const failed = (error: unknown) => {
          throw wording.failure(error, message, exchange, session)
        }
        const completed = (value: unknown) => wording.completed(value, message)
        return count === 0 ? result.then(completed, failed) : result.then(completed).catch(failed)
      } catch (error) {
        throw wording.failure(error, message, exchange, session)
      }
    }
  }
}

function served(names: readonly string[] | undefined): readonly Revision[] {
  if (names === undefined) return revisions
  for (const name of names) {
    if (revisionNamed(name) === undefined) throw new TypeError(`there is no revision "${name}"`)
  }
  return revisions.filter(revision => names.includes(revision.name))
}

function pageSizeOf({ pageSize = limits.pageSize.default }: ServerOptions): number {
  if (Number.isInteger(pageSize) && pageSize > 0) return pageSize
  throw new TypeError(`the option "pageSize" is a whole number from 1 on, not ${pageSize}`)
}
