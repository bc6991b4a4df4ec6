import type { Channel, Envelope } from '../../jsonrpc/channel.ts'
import type { Handler } from '../../jsonrpc/handler.ts'
import type { Batch, Id } from '../../jsonrpc/message.ts'
import type { PeerOptions } from '../../jsonrpc/peer/options.ts'
import { Peer } from '../../jsonrpc/peer/peer.ts'
import type { Caller } from '../../mcp/caller.ts'
import type { Attachment } from '../../mcp/endpoint.ts'
import type { LogLevel } from '../../mcp/types/logging.ts'
import { Elicitations } from '../input/elicitations.ts'
import type { Change, Subscriber } from '../subscriptions/subscriptions.ts'

/** How requests are given up: the same for both sides and in every revision. */
export const cancellation = {
  method: 'notifications/cancelled',
  member: 'requestId',
  reason: 'reason',
  except: 'initialize',
} as const

/** What a session needs of the server it belongs to. */
export interface SessionHost {
  readonly peer: PeerOptions
  /** Whether a batch is taken from a caller, or from one not known yet. */
  takesBatches(batch: Batch, caller: Caller | undefined): boolean
  /** Whether an error about something without a readable id may go without one. */
  readonly omitsNullIds: boolean
  handlerFor(session: Session): Handler
  /** The channel is gone, or about to be. */
  onClosing(session: Session): void
}

/**
 * One connection to a server: what `initialize` has settled, which log messages and resources it wants
 * to hear of, and its listen streams. Requests that speak for themselves pass through it and leave
 * nothing here that another request is answered by.
 */
export class Session implements Attachment, Subscriber {
  readonly closed: Promise<Error | undefined>
  readonly envelope: Envelope
  /** Who is at the other end, once `initialize` has said so. */
  caller: Caller | undefined
  /**
   * Whether the client has said that it is ready, or shown it by its requests. Until then it is told
   * and asked nothing that it did not ask for.
   */
  isReady = false
  /** Set by `logging/setLevel`. */
  logLevel: LogLevel | undefined
  /** Questions by URL that it was asked, until they are settled. */
  readonly elicitations = new Elicitations()
  // Most sessions need none of these, and a server may have thousands of sessions.
  #uris: Set<string> | undefined
  #taskNews: Map<string, () => void> | undefined
  #endListens: Set<() => void> | undefined
  readonly #channel: Channel
  readonly #peer: Peer
  readonly #host: SessionHost

  constructor(channel: Channel, envelope: Envelope, host: SessionHost) {
    this.envelope = envelope
    this.#channel = channel
    this.#host = host
    this.#peer = new Peer(channel, host.handlerFor(this), {
      ...host.peer,
      batches: batch => host.takesBatches(batch, this.caller),
      // Whoever has not opened a session may be of a revision that has no null.
      omitsNullIds: () =>
        host.omitsNullIds && (this.caller?.revision.features.namelessErrors ?? true),
      cancellation,
      // Nobody can cancel them any more: they would hold up the end for as long as requests may.
      onEnded: () => this.#endAllListens(),
    })
    this.closed = this.#peer.closed
    void this.closed.then(() => host.onClosing(this))
  }

  /** The calling half, for asking the client back. */
  get peer(): Peer {
    return this.#peer
  }

  /** Resources it has subscribed to. */
  get uris(): ReadonlySet<string> {
    return this.#uris ?? none
  }

  /** Returns false where it had subscribed already. */
  subscribe(uri: string): boolean {
    if (this.uris.has(uri)) return false
    this.#uris ??= new Set()
    this.#uris.add(uri)
    return true
  }

  /** Returns false where it had not subscribed. */
  unsubscribe(uri: string): boolean {
    return this.#uris?.delete(uri) ?? false
  }

  /** Told that a question, which the client answers as a task, has got on; by the id of the task. */
  get taskNews(): Map<string, () => void> {
    this.#taskNews ??= new Map()
    return this.#taskNews
  }

  /** Ends each of its listen streams in good order. */
  get endListens(): Set<() => void> {
    this.#endListens ??= new Set()
    return this.#endListens
  }

  /** The client says that a task of its own has got on: whoever waits for it looks at once. */
  hearTask(id: unknown): void {
    if (typeof id === 'string') this.#taskNews?.get(id)?.()
  }

  wants(change: Change): boolean {
    if (!this.isReady || change.type === 'task') return false
    return change.type !== 'resource' || this.#uris?.has(change.uri) === true
  }

  tell(change: Change): void {
    if (change.type === 'task') return
    if (change.type === 'resource') {
      this.notify('notifications/resources/updated', { uri: change.uri })
    } else {
      this.notify(`notifications/${change.type}/list_changed`)
    }
  }

  /** Sends a notification; one that cannot leave any more is dropped, as it would be on the way. */
  notify(method: string, params?: object): void {
    try {
      const waiting = this.#peer.notify(method, params)
      if (waiting !== undefined) waiting.then(undefined, () => {})
    } catch {
      // The end of the channel is told where it is waited for.
    }
  }

  /** Closes the connection of a request until its client comes back; false where none would. */
  poll(about: Id): boolean {
    return this.#channel.poll?.(about) ?? false
  }

  async close(options?: { readonly drainMs?: number }): Promise<void> {
    this.#host.onClosing(this)
    this.#endAllListens()
    await this.#peer.close(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #endAllListens(): void {
    for (const end of [...(this.#endListens ?? [])]) end()
  }
}

const none: ReadonlySet<string> = new Set()
