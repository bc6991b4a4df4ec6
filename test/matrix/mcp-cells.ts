import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, openClient } from '../../src/client/client.ts'
import type { Dial } from '../../src/client/connect.ts'
import type { ClientOptions } from '../../src/client/options.ts'
import { listen, Server } from '../../src/index.ts'
import type { Channel, Sink } from '../../src/jsonrpc/channel.ts'
import { encode } from '../../src/jsonrpc/encode.ts'
import { RpcError } from '../../src/jsonrpc/error.ts'
import type { Decoded, Message } from '../../src/jsonrpc/message.ts'
import { audio, embed, image, link, text } from '../../src/mcp/content.ts'
import { errors } from '../../src/mcp/errors.ts'
import { type Features, revisionNamed } from '../../src/mcp/revisions.ts'
import { inputRequired } from '../../src/server/ask.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import { type ChildChannel, childChannel } from '../../src/transport/child.ts'
import type { Listener } from '../../src/transport/listener.ts'
import { memoryPair } from '../../src/transport/memory.ts'
import { connectSocket } from '../../src/transport/socket.ts'
import { connectWebSocket } from '../../src/transport/websocket.ts'
import type { FramingName } from '../../src/wire/frame.ts'
import { everything } from '../fixtures/everything.js'
import { type Revision, revisions, type Side } from '../mcp-interop/driver.ts'
import { Conversation } from '../mcp-interop/schema-check.ts'

export { type Revision, revisions }

/** One way to reach a server of every feature. */
export interface Wire {
  readonly name: string
  /** Starts a server, which `end` ends. */
  serve(options?: ServerOptions): Promise<Served>
}

/** A server of the matrix while it runs. */
export interface Served {
  /** Opens one more connection to it. */
  readonly dial: Dial
  /** Cuts every connection at once, as a crash does. */
  cut(): Promise<void>
  end(): Promise<void>
}

const framings: readonly FramingName[] = ['lines', 'length', 'headers']

/** Every transport; the framings where a socket can have each of them. */
export const wires: readonly Wire[] = [
  memory(),
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
]

/** A transport and a revision. */
export interface Cell {
  readonly wire: Wire
  readonly revision: Revision
  /** What the revision can say. */
  readonly features: Features
  readonly isStateless: boolean
}

/** Every transport in every revision. */
export const cells: readonly Cell[] = wires.flatMap(wire => revisions.map(in_ => cell(wire, in_)))

/** Every cell, named for a table of tests. */
export const named = cells.map(one => [`${one.wire.name} in ${one.revision}`, one] as const)

function cell(wire: Wire, revision: Revision): Cell {
  const found = revisionNamed(revision)
  if (found === undefined) throw new Error(`there is no revision ${revision}`)
  return { wire, revision, features: found.features, isStateless: found.era === 'stateless' }
}

/** A message as it was on the wire, and who sent it. */
export interface Said {
  readonly from: Side
  // biome-ignore lint/suspicious/noExplicitAny: assertions say what they expect
  readonly message: any
}

/** Listens to the connections of a client, and looks at each message by the schema of its revision. */
export class Ear {
  /** Everything that was said, on all connections. */
  readonly said: Said[] = []
  /** Whether what the client sends is wrong on purpose. */
  isMisuse = false
  /** How many connections there have been. */
  connections = 0
  readonly #problems = new Set<string>()
  readonly #revision: Revision

  constructor(revision: Revision) {
    this.#revision = revision
  }

  /** The same dial, listened to. */
  tapped(dial: Dial): Dial {
    return async () => {
      const channel = await dial()
      this.connections++
      const conversation = new Conversation(this.#revision, { strict: true })
      return tap(channel, (from, message) => this.#hear(conversation, from, message))
    }
  }

  /** The messages of a method, requests and notifications alike, in order. */
  of(method: string): readonly Said['message'][] {
    return this.said.filter(({ message }) => message.method === method).map(one => one.message)
  }

  /** Every message, with those in batches on their own. */
  get messages(): readonly Said[] {
    return this.said.flatMap(({ from, message }) =>
      Array.isArray(message) ? message.map(one => ({ from, message: one })) : [{ from, message }],
    )
  }

  /** What was wrong with what was said since the last time, and begins anew. */
  problems(): readonly string[] {
    const found = [...this.#problems]
    this.#problems.clear()
    this.isMisuse = false
    return found
  }

  #hear(conversation: Conversation, from: Side, message: Said['message']): void {
    this.said.push({ from, message })
    const found = conversation.sent(from, message)
    if (from === 'client' && this.isMisuse) return
    for (const problem of found) this.#problems.add(problem)
  }
}

/** Calls again and again until something has come about, but not for ever. */
export async function until(client: Client, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 2000; attempt++) {
    if (await isSo()) return
    await client.call('test_simple_text')
    // In memory nothing else would ever get its turn.
    await new Promise(resolve => setImmediate(resolve))
  }
  throw new Error('it has not come about')
}

/** A client of a cell while it is connected, with what it has heard. */
export interface Connected {
  readonly client: Client
  readonly served: Served
  readonly ear: Ear
  close(): Promise<void>
}

/** Starts the server of a cell and connects a client to it, which speaks its revision alone. */
export async function connectCell(
  { wire, revision }: Cell,
  options: ClientOptions = {},
  serverOptions?: ServerOptions,
): Promise<Connected> {
  const served = await wire.serve(serverOptions)
  const ear = new Ear(revision)
  try {
    const client = await openClient(ear.tapped(served.dial), {
      name: 'matrix',
      version: '1.0.0',
      revisions: [revision],
      onError: () => {},
      ...options,
    })
    const close = async (): Promise<void> => {
      await client.close()
      await served.end()
    }
    return { client, served, ear, close }
  } catch (error) {
    await served.end()
    throw error
  }
}

const kit = { Server, RpcError, errors, inputRequired, text, image, audio, link, embed }

function memory(): Wire {
  return {
    name: 'memory',
    serve: async options => {
      const server = everything(kit, options)
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
    },
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
        // Each child ends with its connection.
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

/** Serves at an address; a server that was cut is there again, at the same one. */
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

/** A channel of a client that tells what passes, as it is on the wire. */
function tap(channel: Channel, tell: (from: Side, message: unknown) => void): Channel {
  const onWire = (message: Message | readonly Message[]): unknown => JSON.parse(encode(message))
  const told = (sink: Sink): Sink => ({
    receive: (arrival, envelope) => {
      const message = arrived(arrival)
      if (message !== undefined) tell('server', onWire(message))
      return sink.receive(arrival, envelope)
    },
    closed: cause => sink.closed(cause),
  })
  return {
    halfOpen: channel.halfOpen,
    open: sink => channel.open(told(sink)),
    send(message, envelope) {
      tell('client', onWire(message))
      return channel.send(message, envelope)
    },
    close: () => channel.close(),
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

function arrived(arrival: Decoded): Message | readonly Message[] | undefined {
  if (arrival.type === 'invalid') throw new Error(`the server sent no message: ${arrival.detail}`)
  if (arrival.type !== 'batch') return arrival
  return arrival.entries.filter(entry => entry.type !== 'invalid')
}
