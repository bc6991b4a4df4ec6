import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Dial } from '../../src/client/connection/negotiate.ts'
import { httpChannel } from '../../src/http/client/channel.ts'
import { nodeHandler } from '../../src/http/handlers.ts'
import { listen, Server } from '../../src/index.ts'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import { RpcError } from '../../src/jsonrpc/error.ts'
import { audio, embed, image, link, text } from '../../src/mcp/content/content.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import { errors } from '../../src/mcp/errors/constructors.ts'
import { inputRequired } from '../../src/server/input/input-required.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import type { Listener } from '../../src/transport/listener.ts'
import { memoryPair } from '../../src/transport/memory.ts'
import { type ChildChannel, childChannel } from '../../src/transport/process/child.ts'
import { connectSocket } from '../../src/transport/socket/socket.ts'
import { connectWebSocket } from '../../src/transport/websocket/connect.ts'
import type { FramingName } from '../../src/wire/frame.ts'
import { everything } from '../fixtures/everything.js'
import type { Revision } from '../mcp-interop/driver.ts'

/** One way to reach a server with every feature. */
export interface Wire {
  readonly name: string
  /** The revisions that exist there; all of them by default. */
  readonly revisions?: readonly Revision[]
  /** Whether each request has its own response stream, which can be closed. */
  readonly isPerRequest?: boolean
  /** The revision of the server behind a router; undefined without a router. */
  readonly behind?: Revision
  /** Whether stateless callers share the connections of that router. */
  readonly isShared?: boolean
  /** Starts a server; `end` stops it. */
  serve(options?: ServerOptions): Promise<Served>
}

/** A running server of the matrix. */
export interface Served {
  /** Opens one more connection to it. */
  readonly dial: Dial
  /** Cuts every connection at once, as a crash does. */
  cut(): Promise<void>
  end(): Promise<void>
}

/** Creates an endpoint, which `serve` closes. */
export type Make = (options?: ServerOptions) => Made | Promise<Made>

/** An endpoint to serve. */
export type Made = Endpoint & { close(): Promise<void> }

const framings: readonly FramingName[] = ['lines', 'length', 'headers']

/** Every transport; with each framing where a socket supports it. */
export const wires: readonly Wire[] = [
  { name: 'memory', serve: serveInMemory(everythingHere) },
  child(),
  ...framings.map(framing =>
    listening(`TCP and ${framing}`, 'tcp://127.0.0.1:0', framing, address => {
      const { hostname, port } = new URL(address)
      return connectSocket({ host: hostname, port: Number(port) }, { framing })
    }),
  ),
  unix(),
  listening('a WebSocket', 'ws://127.0.0.1:0/mcp', undefined, address =>
    connectWebSocket(new URL(address), {}),
  ),
  { name: 'HTTP', isPerRequest: true, serve: serveHttp('/mcp', everythingHere) },
  {
    name: 'HTTP with two addresses',
    revisions: ['2024-11-05'],
    serve: serveHttp('/sse', everythingHere),
  },
]

const kit = { Server, RpcError, errors, inputRequired, text, image, audio, link, embed }

/** The server of the matrix, in this process. */
export function everythingHere(options?: ServerOptions): Server {
  return everything(kit, options)
}

/** Serves an endpoint in memory. */
export function serveInMemory(make: Make): Wire['serve'] {
  return async options => {
    const server = await make(options)
    const open = new Set<Channel>()
    return {
      dial: async () => {
        const [near, far] = memoryPair()
        open.add(far)
        server.attach(far)
        return near
      },
      cut: async () => {
        for (const channel of open) await channel.close()
        open.clear()
      },
      end: () => server.close(),
    }
  }
}

function child(): Wire {
  const file = fileURLToPath(new URL('../fixtures/everything-stdio.js', import.meta.url))
  return {
    name: 'the stdio of a child process',
    serve: async (options = {}) => {
      const children = new Set<ChildChannel>()
      const args = [file, JSON.stringify(options)]
      return {
        dial: async () => {
          const channel = await childChannel({ command: process.execPath, args }, {})
          children.add(channel)
          return channel
        },
        cut: async () => {
          for (const { pid } of children) process.kill(pid, 'SIGKILL')
          children.clear()
        },
        // Each child exits with its connection.
        end: async () => {},
      }
    },
  }
}

function unix(): Wire {
  return {
    name: 'a Unix socket',
    serve: async options => {
      const folder = await mkdtemp(join(tmpdir(), 'tl-'))
      const path = join(folder, 's')
      const served = await serveAt(`unix:${path}`, undefined, () => connectSocket({ path }, {}))(
        options,
      )
      return {
        ...served,
        end: async () => {
          await served.end()
          await rm(folder, { recursive: true })
        },
      }
    },
  }
}

function listening(
  name: string,
  address: string,
  framing: FramingName | undefined,
  open: (address: string) => Promise<Channel>,
): Wire {
  return { name, serve: serveAt(address, framing, open) }
}

/** Serves at an address; a server that was cut is restarted at the same one. */
function serveAt(
  wanted: string,
  framing: FramingName | undefined,
  open: (address: string) => Promise<Channel>,
): Wire['serve'] {
  return async options => {
    const server = everything(kit, options)
    const accepted = new Set<Channel>()
    const attach = server.attach.bind(server)
    server.attach = (channel, envelope) => {
      accepted.add(channel)
      return attach(channel, envelope)
    }
    const bind = (address: string) =>
      listen(server, address, { framing, drainMs: 0, onError: () => {} })
    let listener: Listener = await bind(wanted)
    const { address } = listener
    return {
      dial: () => open(address),
      cut: async () => {
        listener.stop()
        for (const channel of accepted) await channel.close()
        accepted.clear()
        await listener.close()
        listener = await bind(address)
      },
      end: async () => {
        await listener.close()
        await server.close()
      },
    }
  }
}

/** Serves an endpoint over HTTP; a server that was cut has lost every session. */
export function serveHttp(path: string, make: Make): Wire['serve'] {
  return async options => {
    const server = await make(options)
    const sse = { events: '/sse', messages: '/messages' }
    const made = () => nodeHandler(server, { path: '/mcp', sse, onError: () => {} })
    let handler = made()
    const http = createServer((request, response) => handler(request, response))
    await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
    // The cast is safe: the server is bound to a port.
    const { port } = http.address() as AddressInfo
    const url = new URL(path, `http://127.0.0.1:${port}`)
    return {
      dial: async () => httpChannel(url, { onError: () => {}, retry: { baseMs: 1, maxMs: 10 } }),
      cut: async () => {
        const last = handler
        handler = made()
        http.closeAllConnections()
        await last.close({ drainMs: 0 })
      },
      end: async () => {
        await handler.close({ drainMs: 0 })
        http.closeAllConnections()
        await new Promise(resolve => http.close(resolve))
        await server.close()
      },
    }
  }
}
