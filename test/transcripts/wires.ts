import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Conversation, converse } from '../../src/testing/conversation.ts'
import type { Listener } from '../../src/transport/listener.ts'
import { listenSocket } from '../../src/transport/socket/socket.ts'
import { listenWebSocket } from '../../src/transport/websocket/server.ts'
import { cuts, type Raw, rawStream, rawWebSocket } from '../judges/raw.ts'
import { Child } from './child.ts'
import type { Fixture } from './fixtures.ts'

/** A transport on which transcripts are played. */
export interface Wire {
  readonly name: string
  /** Connects to the server, which is started on first use. */
  open(fixture: Fixture): Promise<Conversation>
  /** Stops the servers that were started. */
  close(): Promise<void>
}

/** Running servers, one for each fixture. */
class Running<T> {
  readonly #start: (fixture: Fixture) => Promise<T>
  readonly #stop: (server: T) => Promise<unknown>
  readonly #servers = new Map<Fixture, Promise<T>>()

  constructor(start: (fixture: Fixture) => Promise<T>, stop: (server: T) => Promise<unknown>) {
    this.#start = start
    this.#stop = stop
  }

  of(fixture: Fixture): Promise<T> {
    let server = this.#servers.get(fixture)
    if (server === undefined) {
      server = this.#start(fixture)
      this.#servers.set(fixture, server)
    }
    return server
  }

  /** Makes the next call of `of` start another server. */
  forget(fixture: Fixture): void {
    this.#servers.delete(fixture)
  }

  async close(): Promise<void> {
    const all = [...this.#servers.values()]
    this.#servers.clear()
    await Promise.all(all.map(async server => this.#stop(await server)))
  }
}

const memory: Wire = {
  name: 'memory',
  open: async ({ attach, decode }) => {
    const [channel, conversation] = converse(decode)
    attach(channel)
    return conversation
  },
  close: async () => {},
}

const children = new Running<Child>(
  async fixture => new Child(fixture),
  child => child.end(),
)

const stdio: Wire = {
  name: 'the stdio of a child process',
  open: async fixture => {
    const child = await children.of(fixture)
    if (!fixture.begins) children.forget(fixture)
    return child.begin()
  },
  close: () => children.close(),
}

const tcpServers = new Running<Listener>(
  ({ attach, decode }) => listenSocket({ host: '127.0.0.1', port: 0 }, { decode }, attach),
  listener => listener.close(),
)

const tcp: Wire = {
  name: 'TCP',
  open: async fixture => {
    const { address } = await tcpServers.of(fixture)
    const { hostname, port } = new URL(address)
    // Otherwise partial writes would wait for acknowledgments of the peer.
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    await once(socket, 'connect')
    return ending(rawStream(socket, cuts.lines))
  },
  close: () => tcpServers.close(),
}

const unixServers = new Running(
  async ({ attach, decode }) => {
    const folder = await mkdtemp(join(tmpdir(), 'tl-'))
    const path = join(folder, 's')
    return { folder, path, listener: await listenSocket({ path }, { decode }, attach) }
  },
  async ({ folder, listener }) => {
    await listener.close()
    await rm(folder, { recursive: true })
  },
)

const unix: Wire = {
  name: 'a Unix socket',
  open: async fixture => {
    const { path } = await unixServers.of(fixture)
    const socket = connect(path)
    await once(socket, 'connect')
    return ending(rawStream(socket, cuts.lines))
  },
  close: () => unixServers.close(),
}

const webServers = new Running<Listener>(
  ({ attach, decode }) => listenWebSocket(new URL('ws://127.0.0.1:0'), { decode }, attach),
  listener => listener.close(),
)

const websocket: Wire = {
  name: 'a WebSocket',
  open: async fixture => {
    const { address } = await webServers.of(fixture)
    return ending(await rawWebSocket(address))
  },
  close: () => webServers.close(),
}

export const wires = [memory, stdio, tcp, unix, websocket] as const satisfies readonly Wire[]

function ending(raw: Raw, end: () => void | Promise<void> = () => raw.close()): Conversation {
  return { send: text => raw.send(text), next: () => raw.next(), close: end }
}
