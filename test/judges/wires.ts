import { Transform } from 'node:stream'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import type { DecodeOptions } from '../../src/jsonrpc/codec/decode.ts'
import { listenSocket } from '../../src/transport/socket/socket.ts'
import { streamChannel } from '../../src/transport/stream/stream.ts'
import { listenWebSocket } from '../../src/transport/websocket/server.ts'
import type { FramingName } from '../../src/wire/frame.ts'
import { cuts, type Raw, rawChannel, rawEnds, rawTcp, rawWebSocket } from './raw.ts'

/** Our server, seen from outside. */
export interface Served {
  connect(): Promise<Raw>
  end(): Promise<void>
}

/** A transport to a server: passes each connection to `attach`. */
export interface Wire {
  readonly name: string
  readonly framing?: FramingName
  serve(attach: (channel: Channel) => void, decode?: DecodeOptions): Promise<Served>
}

function tcp(framing: FramingName): Wire {
  return {
    name: `TCP and ${framing}`,
    framing,
    serve: async (attach, decode) => {
      const target = { host: '127.0.0.1', port: 0 }
      const listener = await listenSocket(target, { framing, decode }, attach)
      return {
        connect: () => rawTcp(listener.address, cuts[framing]),
        end: () => listener.close(),
      }
    },
  }
}

const websocket: Wire = {
  name: 'WebSocket',
  serve: async (attach, decode) => {
    const listener = await listenWebSocket(new URL('ws://127.0.0.1:0'), { decode }, attach)
    return { connect: () => rawWebSocket(listener.address), end: () => listener.close() }
  },
}

const alone: Wire = {
  name: 'nothing but the codec',
  serve: async (attach, decode) => ({
    connect: async () => {
      const { channel, raw } = rawChannel(decode)
      attach(channel)
      return raw
    },
    end: async () => {},
  }),
}

/** Streams in memory that forward every byte separately. */
export const bytewise: Wire = {
  name: 'lines in pieces of one byte',
  framing: 'lines',
  serve: async (attach, decode) => ({
    connect: async () => {
      const [there, back] = [oneByOne(), oneByOne()]
      attach(streamChannel(there, back, { decode }))
      return rawEnds(back, there, cuts.lines)
    },
    end: async () => {},
  }),
}

function oneByOne(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at++) this.push(chunk.subarray(at, at + 1))
      done()
    },
  })
}

export const wires: readonly Wire[] = [
  alone,
  tcp('lines'),
  tcp('length'),
  tcp('headers'),
  websocket,
]
