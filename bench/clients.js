import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { BareProtocol } from './bare-protocol.js'
import { command, start, stop } from './child.js'
import { race } from './echo.js'
import { ours } from './ours.js'
import { caller } from './peer.js'
import { eachLine } from './servers/methods.js'

const server = ['bare', 'stdio', 'joined']

const field = [
  ['bare client, a write per call', () => bare(false)],
  ['bare client, a write per turn', () => bare(true)],
  ['trunkline', trunkline],
  ['SDK 1.32 Protocol', sdk],
]

/** Compares clients, each with a separate bare echo server on stdio. */
export function raceClients(options) {
  return race('stdio client', options, {
    notes: [
      'Each client calls the same bare echo (a write per chunk) in a child process and awaits every result.',
      'The floors keep a Map of pending calls around JSON.parse and JSON.stringify; they validate nothing.',
    ],
    enter: inFlight =>
      field.map(([name, open]) => Object.assign(caller(name, open, inFlight), { cpu: ownMicros })),
  })
}

/** Returns the CPU time of this process, in which the clients run. */
function ownMicros() {
  const { user, system } = process.cpuUsage()
  return user + system
}

function bare(joined) {
  const child = start(...server)
  const waiting = new Map()
  let lastId = 0
  let unsent = ''
  const flush = () => {
    child.stdin.write(unsent)
    unsent = ''
  }
  const write = line => {
    if (!joined) return child.stdin.write(line)
    if (unsent === '') process.nextTick(flush)
    unsent += line
  }
  eachLine(child.stdout, line => {
    const { id, result } = JSON.parse(line)
    waiting.get(id)(result)
    waiting.delete(id)
  })
  return {
    call: (method, params) =>
      new Promise(resolve => {
        const id = ++lastId
        waiting.set(id, resolve)
        write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      }),
    close: () => stop(child),
  }
}

async function trunkline() {
  const { connect } = await ours('index')
  const peer = await connect(command(...server), { protocol: 'jsonrpc' })
  return { call: (method, params) => peer.call(method, params), close: () => peer.close() }
}

async function sdk() {
  const client = new BareProtocol()
  await client.connect(new StdioClientTransport(command(...server)))
  return {
    call: (method, params) => client.request({ method, params }, ResultSchema),
    close: () => client.close(),
  }
}
