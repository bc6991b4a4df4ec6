import { once } from 'node:events'
import { connect } from 'node:net'

const MiB = 1024 * 1024

/**
 * Attacks on the process `attacked.js`. Each gets its ports and a function that asks it how it is, and
 * resolves when nothing more can be sent. Its connections stay open until the caller closes them.
 */
export const attacks = {
  'pings that nobody reads the pongs of': async ({ web, open }) => {
    const socket = await open(web)
    await upgrade(socket, web)
    await sendMany(
      socket,
      Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125)]),
      60,
    )
  },
  'pings without data': async ({ web, open }) => {
    const socket = await open(web)
    await upgrade(socket, web)
    await sendMany(socket, Buffer.from([0x89, 0x80, 0, 0, 0, 0]), 10)
  },
  'responses that nobody reads': async ({ web, open, ask }) => {
    const sockets = await openMany(open, web, 40)
    for (const socket of sockets) socket.pause().write(callOf(web))
    while ((await ask()).calls < sockets.length);
  },
  'pipelined responses that nobody reads': async ({ web, open, ask }) => {
    const socket = await open(web)
    socket.pause().write(callOf(web).repeat(40))
    while ((await ask()).calls === 0);
  },
  'responses on TCP that nobody reads': async ({ tcp, open, ask }) => {
    const sockets = await openMany(open, tcp, 40)
    for (const socket of sockets) socket.pause().write(`${callBody()}\n`)
    while ((await ask()).calls < sockets.length);
  },
  'responses on WebSockets that nobody reads': async ({ web, open, ask }) => {
    const sockets = await openMany(open, web, 40)
    await Promise.all(sockets.map(socket => upgrade(socket, web)))
    for (const socket of sockets) socket.write(masked(callBody()))
    while ((await ask()).calls < sockets.length);
  },
  'responses that are read in part': ({ web, open, ask }) => readParts(open, ask, web, callOf(web)),
  'responses on TCP that are read in part': ({ tcp, open, ask }) =>
    readParts(open, ask, tcp, `${callBody()}\n`),
  'responses on WebSockets that are read in part': ({ web, open, ask }) =>
    readParts(open, ask, web, masked(callBody()), socket => upgrade(socket, web)),
  'bodies that are never complete': ({ web, open }) => {
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${web}\r\n${json}Content-Length: ${4 * MiB}\r\n\r\n`
    return sendPart(open, web, head)
  },
  'a body in chunks of one byte': async ({ web, open }) => {
    const socket = await open(web)
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${web}\r\n${json}`
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
    await sendMany(socket, Buffer.from('1\r\n \r\n'), 23)
  },
  'small requests without end': async ({ web, open }) => {
    await sendMany(await open(web), Buffer.from(smallRequest(web)), 4)
  },
  'small requests without end, parsed by Node': async ({ web, open, ask }) => {
    const socket = await open(web)
    const request = smallRequest(web)
    // The fast path hands a request that arrives in two parts over to Node.
    await send(socket, request.slice(0, 9))
    await ask()
    await send(socket, request.slice(9))
    await sendMany(socket, Buffer.from(request), 4)
  },
  'messages on TCP that are never complete': ({ tcp, open }) => sendPart(open, tcp, '"'),
  'messages on WebSockets that are never complete': async ({ web, open }) => {
    const sockets = await openMany(open, web, 60)
    await Promise.all(sockets.map(socket => upgrade(socket, web)))
    const head = Buffer.alloc(14)
    head.set([0x81, 0xff])
    head.writeBigUInt64BE(BigInt(4 * MiB), 2)
    await Promise.all(sockets.map(socket => send(socket, Buffer.concat([head, part]))))
  },
  'valid notifications without end': async ({ tcp, open }) => {
    const line =
      '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n'
    await sendMany(await open(tcp), Buffer.from(line), 60)
  },
  'requests of which half arrives': async ({ web, open }) => {
    const sockets = await openMany(open, web, 500)
    await Promise.all(
      sockets.map(socket => send(socket, `POST /mcp HTTP/1.1\r\nx: ${'y'.repeat(8000)}`)),
    )
  },
}

const json = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n'

/** Nearly as much as one message may have. */
const part = Buffer.alloc(3.9 * MiB, 'x')

/** Opens a connection that is read, unless the attack pauses it. */
export async function openSocket(port) {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {}).resume()
  await once(socket, 'connect')
  return socket
}

function openMany(open, port, count) {
  return Promise.all(Array.from({ length: count }, () => open(port)))
}

async function sendPart(open, port, head) {
  const sockets = await openMany(open, port, 60)
  await Promise.all(sockets.map(socket => send(socket, Buffer.concat([Buffer.from(head), part]))))
}

/**
 * Sends a request on each of many connections, one after the other, and reads more of each response than of
 * the one before. What the system buffers of a response varies, so some end near its last bytes.
 */
async function readParts(open, ask, port, request, prepare = async () => {}) {
  for (let part = 0; part < 80; part++) {
    const socket = await open(port)
    await prepare(socket)
    let left = part * 0.1 * MiB
    socket.on('data', chunk => {
      left -= chunk.length
      if (left <= 0) socket.pause()
    })
    socket.resume().write(request)
    while ((await ask()).calls <= part);
    while (left > 0 && !socket.destroyed) await new Promise(resolve => setImmediate(resolve))
  }
}

/** Returns a text message of a WebSocket client, with a mask of zeros. */
function masked(text) {
  const head = Buffer.from([0x81, 0xfe, text.length >> 8, text.length & 0xff, 0, 0, 0, 0])
  return Buffer.concat([head, Buffer.from(text)])
}

function smallRequest(port) {
  return `GET /none HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
}

async function upgrade(socket, port) {
  socket.write(
    `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  )
  await once(socket, 'data')
  socket.pause()
}

/** Sends bytes, and resolves when the system has taken them or the connection is closed. */
function send(socket, bytes) {
  return new Promise(resolve => {
    if (socket.destroyed) resolve()
    socket.once('close', resolve)
    socket.write(bytes, () => {
      socket.off('close', resolve)
      resolve()
    })
  })
}

/** Sends a frame again and again: this many MiB in all. */
async function sendMany(socket, frame, mebibytes) {
  const chunk = Buffer.concat(Array.from({ length: Math.ceil(65_536 / frame.length) }, () => frame))
  for (let sent = 0; sent < mebibytes * MiB && !socket.destroyed; sent += chunk.length) {
    await send(socket, chunk)
  }
}

const version = '2026-07-28'

/** Returns a call of the tool `long`. */
function callBody() {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name: 'long', arguments: {}, _meta }
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
}

/** Returns the same call as an HTTP request. */
function callOf(port) {
  const body = callBody()
  return (
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${json}Content-Length: ${body.length}\r\n` +
    `MCP-Protocol-Version: ${version}\r\nMcp-Method: tools/call\r\nMcp-Name: long\r\n\r\n${body}`
  )
}
