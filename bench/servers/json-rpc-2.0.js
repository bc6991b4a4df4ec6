/* node json-rpc-2.0.js stdio|tcp|ws: the package leaves the wire to its user; this is the least of it. */
import { JSONRPCServer } from 'json-rpc-2.0'
import { WebSocketServer } from 'ws'
import { announce, eachLine, methods, serveTcp } from './methods.js'

const [transport] = process.argv.slice(2)
const server = new JSONRPCServer()
for (const [name, method] of Object.entries(methods)) server.addMethod(name, method)

if (transport === 'stdio') {
  serveLines(process.stdin, process.stdout)
  process.stdin.on('end', () => process.exit(0))
} else if (transport === 'tcp') {
  serveTcp(socket => serveLines(socket, socket))
} else {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  sockets.on('listening', () => announce(sockets.address().port))
  sockets.on('connection', socket => {
    socket.on('message', async data => socket.send(await answer(data.toString())))
  })
}

async function answer(text) {
  return JSON.stringify(await server.receiveJSON(text))
}

function serveLines(input, output) {
  eachLine(input, async line => output.write(`${await answer(line)}\n`))
}
