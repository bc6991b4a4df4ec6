import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex, Readable, Writable } from 'node:stream'
import { WebSocket } from 'ws'
import { type Channel, ChannelError, type Sink } from '../../src/jsonrpc/channel.ts'
import { type DecodeOptions, decode } from '../../src/jsonrpc/codec/decode.ts'
import { encode } from '../../src/jsonrpc/codec/encode.ts'
import type { Message } from '../../src/jsonrpc/message.ts'

/** A connection without any of our code on this end: documents are sent and received unchanged. */
export interface Raw {
  /** Sends one document in its own frame. */
  send(document: string | Uint8Array): void
  /** Returns the next document. Rejects if the connection closes first. */
  next(): Promise<string>
  /** Resolves when the connection has closed, to the close code if there is one. */
  readonly ended: Promise<number | undefined>
  /** Ends the output. */
  end(): void
  close(): void
}

/**
 * Documents that have arrived and were not requested yet, and requests that wait for their document.
 */
class Inbox {
  readonly #documents: string[] = []
  readonly #askers: PromiseWithResolvers<string>[] = []
  readonly #end = withResolvers<number | undefined>()
  #isOver = false

  get ended(): Promise<number | undefined> {
    return this.#end.promise
  }

  put(document: string): void {
    const asker = this.#askers.shift()
    if (asker === undefined) this.#documents.push(document)
    else asker.resolve(document)
  }

  next(): Promise<string> {
    const document = this.#documents.shift()
    if (document !== undefined) return Promise.resolve(document)
    if (this.#isOver) return Promise.reject(new Error('the connection has ended'))
    const asker = withResolvers<string>()
    this.#askers.push(asker)
    return asker.promise
  }

  over(code?: number): void {
    this.#isOver = true
    for (const asker of this.#askers.splice(0)) asker.reject(new Error('the connection has ended'))
    this.#end.resolve(code)
  }
}

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (reason: Error) => void
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: Error) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** How this end writes a document to a stream and finds the first complete one in its input. */
export interface Cut {
  frame(document: Uint8Array): Uint8Array
  /** The range of the first document in the bytes, and the start of the rest. */
  first(
    bytes: Buffer,
  ): { readonly from: number; readonly to: number; readonly rest: number } | undefined
}

export const cuts = {
  lines: {
    frame: document => Buffer.concat([document, Buffer.from('\n')]),
    first: bytes => {
      const to = bytes.indexOf('\n')
      return to < 0 ? undefined : { from: 0, to, rest: to + 1 }
    },
  },
  length: {
    frame: document => {
      const prefix = Buffer.alloc(4)
      prefix.writeUInt32BE(document.byteLength)
      return Buffer.concat([prefix, document])
    },
    first: bytes => {
      if (bytes.length < 4) return undefined
      const to = 4 + bytes.readUInt32BE()
      return bytes.length < to ? undefined : { from: 4, to, rest: to }
    },
  },
  headers: {
    frame: document =>
      Buffer.concat([Buffer.from(`Content-Length: ${document.byteLength}\r\n\r\n`), document]),
    first: bytes => {
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return undefined
      const length = /content-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1]
      const to = end + 4 + Number(length)
      return bytes.length < to ? undefined : { from: end + 4, to, rest: to }
    },
  },
} satisfies Record<string, Cut>

/** A raw end on a byte stream that is open. */
export function rawStream(stream: Duplex, cut: Cut): Raw {
  return rawEnds(stream, stream, cut)
}

/** A raw end on one stream for each direction. */
export function rawEnds(readable: Readable, writable: Writable, cut: Cut): Raw {
  const inbox = new Inbox()
  let bytes = Buffer.alloc(0)
  readable.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    for (let found = cut.first(bytes); found !== undefined; found = cut.first(bytes)) {
      inbox.put(bytes.toString('utf8', found.from, found.to))
      bytes = bytes.subarray(found.rest)
    }
  })
  readable.on('error', () => {}).on('close', () => inbox.over())
  writable.on('error', () => {})
  return {
    send: document => void writable.write(cut.frame(Buffer.from(document))),
    next: () => inbox.next(),
    ended: inbox.ended,
    end: () => void writable.end(),
    close: () => {
      writable.end()
      readable.destroy()
    },
  }
}

/** Connects to `tcp://host:port`. */
export async function rawTcp(address: string, cut: Cut): Promise<Raw> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return rawStream(socket, cut)
}

/** Connects to `ws://…`. Documents are sent as text messages, even invalid ones. */
export async function rawWebSocket(address: string): Promise<Raw> {
  const socket = new WebSocket(address)
  const inbox = new Inbox()
  socket.on('message', (data: Buffer) => inbox.put(data.toString()))
  socket.on('error', () => {})
  socket.on('close', code => inbox.over(code))
  await once(socket, 'open')
  return {
    send: document => socket.send(document, { binary: false }),
    next: () => inbox.next(),
    ended: inbox.ended,
    end: () => socket.close(),
    close: () => socket.terminate(),
  }
}

/** A channel for one of our peers and its raw other end, with only the codec between them. */
export function rawChannel(options?: DecodeOptions): {
  readonly channel: Channel
  readonly raw: Raw
} {
  const inbox = new Inbox()
  let sink: Sink | undefined
  const close = (): Promise<void> => {
    sink?.closed()
    sink = undefined
    inbox.over()
    return Promise.resolve()
  }
  const channel: Channel = {
    open: into => {
      sink = into
    },
    send: message => inbox.put(textOf(message)),
    close,
    [Symbol.asyncDispose]: close,
  }
  return {
    channel,
    raw: {
      send: document => void sink?.receive(decode(document, options), {}),
      next: () => inbox.next(),
      ended: inbox.ended,
      end: () => void close(),
      close: () => void close(),
    },
  }
}

function textOf(message: Message | readonly Message[]): string {
  try {
    return encode(message)
  } catch (cause) {
    throw new ChannelError('unserialisable', 'sending: no JSON', { cause })
  }
}
