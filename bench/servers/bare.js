/*
 * The floor: JSON.parse, a Map of methods, JSON.stringify, no validation.
 * node bare.js stdio|tcp|ws each|joined, where `joined` writes the responses of one chunk together.
 */
import { WebSocketServer } from 'ws'
import { serveLines } from './bare-lines.js'
import { announce, methods, serveTcp } from './methods.js'

const [transport, writes] = process.argv.slice(2)
const table = new Map(Object.entries(methods))

if (transport === 'stdio') {
  serveLines(process.stdin, process.stdout, writes, answer)
  process.stdin.on('end', () => process.exit(0))
} else if (transport === 'tcp') {
  serveTcp(socket => serveLines(socket, socket, writes, answer))
} else {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  server.on('listening', () => announce(server.address().port))
  server.on('connection', socket => {
    socket.on('message', data => socket.send(answer(data.toString())))
  })
}

function answer(text) {
  const { id, method, params } = JSON.parse(text)
  return JSON.stringify({ jsonrpc: '2.0', id, result: table.get(method)(params) })
}
