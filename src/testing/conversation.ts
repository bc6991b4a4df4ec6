import { type Channel, ChannelError, type Sink } from '../jsonrpc/channel.ts'
import { type DecodeOptions, decode } from '../jsonrpc/codec/decode.ts'
import { encode } from '../jsonrpc/codec/encode.ts'
import type { Decoded, Message } from '../jsonrpc/message.ts'
import { type Deferred, deferred } from '../util/promises.ts'

/** One connection to a server, as texts. Each text is a message, a batch, or invalid input. */
export interface Conversation {
  /** Sends a text to the server as it is. */
  send(text: string): void | Promise<void>
  /** Resolves to the next text. Rejects if the connection has closed and no text is left. */
  next(): Promise<string>
  /** Closes the connection. */
  close(): void | Promise<void>
}

/**
 * Creates a channel for a server and, as its other end, a conversation, with only encoding and decoding
 * in between. Texts arrive asynchronously, in order, and delivery waits for the promises that the
 * server returns.
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
    // Stays true after closing, so that `closed` is called once.
    if (isClosed) sink.closed(failure)
    else isDelivering = false
  }

  const channel: Channel = {
    open: into => {
      sink = into
      void deliver()
    },
    send: message => {
      if (isClosed) throw new ChannelError('closed', 'sending: the conversation is closed')
      inbox.put(textOf(message))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  const conversation: Conversation = {
    send: text => {
      if (isClosed) throw new ChannelError('closed', 'sending: the conversation is closed')
      arrivals.push(decode(text, options))
      void deliver()
    },
    next: () => inbox.next(),
    close,
  }
  return [channel, conversation]
}

/** The received texts, and the readers that wait for one. */
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
  return new ChannelError('closed', 'waiting for a text: the conversation is closed')
}

function textOf(message: Message | readonly Message[]): string {
  try {
    return encode(message)
  } catch (cause) {
    throw new ChannelError('unserialisable', 'sending: not representable as JSON', { cause })
  }
}
