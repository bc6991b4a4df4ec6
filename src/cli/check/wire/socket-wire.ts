import { connect } from 'node:net'
import { dialWebSocket } from '../../../transport/websocket/ws.ts'
import type { AddressOf } from '../../../transports.ts'
import { limits } from '../../../util/limits/limits.ts'
import type { FramingName } from '../../../wire/frame.ts'
import { framing } from '../../../wire/framing.ts'
import { IncomingQueue, type Wire } from './wire.ts'

/** Opens a wire over a socket. Rejects with the system error. */
export async function socketWire(
  { kind: _, ...where }: AddressOf<'tcp' | 'unix' | 'pipe'>,
  name: FramingName = 'lines',
): Promise<Wire> {
  const socket = connect(where)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  const incoming = new IncomingQueue()
  const how = framing(name)
  const reader = how.reader(
    {
      frame: (bytes, start, end) => {
        incoming.pushText(Buffer.from(bytes.subarray(start, end)).toString('utf8'))
      },
      oversize: () => {},
      broken: reason => incoming.close(`the server does not use the framing "${name}": ${reason}`),
    },
    limits.checkBodyBytes.default,
  )
  socket.on('data', (chunk: Buffer) => reader.push(chunk))
  socket.on('error', error => incoming.close(`the connection failed: ${error.message}`))
  socket.on('close', () => incoming.close('the server closed the connection'))
  return {
    incoming,
    send: async text => {
      if (socket.writable) socket.write(how.write(text))
    },
    close: async () => {
      socket.destroy()
    },
  }
}

/** Opens a wire over a WebSocket. Rejects with the reason if the handshake fails. */
export async function websocketWire(
  url: URL,
  headers: Readonly<Record<string, string>>,
): Promise<Wire> {
  const ws = dialWebSocket(url, ['mcp'], headers, { maxBytes: limits.checkBodyBytes.default })
  const incoming = new IncomingQueue()
  await new Promise<void>((resolve, reject) => {
    // ws treats a response without the subprotocol as a failed handshake, so it is added here.
    ws.once('upgrade', response => {
      response.headers['sec-websocket-protocol'] ??= 'mcp'
    })
    ws.once('unexpected-response', (_, response) =>
      reject(
        new Error(`the server answered the WebSocket handshake with status ${response.statusCode}`),
      ),
    )
    ws.once('open', resolve)
    ws.on('error', reject)
  })
  ws.on('message', data => incoming.pushText(String(data)))
  ws.on('close', code => incoming.close(`the server closed the connection (${code})`))
  return {
    incoming,
    send: async text => {
      if (ws.readyState === ws.OPEN) ws.send(text)
    },
    close: async () => ws.terminate(),
  }
}
