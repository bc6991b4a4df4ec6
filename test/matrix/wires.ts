import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectSocket, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, type Listener, listen, Peer, RpcError } from '../../src/index.ts'
import type { DecodeOptions } from '../../src/jsonrpc/codec/decode.ts'
import type { Method } from '../../src/jsonrpc/handler.ts'
import { memoryPair } from '../../src/transport/memory.ts'
import type { FramingName } from '../../src/wire/frame.ts'
import { cuts, type Raw, rawEnds, rawStream, rawWebSocket } from '../judges/raw.ts'
import { answers } from './answers.js'

/** A running server of the matrix. */
export interface Served {
  connect(methods?: Record<string, Method>): Promise<Peer>
  /** A connection whose other end is not our code. */
  raw(): Promise<Raw>
  /** A connection below all protocols, before its first byte. */
  socket(): Promise<Socket>
  /** The listener, where it is in this process. */
  listener(): Listener
  /** Stops the server and closes every connection. */
  end(): Promise<void>
}

export interface ServeOptions {
  readonly decode?: DecodeOptions
  readonly maxOutboundBytes?: number
}

/** One way to reach a server, and what can be done over it. */
export interface Wire {
  readonly name: string
  readonly framing?: FramingName
  readonly can: readonly ('raw' | 'half-close' | 'socket' | 'listener' | 'reset')[]
  /** What happens to a connection after a message over the limit. */
  readonly afterOversize?: 'goes on' | 'is closed' | 'is closed with 1009'
  serve(options?: ServeOptions, more?: Record<string, Method>): Promise<Served>
}

const framings: readonly FramingName[] = ['lines', 'length', 'headers']

export const wires: readonly Wire[] = [
  memory(),
  ...framings.map(stdio),
  ...framings.map(tcp),
  ...framings.map(unix),
  websocket(),
]

const onError = (): void => {}

function memory(): Wire {
  return {
    name: 'memory',
    can: [],
    serve: async (_, more = {}) => {
      const peers: Peer[] = []
      const methods = { ...answers(RpcError), ...more }
      return {
        ...nothing,
        connect: async own => {
          const [near, far] = memoryPair()
          peers.push(new Peer(far, methods, { onError }))
          const peer = new Peer(near, own)
          peers.push(peer)
          return peer
        },
        end: async () => {
          for (const peer of peers) await peer.close()
        },
      }
    },
  }
}

function stdio(framing: FramingName): Wire {
  const file = fileURLToPath(new URL('child-server.js', import.meta.url))
  return {
    name: `the stdio of a child process and ${framing}`,
    framing,
    can: ['raw', 'half-close'],
    afterOversize: 'goes on',
    serve: async (options = {}) => {
      const args = [file, JSON.stringify({ ...options, framing })]
      const ends: (() => Promise<unknown>)[] = []
      return {
        ...nothing,
        connect: async methods => {
          const command = process.execPath
          const peer = await connect({ command, args }, { protocol: 'jsonrpc', framing, methods })
          ends.push(() => peer.close())
          return peer
        },
        raw: async () => {
          const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
          const exit = once(child, 'exit')
          ends.push(() => {
            child.stdin.end()
            child.stdout.resume()
            return exit
          })
          return rawEnds(child.stdout, child.stdin, cuts[framing])
        },
        end: async () => {
          for (const end of ends) await end()
        },
      }
    },
  }
}

function tcp(framing: FramingName): Wire {
  return socketWire(`TCP and ${framing}`, framing, ['reset'], async () => ({
    address: 'tcp://127.0.0.1:0',
    clean: async () => {},
  }))
}

function unix(framing: FramingName): Wire {
  return socketWire(`a Unix socket and ${framing}`, framing, [], async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tl-'))
    return { address: `unix:${folder}/s`, clean: () => rm(folder, { recursive: true }) }
  })
}

function socketWire(
  name: string,
  framing: FramingName,
  more: Wire['can'],
  place: () => Promise<{ address: string; clean(): Promise<void> }>,
): Wire {
  return {
    name,
    framing,
    can: ['raw', 'half-close', 'socket', 'listener', ...more],
    afterOversize: 'is closed',
    serve: async (options, methods) => {
      const { address, clean } = await place()
      const served = await serveAt(address, { ...options, framing }, methods)
      return {
        ...served,
        raw: async () => rawStream(await served.socket(), cuts[framing]),
        end: async () => {
          await served.end()
          await clean()
        },
      }
    },
  }
}

function websocket(): Wire {
  return {
    name: 'a WebSocket',
    can: ['raw', 'socket', 'listener', 'reset'],
    afterOversize: 'is closed with 1009',
    serve: (options, more) => serveAt('ws://127.0.0.1:0/', { ...options }, more),
  }
}

async function serveAt(
  address: string,
  options: ServeOptions & { framing?: FramingName },
  more: Record<string, Method> = {},
): Promise<Served> {
  const methods = { ...answers(RpcError), ...more }
  const listener = await listen(methods, address, { protocol: 'jsonrpc', onError, ...options })
  const peers: Peer[] = []
  const { framing } = options
  return {
    connect: async own => {
      const peer = await connect(listener.address, { protocol: 'jsonrpc', framing, methods: own })
      peers.push(peer)
      return peer
    },
    raw: () => rawWebSocket(listener.address),
    socket: async () => {
      const socket = connectSocket(netTarget(listener.address))
      socket.on('error', () => {})
      await once(socket, 'connect')
      return socket
    },
    listener: () => listener,
    end: async () => {
      for (const peer of peers) await peer.close()
      await listener.close()
    },
  }
}

function netTarget(address: string): { path: string } | { host: string; port: number } {
  if (address.startsWith('unix:')) return { path: address.slice('unix:'.length) }
  const { hostname, port } = new URL(address)
  return { host: hostname, port: Number(port) }
}

const nothing = {
  raw: (): Promise<Raw> => Promise.reject(new Error('there is no wire')),
  socket: (): Promise<Socket> => Promise.reject(new Error('there is not a socket')),
  listener: (): Listener => {
    throw new Error('there is no listener')
  },
}
