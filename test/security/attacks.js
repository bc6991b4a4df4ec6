import { once } from 'node:events'
import { connect } from 'node:net'

const MiB = 1024 * 1024

/**
 * Attacks on the process `attacked.js`. Each gets its ports, a function that opens a connection, one that returns
 * the number of calls so far and one that waits until there is nothing more to do. Each resolves when nothing more
 * can be sent. Its connections stay open until the caller closes them.
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
  'responses that nobody reads': async ({ web, open, settle }) => {
    const sockets = await openMany(open, web, 40)
    await Promise.all(sockets.map(socket => send(socket.pause(), callOf(web))))
    await called(settle)
  },
  'pipelined responses that nobody reads': async ({ web, open, settle }) => {
    const socket = await open(web)
    await send(socket.pause(), callOf(web).repeat(40))
    await called(settle)
  },
  'responses on TCP that nobody reads': async ({ tcp, open, settle }) => {
    const sockets = await openMany(open, tcp, 40)
    await Promise.all(sockets.map(socket => send(socket.pause(), `${callBody()}\n`)))
    await called(settle)
  },
  'responses on WebSockets that nobody reads': async ({ web, open, settle }) => {
    const sockets = await openMany(open, web, 40)
    await Promise.all(sockets.map(socket => upgrade(socket, web)))
    await Promise.all(sockets.map(socket => send(socket, masked(callBody()))))
    await called(settle)
  },
  'responses that are read in part': ({ web, open, calls }) =>
    readParts(open, calls, web, callOf(web)),
  'responses on TCP that are read in part': ({ tcp, open, calls }) =>
    readParts(open, calls, tcp, `${callBody()}\n`),
  'responses on WebSockets that are read in part': ({ web, open, calls }) =>
    readParts(open, calls, web, masked(callBody()), socket => upgrade(socket, web)),
  'calls that never end': async ({ web, open, settle }) => {
    const sockets = await openMany(open, web, 100)
    const request = callOf(web, 'slow', { text: megabyte })
    await Promise.all(sockets.map(socket => send(socket, request)))
    await settle()
  },
  'calls with many small values that never end': async ({ web, open, settle }) => {
    const sockets = await openMany(open, web, 100)
    const request = callOf(web, 'slow', { list: Array.from({ length: 90_000 }, () => []) })
    await Promise.all(sockets.map(socket => send(socket, request)))
    await settle()
  },
  'calls by HTTP+SSE that never end': async ({ web, open, settle }) => {
    const stream = await open(web)
    const host = `Host: 127.0.0.1:${web}\r\n`
    const head = await exchange(
      stream,
      `GET /sse HTTP/1.1\r\n${host}Accept: text/event-stream\r\n\r\n`,
    )
    const path = /data: (\S+)/.exec(head)?.[1] ?? /data: (\S+)/.exec(await more(stream))?.[1]
    const socket = await open(web)
    const post = body =>
      exchange(
        socket,
        `POST ${path} HTTP/1.1\r\n${host}${json}Content-Length: ${body.length}\r\n\r\n${body}`,
      )
    await post(initializeBody('2024-11-05', ''))
    for (let id = 1; id <= 100; id++) {
      const params = { name: 'slow', arguments: { text: megabyte } }
      await post(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }))
    }
    await settle()
  },
  'calls on TCP that never end': async ({ tcp, open, settle }) => {
    const socket = await open(tcp)
    for (let id = 1; id <= 100 && !socket.destroyed; id++) {
      await send(socket, `${callBody('slow', { text: megabyte }, id)}\n`)
    }
    await settle()
  },
  'calls on WebSockets that never end': async ({ web, open, settle }) => {
    const socket = await open(web)
    await upgrade(socket, web)
    for (let id = 1; id <= 100 && !socket.destroyed; id++) {
      await send(socket, masked(callBody('slow', { text: megabyte }, id)))
    }
    await settle()
  },
  'small calls that never end': async ({ web, open, settle }) => {
    const sockets = await openMany(open, web, 2000)
    const request = callOf(web, 'slow', { text: megabyte.slice(0, 50_000) })
    await Promise.all(sockets.map(socket => send(socket, request)))
    await settle()
  },
  'small calls on TCP that never end': async ({ tcp, open, settle }) => {
    const sockets = await openMany(open, tcp, 20)
    await Promise.all(
      sockets.map(async socket => {
        for (let id = 1; id <= 200 && !socket.destroyed; id++) {
          await send(socket, `${callBody('slow', { text: megabyte.slice(0, 50_000) }, id)}\n`)
        }
      }),
    )
    await settle()
  },
  'sessions of clients with long descriptions': async ({ web, open }) => {
    const socket = await open(web)
    for (let count = 0; count < 100; count++) await initialize(socket, web, megabyte)
  },
  'subscriptions to long addresses': async ({ web, open }) => {
    const { socket, session } = await openSession(open, web)
    for (let count = 0; count < 100; count++) {
      const uri = `any:///${count}${megabyte}`
      await exchange(socket, inSession(web, session, 'resources/subscribe', { uri }))
    }
  },
  'tasks with long results': async ({ web, open, settle }) => {
    const socket = await open(web)
    const args = { text: megabyte }
    for (let count = 0; count < 100; count++) await exchange(socket, callOf(web, 'task', args))
    await settle()
  },
  'event streams that can be resumed': async ({ web, open, settle }) => {
    const { session } = await openSession(open, web)
    const _meta = { progressToken: 1 }
    const params = { name: 'stream', arguments: { text: megabyte.slice(0, 900_000) }, _meta }
    for (let count = 0; count < 100; count++) {
      const one = await open(web)
      await exchange(one, inSession(web, session, 'tools/call', params))
      one.destroy()
    }
    await called(settle)
  },
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
  'small requests without end, parsed by Node': async ({ web, open, calls }) => {
    const socket = await open(web)
    const request = smallRequest(web)
    // The fast path hands a request that arrives in two parts over to Node.
    await send(socket, request.slice(0, 9))
    await calls()
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

/**
 * Waits until the server has nothing more to do. On a busy machine its limits may have refused some of the calls;
 * without any this was no attack.
 */
