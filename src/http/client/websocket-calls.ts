import { type Channel, ChannelError, type Envelope } from '../../jsonrpc/channel.ts'
import type { Decoded, Entry, ErrorObject, Id, Message } from '../../jsonrpc/message.ts'
import { BUSY, SHUTTING_DOWN } from '../../jsonrpc/peer/standard-errors.ts'
import type { Recipient } from './post.ts'

/** Who is told what becomes of the calls on a WebSocket. */
export interface SocketHost extends Recipient {
  /** The server takes no more calls on it; those under way are still answered. */
  onRetired(socket: SocketCalls): void
  /** It has ended. */
  onEnded(socket: SocketCalls, cause: Error | undefined): void
  /** Told what came and cannot be used. */
  report(what: string): void
}

/**
 * The calls that go over one WebSocket. Each of them may fail by itself, as each request over HTTP may:
 * what the server says of itself and not of the call is told as a failure of the way.
 */
export class SocketCalls {
  readonly #channel: Channel
  readonly #host: SocketHost
  readonly #waiting = new Set<Id>()
  #isClosing = false

  constructor(channel: Channel, host: SocketHost) {
    this.#channel = channel
    this.#host = host
    channel.open({
      receive: arrival => this.#receive(arrival),
      closed: cause => this.#onClosed(cause),
    })
  }

  /** Whether it has ever brought a reply. */
  isProven = false

  /** Calls that have not been answered. */
  get size(): number {
    return this.#waiting.size
  }

  /** Sends a call, or throws a ChannelError, and then nothing of it has left. */
  send(call: Message, id: Id): void | Promise<void> {
    const room = this.#channel.send(call)
    this.#waiting.add(id)
    // Whoever waits for room must not take the end of the WebSocket for the end of everything.
    return room?.catch(() => {})
  }

  /** Cancels a call, if it is one of these; says whether it was. */
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
      // One that has just ended needs to be told of nothing.
    }
    this.#host.failed(id, new ChannelError('outcome-unknown', 'the call was given up'))
    return true
  }

  /** Ends it. Nobody is told of the calls: whoever waits hears that everything has ended. */
  close(): Promise<void> {
    this.#isClosing = true
    this.#waiting.clear()
    return this.#channel.close()
  }

  #receive(arrival: Decoded): void | Promise<void> {
    if (arrival.type !== 'batch') return this.#take(arrival)
    const rooms = arrival.entries.map(entry => this.#take(entry))
    return rooms.findLast(room => room !== undefined)
  }

  #take(entry: Entry): void | Promise<void> {
    switch (entry.type) {
      case 'result':
        // What nobody waits for any more was given up, and has been answered all the same.
        if (entry.id === null || !this.#waiting.delete(entry.id)) return
        this.isProven = true
        return this.#host.receive(entry, beside)
      case 'error':
        if (entry.id === null) return this.#host.report(`an error, ${entry.error.message}`)
        if (!this.#waiting.delete(entry.id)) return
        if (isSaid(entry.error, SHUTTING_DOWN)) this.#host.onRetired(this)
        else if (!isSaid(entry.error, BUSY)) return this.#host.receive(entry, beside)
        // Of the same meaning as the status 503: it has not been begun, and may be sent elsewhere.
        return this.#host.failed(entry.id, new ChannelError('refused', entry.error.message))
      case 'notification':
        return this.#host.receive(entry, beside)
      case 'request':
        return this.#host.report(`a request, ${entry.method}`)
      case 'invalid':
        if (entry.reply !== true || entry.id === null || !this.#waiting.delete(entry.id)) {
          return this.#host.report(`no message: ${entry.detail}`)
        }
        return this.#host.receive(entry, beside)
    }
  }

  #onClosed(cause: Error | undefined): void {
    if (!this.#isClosing) {
      const what = 'the WebSocket ended before the reply came; it may have been carried out'
      const lost = new ChannelError('outcome-unknown', what, { cause })
      const ids = [...this.#waiting]
      this.#waiting.clear()
      // First, so that whatever is sent because of a failure finds another way.
      this.#host.onEnded(this, cause)
      for (const id of ids) this.#host.failed(id, lost)
    } else this.#host.onEnded(this, cause)
  }
}

/** What comes beside its messages. */
const beside: Envelope = Object.freeze({})

/** Whether an error is one that the other side, which is of our kind, answers by itself. */
function isSaid({ code, message }: ErrorObject, own: ErrorObject): boolean {
  return code === own.code && message === own.message
}
