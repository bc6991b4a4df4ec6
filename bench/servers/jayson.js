/* node jayson.js tcp|ws */
import jayson from 'jayson'
import { WebSocketServer } from 'ws'
import { announce, methods } from './methods.js'

const [transport] = process.argv.slice(2)
const table = Object.entries(methods).map(([name, method]) => [
  name,
  (params, done) => done(null, method(params)),
])
const server = new jayson.Server(Object.fromEntries(table))
const address = { port: 0, host: '127.0.0.1' }

if (transport === 'tcp') {
  const sockets = server.tcp()
  sockets.listen(address, () => announce(sockets.address().port))
} else {
  const wss = new WebSocketServer({ ...address, perMessageDeflate: false })
  wss.on('listening', () => announce(wss.address().port))
  server.websocket({ wss })
}
