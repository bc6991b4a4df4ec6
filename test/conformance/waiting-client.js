// node waiting-client.js PORT URL: the client, once it has its turn. See turns.js.

import { once } from 'node:events'
import { connect } from 'node:net'

const [port] = process.argv.splice(2, 1)
const socket = connect(Number(port), '127.0.0.1')
await once(socket, 'data')
socket.resume().unref()
await import('./client.js')
