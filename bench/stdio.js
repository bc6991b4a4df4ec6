import { start, stop } from './child.js'
import { raceClients } from './clients.js'
import { raceServers } from './echo.js'
import { streamLink } from './raw.js'
import { headers, lines } from './wire.js'

const field = [
  ['bare echo, a write per reply', () => open(lines, 'bare', 'stdio', 'each')],
  ['bare echo, a write per chunk', () => open(lines, 'bare', 'stdio', 'joined')],
  ['trunkline', () => open(lines, 'trunkline', 'stdio')],
  ['json-rpc-2.0 + line loop', () => open(lines, 'json-rpc-2.0', 'stdio')],
  ['SDK 1.32 Protocol', () => open(lines, 'sdk')],
  ['vscode-jsonrpc, headers', () => open(headers, 'vscode-jsonrpc', 'stdio')],
]

/** Measures calls to a child process, servers and clients. */
export async function stdio(options) {
  const aims = { ...options, floors: 2, target: 0.9 }
  return [...(await raceServers('stdio', field, aims)), ...(await raceClients(aims))]
}

function open(wire, ...program) {
  const child = start(...program)
  const close = () => stop(child)
  return streamLink({ input: child.stdout, output: child.stdin, wire, close })
}
