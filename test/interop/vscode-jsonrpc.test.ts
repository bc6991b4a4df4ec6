import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net'
import { type Readable, Transform, type Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createMessageConnection, type MessageConnection } from 'vscode-jsonrpc/node'
import { connect, listen, RpcError } from '../../src/index.ts'
import { Peer } from '../../src/jsonrpc/peer/peer.ts'
import { streamChannel } from '../../src/transport/stream/stream.ts'
import { type Caller, cases } from './cases.ts'
import { type Conversation, type Directions, talkThrough } from './conversation.ts'
import { ourCaller } from './our-caller.ts'
import { ourMethods } from './ours.js'
import { serveVscode } from './vscode.js'

// Reports that a notification found no method, which is intended.
const peerOptions = { onError: () => {} }
const options = { protocol: 'jsonrpc', framing: 'headers', peer: peerOptions } as const

/** Their client on two streams. */
function theirClient(readable: Readable, writable: Writable): MessageConnection {
  const connection = createMessageConnection(readable, writable)
  connection.listen()
  return connection
}

function asCaller(connection: MessageConnection): Caller {
  return {
    call: (method, params) => {
      if (params === undefined) return connection.sendRequest(method)
      return Array.isArray(params)
        ? connection.sendRequest(method, ...params)
        : connection.sendRequest(method, params)
    },
    notify: (method, params) =>
      params === undefined
        ? connection.sendNotification(method)
        : connection.sendNotification(method, params),
  }
}

function programOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** Forwards its input in chunks of this many bytes. */
function chopper(size: number): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at += size) this.push(chunk.subarray(at, at + size))
      done()
    },
  })
}

const theirsToOurs: Directions = {
  TCP: async () => {
    const listener = await listen(ourMethods(RpcError), 'tcp://127.0.0.1:0', options)
    const { hostname, port } = new URL(listener.address)
    const socket = connectSocket(Number(port), hostname)
    await once(socket, 'connect')
    const connection = theirClient(socket, socket)
    return {
      caller: asCaller(connection),
      end: () => {
        connection.dispose()
        socket.destroy()
        return listener.close()
      },
    }
  },
  'the stdio of a child process': async () => {
    const child = spawn(process.execPath, [programOf('our-server.js')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const connection = theirClient(child.stdout, child.stdin)
    return {
      caller: asCaller(connection),
      end: () => {
        connection.dispose()
        child.stdin.end()
        return once(child, 'exit')
      },
    }
  },
}

const oursToTheirs: Directions = {
  TCP: async () => {
    const server = createServer(socket => serveVscode(createMessageConnection(socket, socket)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const peer = await connect(`tcp://127.0.0.1:${port}`, options)
    return {
      caller: ourCaller(peer),
      end: async () => {
        await peer.close()
        server.close()
        await once(server, 'close')
      },
    }
  },
  'the stdio of a child process': async () => {
    const peer = await connect(
      { command: process.execPath, args: [programOf('vscode-server.js')] },
      options,
    )
    return { caller: ourCaller(peer), end: () => peer.close() }
  },
}

const theirsToOursIn = (sizes: readonly number[]) =>
  pieces(sizes, async size => {
    const [there, back] = [chopper(size), chopper(size)]
    const channel = streamChannel(there, back, { framing: 'headers' })
    const peer = new Peer(channel, ourMethods(RpcError), peerOptions)
    const connection = theirClient(back, there)
    return {
      caller: asCaller(connection),
      end: () => {
        connection.dispose()
        return peer.close()
      },
    }
  })

const oursToTheirsIn = (sizes: readonly number[]) =>
  pieces(sizes, async size => {
    const [there, back] = [chopper(size), chopper(size)]
    serveVscode(createMessageConnection(there, back))
    const peer = new Peer(streamChannel(back, there, { framing: 'headers' }))
    return { caller: ourCaller(peer), end: () => peer.close() }
  })

/** The conversation in memory, in chunks that split every multi-byte character. */
function pieces(
  sizes: readonly number[],
  open: (size: number) => Promise<Conversation>,
): Directions {
  return Object.fromEntries(sizes.map(size => [`pieces of ${size} bytes`, () => open(size)]))
}

// Their reader takes minutes for a mebibyte in chunks this small.
const tiny = [1, 2, 3, 7]
const withoutLarge = cases.filter(({ isLarge }) => isLarge !== true)

talkThrough('vscode-jsonrpc, their client and our server', theirsToOurs, cases)
talkThrough('vscode-jsonrpc, their client and our server', theirsToOursIn([4093]), cases)
talkThrough('vscode-jsonrpc, their client and our server', theirsToOursIn(tiny), withoutLarge)
talkThrough('vscode-jsonrpc, our client and their server', oursToTheirs, cases)
talkThrough('vscode-jsonrpc, our client and their server', oursToTheirsIn([4093]), cases)
talkThrough('vscode-jsonrpc, our client and their server', oursToTheirsIn(tiny), withoutLarge)
