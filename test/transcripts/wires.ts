import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Conversation, converse } from '../../src/testing/conversation.ts'
import { listenSocket } from '../../src/transport/socket.ts'
import { listenWebSocket } from '../../src/transport/websocket-server.ts'
import { cuts, type Raw, rawEnds, rawStream, rawTcp, rawWebSocket } from '../judges/raw.ts'
import type { Fixture } from './fixtures.ts'

/** One way to reach a server. */
export interface Wire {
  readonly name: string
  /** Starts the server and connects to it. Closing the conversation ends both. */
  open(fixture: Fixture): Promise<Conversation>
}

const memory: Wire = {
  name: 'memory',
  open: async ({ attach, decode }) => {
    const [channel, conversation] = converse(decode)
    attach(channel)
    return conversation
  },
}

const stdio: Wire = {
  name: 'the stdio of a child process',
  open: async ({ program }) => {
    const child = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'inherit'] })
    const exit = once(child, 'exit')
    return owning(rawEnds(child.stdout, child.stdin, cuts.lines), () => exit)
  },
}

const tcp: Wire = {
  name: 'TCP',
  open: async ({ attach, decode }) => {
    const listener = await listenSocket({ host: '127.0.0.1', port: 0 }, { decode }, attach)
    return owning(await rawTcp(listener.address, cuts.lines), () => listener.close())
  },
}

const unix: Wire = {
  name: 'a Unix socket',
  open: async ({ attach, decode }) => {
    const folder = await mkdtemp(join(tmpdir(), 'tl-'))
    const path = join(folder, 's')
    const listener = await listenSocket({ path }, { decode }, attach)
    const socket = connect(path)
    await once(socket, 'connect')
    return owning(rawStream(socket, cuts.lines), async () => {
      await listener.close()
      await rm(folder, { recursive: true })
    })
  },
}

const websocket: Wire = {
  name: 'a WebSocket',
  open: async ({ attach, decode }) => {
    const listener = await listenWebSocket(new URL('ws://127.0.0.1:0'), { decode }, attach)
    return owning(await rawWebSocket(listener.address), () => listener.close())
  },
}

export const wires = [memory, stdio, tcp, unix, websocket] as const satisfies readonly Wire[]

/** A connection that ends its server with itself. */
function owning(raw: Raw, end: () => Promise<unknown>): Conversation {
  return {
    send: text => raw.send(text),
    next: () => raw.next(),
    close: async () => {
      raw.close()
      await end()
    },
  }
}
