import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { startListening, stop } from './child.js'
import { ending } from './http-client.js'
import { opening, request, revisions } from './mcp/wire.js'

/** File descriptors that a process needs besides its connections. */
const SPARE = 200
/** Number of clients that connect at the same time. */
const AT_ONCE = 100
/** Receive buffer, shared by all connections. */
const inbox = Buffer.alloc(64 * 1024)
const NOTIFICATION = Buffer.from('notifications/tools/list_changed')

/** Returns the wanted number of connections, or fewer if the limit on open files requires it. */
export function connectionsAllowed(wanted) {
  const limit = process.report.getReport().userLimits?.open_files?.soft
  if (typeof limit !== 'number' || limit >= wanted + SPARE) return wanted
  const count = limit - SPARE
  if (count < 100) {
    throw new Error(
      `only ${limit} open files are allowed; raise the limit, for example with "ulimit -n 20000"`,
    )
  }
  console.error(`Only ${limit} open files are allowed: ${count} connections instead of ${wanted}.`)
  return count
}

/**
 * Starts a server process and opens many clients: raw sockets that only look for the name of the
 * notification. `era` is `'session'`, `'stateless'` or, for a server that speaks no MCP, `'bare'`.
 */
export async function crowd(program, era) {
  const { child, port } = await startListening(...program)
  const clients = []
  let missing = 0
  let done = () => {}
  let broken = () => {}
  const notified = () => {
    missing--
    if (missing === 0) done()
    else if (missing < 0) broken(new Error('a client was notified twice'))
  }
  const lost = () => broken(new Error('the server closed a connection'))
  child.stdout.on('data', text => answered(text))
  let answered = () => {}
  const ask = word =>
    new Promise((resolve, reject) => {
      broken = reject
      answered = text => resolve(JSON.parse(text))
      child.stdin.write(`${word}\n`)
    })
  return {
    /** Opens this many further clients, each with a stream. */
    openStreams: count =>
      inGroups(count, async () => clients.push(await openStream(port, era, notified, lost))),
    /** Opens this many further sessions without a stream, over a few connections. */
    openSessions: async count => {
      const links = await Promise.all(Array.from({ length: 8 }, () => openLink(port, lost)))
      await Promise.all(
        links.map(async (link, at) => {
          for (let i = at; i < count; i += links.length) await openSession(link, port)
        }),
      )
      clients.push(...links)
    },
    /** Makes a change; resolves to the seconds until the last client was notified. */
    change: () =>
      new Promise((resolve, reject) => {
        broken = reject
        missing = clients.length
        const start = performance.now()
        done = () => resolve((performance.now() - start) / 1000)
        child.stdin.write('change\n')
      }),
    /** Returns the resource usage of the server process, optionally after garbage collection. */
    usage: () => ask('usage'),
    collected: () => ask('collected'),
    /** Returns what one client has received so far. */
    record: () => clients[0].record(),
    async close() {
      broken = () => {}
      for (const link of clients) link.close()
      await stop(child)
    },
  }
}

async function inGroups(count, open) {
  for (let left = count; left > 0; left -= AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, left) }, open))
  }
}

async function openStream(port, era, notified, lost) {
  const link = await openLink(port, lost)
  if (era === 'stateless') {
    const params = { notifications: { toolsListChanged: true } }
    const listen = request(era, 'listen', 'subscriptions/listen', params)
    await link.begin(post(port, era, listen, 'subscriptions/listen'), 'acknowledged')
  } else {
    const session = era === 'session' ? await openSession(link, port) : undefined
    await link.begin(get(port, session), '\r\n\r\n')
  }
  link.onNotification(notified)
  return link
}

async function openSession(link, port) {
  const { request: first, notifications } = opening('session')
  const reply = await link.ask(post(port, 'session', first))
  const session = /\nmcp-session-id: *([^\r]+)/i.exec(reply)?.[1]
  assert.ok(session, reply)
  for (const text of notifications) {
    assert.match(await link.ask(post(port, 'session', text, '', session)), /^HTTP\/1.1 202 /)
  }
  return session
}

async function openLink(port, lost) {
  let take = () => {}
  let fail = lost
  let recorded
  // Without Node's stream, and with one shared buffer: the clients must cost less than the server.
  const onread = {
    buffer: inbox,
    callback(size) {
      const chunk = inbox.subarray(0, size)
      recorded?.push(Buffer.from(chunk))
      take(chunk)
      return true
    },
  }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => fail(new Error('the server closed a connection')))
  await once(socket, 'connect')
  /** Sends a request and collects the response until it is complete. */
  const until = (bytes, isEnough) =>
    new Promise((resolve, reject) => {
      const parts = []
      fail = reject
      take = chunk => {
        parts.push(Buffer.from(chunk))
        if (!isEnough(chunk, parts)) return
        fail = lost
        take = () => {}
        resolve(Buffer.concat(parts).toString())
      }
      socket.write(bytes)
    })
  return {
    ask: bytes => until(bytes, ending()),
    async begin(bytes, sign) {
      const head = await until(bytes, (_, parts) => Buffer.concat(parts).includes(sign))
      assert.match(head, /^HTTP\/1.1 200 /)
      assert.match(head, /\ncontent-type: text\/event-stream/i)
    },
    onNotification(notified) {
      const finds = counting()
      take = chunk => {
        for (let found = finds(chunk); found > 0; found--) notified()
      }
    },
    /** Records everything received from now on, in addition to the regular reader. */
    record() {
      recorded = []
      return () => {
        const text = Buffer.concat(recorded).toString()
        recorded = undefined
        return text
      }
    },
    close() {
      fail = () => {}
      socket.destroy()
    },
  }
}

/** Returns a function that counts the notifications that a chunk completes. */
function counting() {
  let rest
  return chunk => {
    const text = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    let found = 0
    let from = 0
    for (let at = text.indexOf(NOTIFICATION); at >= 0; at = text.indexOf(NOTIFICATION, from)) {
      found++
      from = at + NOTIFICATION.length
    }
    // An event ends with a line break, so a chunk that ends with one contains no partial event.
    const isWhole = text.at(-1) === 0x0a
    rest = isWhole
      ? undefined
      : Buffer.from(text.subarray(Math.max(from, text.length - NOTIFICATION.length + 1)))
    return found
  }
}

function post(port, era, text, method = '', session = undefined) {
  const lines = [
    'POST /mcp HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    `mcp-protocol-version: ${revisions[era]}`,
    ...(era === 'session' ? [] : [`mcp-method: ${method}`]),
    ...(session === undefined ? [] : [`mcp-session-id: ${session}`]),
    `content-length: ${Buffer.byteLength(text)}`,
    '',
    text,
  ]
  return lines.join('\r\n')
}

function get(port, session) {
  const lines = [
    'GET /mcp HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'accept: text/event-stream',
    `mcp-protocol-version: ${revisions.session}`,
    ...(session === undefined ? [] : [`mcp-session-id: ${session}`]),
    '\r\n',
  ]
  return lines.join('\r\n')
}