async function called(settle) {
  const { calls } = await settle()
  if (calls === 0) throw new Error('the server has refused every call')
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
async function readParts(open, calls, port, request, prepare = async () => {}) {
  for (let part = 0; part < 40; part++) {
    const socket = await open(port)
    await prepare(socket)
    let left = part * 0.2 * MiB
    socket.on('data', chunk => {
      left -= chunk.length
      if (left <= 0) socket.pause()
    })
    const before = await calls()
    socket.resume().write(request)
    // On a busy machine the limits of the server may refuse the call.
    while ((await calls()) === before && !socket.destroyed);
    while (left > 0 && !socket.destroyed) await new Promise(resolve => setImmediate(resolve))
  }
}

/** Returns a text message of a WebSocket client, with a mask of zeros. */
function masked(text) {
  const head = Buffer.alloc(14)
  head.set([0x81, 0xff])
  head.writeBigUInt64BE(BigInt(text.length), 2)
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
const tasks = 'io.modelcontextprotocol/tasks'

const megabyte = 'x'.repeat(MiB)

/** Sends a request and resolves with the head of its response, of which the rest is dropped. */
async function exchange(socket, request) {
  if (socket.destroyed) return ''
  let head = ''
  const answered = new Promise(resolve => {
    const onData = chunk => {
      head = String(chunk)
      socket.off('close', resolve)
      resolve()
    }
    socket.once('data', onData).once('close', resolve)
  })
  await send(socket, request)
  await answered
  return head
}

/** Opens a session for a client with a description of its own, and returns its id. */
async function initialize(socket, port, description) {
  const { params } = JSON.parse(initializeBody('2025-11-25', description))
  const head = await exchange(socket, inSession(port, undefined, 'initialize', params))
  const session = /mcp-session-id: (\S+)/i.exec(head)?.[1]
  await exchange(socket, inSession(port, session, 'notifications/initialized'))
  return session
}

/** Opens a session on a connection of its own. On a busy machine the limits of the server may end a connection first. */
async function openSession(open, port) {
  for (let attempt = 0; attempt < 20; attempt++) {
    const socket = await open(port)
    const session = await initialize(socket, port, '')
    if (session !== undefined) return { socket, session }
  }
  throw new Error('the server has opened no session')
}

function initializeBody(protocolVersion, description) {
  const params = {
    protocolVersion,
    capabilities: { experimental: { description } },
    clientInfo: { name: 'attacker', version: '1', description },
  }
  return JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
}

/** Returns what a connection brings next. */
async function more(socket) {
  const [chunk] = await once(socket, 'data')
  return String(chunk)
}

/** Returns a message of a session as an HTTP request. */
function inSession(port, session, method, params) {
  const id = method.startsWith('notifications/') ? undefined : 1
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
  const header = session === undefined ? '' : `Mcp-Session-Id: ${session}\r\n`
  return `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${json}${header}Content-Length: ${body.length}\r\n\r\n${body}`
}

/** Returns a call of a tool. */
function callBody(name = 'long', args = {}, id = 1) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': { extensions: { [tasks]: {} } },
  }
  const params = { name, arguments: args, _meta }
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
}

/** Returns the same call as an HTTP request. */
function callOf(port, name = 'long', args = {}) {
  const body = callBody(name, args)
  return (
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${json}Content-Length: ${body.length}\r\n` +
    `MCP-Protocol-Version: ${version}\r\nMcp-Method: tools/call\r\nMcp-Name: ${name}\r\n\r\n${body}`
  )
}
