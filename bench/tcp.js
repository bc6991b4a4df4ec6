import { once } from 'node:events'
import { connect } from 'node:net'
import { startListening, stop } from './child.js'
import { raceServers } from './echo.js'
import { streamLink } from './raw.js'
import { headers, lines } from './wire.js'

const field = [
  ['bare echo, a write per reply', () => openTcp(lines, 'bare', 'tcp', 'each')],
  ['bare echo, a write per chunk', () => openTcp(lines, 'bare', 'tcp', 'joined')],
  ['trunkline', () => openTcp(lines, 'trunkline', 'tcp')],
  ['json-rpc-2.0 + line loop', () => openTcp(lines, 'json-rpc-2.0', 'tcp')],
  ['jayson 5', () => openTcp(lines, 'jayson', 'tcp')],
  ['vscode-jsonrpc, headers', () => openTcp(headers, 'vscode-jsonrpc', 'tcp')],
]

/** Measures calls over TCP on the loopback interface. */
export function tcp(options) {
  return raceServers('TCP', field, { ...options, floors: 2, target: 0.9 })
}

export async function openTcp(wire, ...program) {
  const { child, port } = await startListening(...program)
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const close = () => {
    socket.destroy()
    return stop(child)
  }
  const link = streamLink({ input: socket, output: socket, wire, close })
  await once(socket, 'connect')
  return link
}
