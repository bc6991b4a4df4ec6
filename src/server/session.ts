import type { Channel, Envelope } from '../jsonrpc/channel.ts'
import type { Handler } from '../jsonrpc/handler.ts'
import { Peer } from '../jsonrpc/peer.ts'
import type { PeerOptions } from '../jsonrpc/peer-options.ts'
import type { Caller } from '../mcp/caller.ts'
import type { Attachment } from '../mcp/endpoint.ts'
import type { LogLevel } from '../mcp/types/logging.ts'
import type { Change, Subscriber } from './subscriptions.ts'

/** What a session needs of the server it belongs to. */
export interface SessionHost {
  readonly peer: PeerOptions
  /** Whether batches are taken from a caller of a revision, or from one not known yet. */
  takesBatches(caller: Caller | undefined): boolean
  handlerFor(session: Session): Handler
  /** The channel is gone, or about to be. */
  onClosing(session: Session): void
}

/**
 * One connection to a server: what `initialize` has settled, which log messages and resources it wants
 * to hear of, and its listen streams. Requests that speak for themselves pass through it without
 * leaving anything here.
 */
export class Session implements Attachment, Subscriber {
  readonly closed: Promise<Error | undefined>
  readonly envelope: Envelope
  /** Who is at the other end, once `initialize` has said so. */
  caller: Caller | undefined
  /** Set by `logging/setLevel`. */
  logLevel: LogLevel | undefined
  /** Resources it has subscribed to. */
  readonly uris = new Set<string>()
  /** Ends each of its listen streams in good order. */
  readonly endListens = new Set<() => void>()
  readonly #peer: Peer
  readonly #host: SessionHost

  constructor(channel: Channel, envelope: Envelope, host: SessionHost) {
    this.envelope = envelope
    this.#host = host
    this.#peer = new Peer(channel, host.handlerFor(this), {
      ...host.peer,
      batches: () => host.takesBatches(this.caller),
      cancellation: { method: 'notifications/cancelled', member: 'requestId' },
    })
    this.closed = this.#peer.closed
    void this.closed.then(() => host.onClosing(this))
  }

  /** The calling half, for asking the client back. */
  get peer(): Peer {
    return this.#peer
  }

  wants(change: Change): boolean {
    if (this.caller === undefined || change.type === 'task') return false
    return change.type !== 'resource' || this.uris.has(change.uri)
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

  async close(options?: { readonly drainMs?: number }): Promise<void> {
    this.#host.onClosing(this)
    for (const end of [...this.endListens]) end()
    await this.#peer.close(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
