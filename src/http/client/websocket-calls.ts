import { type Channel, ChannelError, type Envelope } from '../../jsonrpc/channel.ts'
import type { Decoded, Entry, ErrorObject, Id, Message } from '../../jsonrpc/message.ts'
import { BUSY, isShuttingDown } from '../../jsonrpc/peer/standard-errors.ts'
import type { Recipient } from './post.ts'

/** Gets the results of the calls on a WebSocket. */
export interface SocketHost extends Recipient {
  /**
   * Called when the server accepts no more calls on the WebSocket. Those in flight still get their
   * replies.
   */
  onRetired(socket: SocketCalls): void
  /** Called when the WebSocket has closed. */
  onEnded(socket: SocketCalls, cause: Error | undefined): void
  /** Called with a description of a message that cannot be used. */
  report(what: string): void
}

/**
 * The calls on one WebSocket. Each of them may fail on its own, as requests over HTTP may: an error
 * that concerns the server rather than the call is reported as a failure of the transport.
 */
export class SocketCalls {
  readonly #channel: Channel
  readonly #host: SocketHost
  readonly #waiting = new Set<Id>()
  #isClosing = false
  #closesWhenIdle = false

  constructor(channel: Channel, host: SocketHost) {
    this.#channel = channel
    this.#host = host
    channel.open({
      receive: arrival => this.#receive(arrival),
      closed: (cause, isDrained) => this.#onClosed(cause, isDrained),
    })
  }

  /** Whether a result has ever been received on the WebSocket. */
  hasReplied = false

  /** Number of calls without a reply. */
  get size(): number {
    return this.#waiting.size
  }

  /** Sends a call. Throws a ChannelError if nothing of it was sent. */
  send(call: Message, id: Id): void | Promise<void> {
    const room = this.#channel.send(call)
    this.#waiting.add(id)
    // A sender that waits for backpressure must not take the end of the WebSocket for the end of
    // the channel.
    return room?.catch(() => {})
  }

  /** Cancels a call. Returns whether the call was on this WebSocket. */
  abandon(id: Id): boolean {
    if (!this.#waiting.delete(id)) return false
    try {
      const method = 'notifications/cancelled'
      const room = this.#channel.send({
        type: 'notification',
        method,
        params: { requestId: id },
      })
      room?.catch(() => {})
    } catch {
      // A WebSocket that has just closed needs no cancellation.
    }
    this.#host.failed(id, new ChannelError('outcome-unknown', 'the call was cancelled'))
    return true
  }

  /** Closes the WebSocket as soon as no call waits for its reply. No call may be sent afterwards. */
  closeWhenIdle(): void {
    this.#closesWhenIdle = true
    if (this.size === 0) void this.close()
  }

  /**
   * Closes the WebSocket without reporting failures, because the callers learn that the channel has
   * closed.
   */
  close(): Promise<void> {
    this.#isClosing = true
    this.#waiting.clear()
    return this.#channel.close()
  }

  #receive(arrival: Decoded): void | Promise<void> {
    const room = arrival.type === 'batch' ? this.#takeAll(arrival.entries) : this.#take(arrival)
    if (this.#closesWhenIdle) this.closeWhenIdle()
    return room
  }

  #takeAll(entries: readonly Entry[]): void | Promise<void> {
    const rooms = entries.map(entry => this.#take(entry))
    return rooms.findLast(room => room !== undefined)
  }

  #take(entry: Entry): void | Promise<void> {
    switch (entry.type) {
      case 'result':
        // A reply without a pending call belongs to an abandoned one.
        if (entry.id === null || !this.#waiting.delete(entry.id)) return
        this.hasReplied = true
        return this.#host.receive(entry, noEnvelope)
      case 'error':
        if (entry.id === null) return this.#host.report(`an error, ${entry.error.message}`)
        if (!this.#waiting.delete(entry.id)) return
        if (isShuttingDown(entry.error)) {
          this.#host.onRetired(this)
          // The call was not begun, and may be sent over another connection.
          return this.#host.failed(entry.id, new ChannelError('closed', entry.error.message))
        }
        if (!isBusy(entry.error)) return this.#host.receive(entry, noEnvelope)
        // Equivalent to status 503.
        return this.#host.failed(entry.id, new ChannelError('refused', entry.error.message))
      case 'notification':
        return this.#host.receive(entry, noEnvelope)
      case 'request':
        return this.#host.report(`a request, ${entry.method}`)
      case 'invalid':
        if (entry.reply !== true || entry.id === null || !this.#waiting.delete(entry.id)) {
          return this.#host.report(`an invalid message: ${entry.detail}`)
        }
        return this.#host.receive(entry, noEnvelope)
    }
  }

  #onClosed(cause: Error | undefined, isDrained = false): void {
    if (!this.#isClosing) {
      const lost = isDrained
        ? new ChannelError('closed', 'the WebSocket closed before the request was begun')
        : new ChannelError('outcome-unknown', unknown, { cause })
      const ids = [...this.#waiting]
      this.#waiting.clear()
      // First, so that a call that is sent because of a failure does not use this WebSocket again.
      this.#host.onEnded(this, cause)
      for (const id of ids) this.#host.failed(id, lost)
    } else this.#host.onEnded(this, cause)
  }
}

const unknown = 'the WebSocket closed before the reply; the request may have been executed'

/** The envelope of all messages on a WebSocket. */
const noEnvelope: Envelope = Object.freeze({})

/** Whether an error is the one that a JSON-RPC peer of this implementation sends when it is overloaded. */
function isBusy({ code, message }: ErrorObject): boolean {
  return code === BUSY.code && message === BUSY.message
}
