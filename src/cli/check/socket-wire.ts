import { connect, type NetConnectOpts } from 'node:net'
import type { Address } from '../../address.ts'
import { dial } from '../../transport/websocket/ws.ts'
import { limits } from '../../util/limits/limits.ts'
import type { FramingName } from '../../wire/frame.ts'
import { framing } from '../../wire/framing.ts'
import { Inbox, type Wire } from './wire.ts'

type SocketAddress = Extract<Address, { kind: 'tcp' | 'unix' | 'pipe' }>

/** Connects to a socket. Rejects with what the system says. */
export async function socketWire(
  address: SocketAddress,
  name: FramingName = 'lines',
): Promise<Wire> {
  const where: NetConnectOpts =
    address.kind === 'tcp' ? { host: address.host, port: address.port } : { path: address.path }
  const socket = connect(where)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  const inbox = new Inbox()
  const how = framing(name)
  const reader = how.reader(
    {
      frame: (bytes, start, end) => {
        inbox.pushText(Buffer.from(bytes.subarray(start, end)).toString('utf8'))
      },
      oversize: () => {},
      broken: why => inbox.end(`the server does not frame its messages as "${name}": ${why}`),
    },
    limits.checkBodyBytes.default,
  )
  socket.on('data', (chunk: Buffer) => reader.push(chunk))
  socket.on('error', error => inbox.end(`the connection broke: ${error.message}`))
  socket.on('close', () => inbox.end('the server closed the connection'))
  return {
    inbox,
    send: async text => {
      if (socket.writable) socket.write(how.write(text))
    },
    close: async () => {
      socket.destroy()
    },
  }
}

/** Opens a WebSocket. Rejects with what went wrong. */
export async function websocketWire(
  url: URL,
  headers: Readonly<Record<string, string>>,
): Promise<Wire> {
  const ws = dial(url, ['mcp'], headers, { maxBytes: limits.checkBodyBytes.default })
  const inbox = new Inbox()
  await new Promise<void>((resolve, reject) => {
    // A server that leaves the offer counts for ws as one that refuses.
    ws.once('upgrade', response => {
      response.headers['sec-websocket-protocol'] ??= 'mcp'
    })
    ws.once('unexpected-response', (_, response) =>
      reject(new Error(`the server answered ${response.statusCode} to the handshake`)),
    )
    ws.once('open', resolve)
    ws.on('error', reject)
  })
  ws.on('message', data => inbox.pushText(String(data)))
  ws.on('close', code => inbox.end(`the server closed the connection (${code})`))
  return {
    inbox,
    send: async text => {
      if (ws.readyState === ws.OPEN) ws.send(text)
    },
    close: async () => ws.terminate(),
  }
}
