import { type Channel, ChannelError, type Sink } from '../jsonrpc/channel.ts'
import { type DecodeOptions, decode } from '../jsonrpc/codec/decode.ts'
import { encode } from '../jsonrpc/codec/encode.ts'
import type { Decoded, Message } from '../jsonrpc/message.ts'
import { type Deferred, deferred } from '../util/deferred.ts'

/** One connection to a server, seen as texts. Each text is one message, batch, or nonsense. */
export interface Conversation {
  send(text: string): void | Promise<void>
  /** The next text that comes. Rejects when the connection has ended and nothing is left. */
  next(): Promise<string>
  close(): void | Promise<void>
}

/**
 * A channel for a server and, as its other end, a conversation: with nothing between the two but
 * reading and writing JSON. What is sent arrives later than the `send`, in order, and waits for the
 * promises that the server returns.
 */
export function converse(options?: DecodeOptions): [Channel, Conversation] {
  const inbox = new Inbox()
  const arrivals: Decoded[] = []
  const ended = deferred<void>()
  let sink: Sink | undefined
  let isClosed = false
  let isDelivering = false
  let failure: Error | undefined

  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    inbox.end()
    ended.resolve()
    void deliver()
  }
  const deliver = async (): Promise<void> => {
    if (isDelivering || sink === undefined) return
    isDelivering = true
    await undefined
    try {
      for (let next = arrivals.shift(); next !== undefined; next = arrivals.shift()) {
        const wait = sink.receive(next, {})
        if (wait !== undefined) await Promise.race([wait, ended.promise])
      }
    } catch (cause) {
      failure = new ChannelError('closed', 'delivering: the receiver threw', { cause })
      arrivals.length = 0
      void close()
    }
    // Once closed it stays delivering, so that the end is told once.
    if (isClosed) sink.closed(failure)
    else isDelivering = false
  }

  const channel: Channel = {
    open: into => {
      sink = into
      void deliver()
    },
    send: message => {
      if (isClosed) throw new ChannelError('closed', 'sending: the conversation is over')
      inbox.put(textOf(message))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  const conversation: Conversation = {
    send: text => {
      if (isClosed) throw new ChannelError('closed', 'sending: the conversation is over')
      arrivals.push(decode(text, options))
      void deliver()
    },
    next: () => inbox.next(),
    close,
  }
  return [channel, conversation]
}

/** Texts that came and were not asked for yet, and askers that came before their text. */
class Inbox {
  readonly #texts: string[] = []
  readonly #askers: Deferred<string>[] = []
  #isOver = false

  put(text: string): void {
    const asker = this.#askers.shift()
    if (asker === undefined) this.#texts.push(text)
    else asker.resolve(text)
  }

  next(): Promise<string> {
    const text = this.#texts.shift()
    if (text !== undefined) return Promise.resolve(text)
    if (this.#isOver) return Promise.reject(over())
    const asker = deferred<string>()
    this.#askers.push(asker)
    return asker.promise
  }

  end(): void {
    this.#isOver = true
    for (const asker of this.#askers.splice(0)) asker.reject(over())
  }
}

function over(): ChannelError {
  return new ChannelError('closed', 'waiting for a text: the conversation is over')
}

function textOf(message: Message | readonly Message[]): string {
  try {
    return encode(message)
  } catch (cause) {
    throw new ChannelError('unserialisable', 'sending: no JSON', { cause })
  }
}
