import { once } from 'node:events'
import { WebSocket } from 'ws'
import { startListening, stop } from './child.js'
import { raceServers } from './echo.js'

const field = [
  ['bare ws echo', () => open('bare', 'ws')],
  ['trunkline', () => open('trunkline', 'ws')],
  ['json-rpc-2.0 + ws', () => open('json-rpc-2.0', 'ws')],
  ['jayson 5', () => open('jayson', 'ws')],
]

/** Measures calls over WebSocket on the loopback interface. Every server uses the same `ws` package. */
export function ws(options) {
  return raceServers('WebSocket', field, { ...options, target: 0.8 })
}

async function open(...program) {
  const { child, port } = await startListening(...program)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false })
  const link = {
    frame: text => text,
    replies() {},
    post(frames, from, number) {
      for (let i = 0; i < number; i++) socket.send(frames[(from + i) % 1024])
    },
    ask(text) {
      socket.send(text)
      return new Promise(resolve => {
        link.replies = (_, data) => resolve(data.toString())
      })
    },
    broken: new Promise((_, reject) => {
      const gone = () => reject(new Error('the server has exited'))
      socket.on('close', gone)
      socket.on('error', gone)
    }),
    close() {
      socket.terminate()
      return stop(child)
    },
  }
  socket.on('message', data => link.replies(1, data))
  await Promise.race([once(socket, 'open'), link.broken])
  return link
}
