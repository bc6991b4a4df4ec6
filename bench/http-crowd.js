import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { startListening, stop } from './child.js'
import { ending } from './http-client.js'
import { opening, request, revisions } from './mcp/wire.js'

/** Files a process needs besides its connections. */
const SPARE = 200
/** Clients that open at the same time. */
const AT_ONCE = 100
/** What any of the connections has just received. */
const inbox = Buffer.alloc(64 * 1024)
const TOLD = Buffer.from('notifications/tools/list_changed')

/** As many connections as wanted, or as the limit on open files leaves room for. */
export function connectionsAllowed(wanted) {
  const limit = process.report.getReport().userLimits?.open_files?.soft
  if (typeof limit !== 'number' || limit >= wanted + SPARE) return wanted
  const count = limit - SPARE
  if (count < 100) {
    throw new Error(`only ${limit} open files are allowed; raise it, as with "ulimit -n 20000"`)
  }
  console.error(`Only ${limit} open files are allowed: ${count} connections instead of ${wanted}.`)
  return count
}

/**
 * A server process and its crowd of clients: raw sockets that look for nothing but the name of the
 * notification. `era` is `'session'`, `'stateless'` or, for a server that speaks no MCP, `'bare'`.
 */
export async function crowd(program, era) {
  const { child, port } = await startListening(...program)
  const clients = []
  let missing = 0
  let done = () => {}
  let broken = () => {}
  const heard = () => {
    missing--
    if (missing === 0) done()
    else if (missing < 0) broken(new Error('a client was told twice'))
  }
  const lost = () => broken(new Error('the server has closed a connection'))
  child.stdout.on('data', text => answered(text))
  let answered = () => {}
  const ask = word =>
    new Promise((resolve, reject) => {
      broken = reject
      answered = text => resolve(JSON.parse(text))
      child.stdin.write(`${word}\n`)
    })
  return {
    /** Lets so many more clients open a stream each. */
    openStreams: count =>
      inGroups(count, async () => clients.push(await openStream(port, era, heard, lost))),
    /** Opens so many more sessions without a stream, over a few connections. */
    openSessions: async count => {
      const links = await Promise.all(Array.from({ length: 8 }, () => openLink(port, lost)))
      await Promise.all(
        links.map(async (link, at) => {
          for (let i = at; i < count; i += links.length) await openSession(link, port)
        }),
      )
      clients.push(...links)
    },
    /** Makes a change; resolves with the seconds until the last client has been told. */
    change: () =>
      new Promise((resolve, reject) => {
        broken = reject
        missing = clients.length
        const start = performance.now()
        done = () => resolve((performance.now() - start) / 1000)
        child.stdin.write('change\n')
      }),
    /** What the server process uses: as it is, or after collecting garbage. */
    usage: () => ask('usage'),
    collected: () => ask('collected'),
    /** What one client has got so far. */
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

async function openStream(port, era, heard, lost) {
  const link = await openLink(port, lost)
  if (era === 'stateless') {
    const params = { notifications: { toolsListChanged: true } }
    const listen = request(era, 'listen', 'subscriptions/listen', params)
    await link.begin(post(port, era, listen, 'subscriptions/listen'), 'acknowledged')
  } else {
    const session = era === 'session' ? await openSession(link, port) : undefined
    await link.begin(get(port, session), '\r\n\r\n')
  }
  link.hears(heard)
  return link
}

async function openSession(link, port) {
  const { asks, tells } = opening('session')
  const reply = await link.ask(post(port, 'session', asks))
  const session = /\nmcp-session-id: *([^\r]+)/i.exec(reply)?.[1]
  assert.ok(session, reply)
  for (const text of tells) {
    assert.match(await link.ask(post(port, 'session', text, '', session)), /^HTTP\/1.1 202 /)
  }
  return session
}

async function openLink(port, lost) {
  let take = () => {}
  let fail = lost
  let recorded
  // Without the stream of Node, and in a buffer that all share: the clients must cost less than the server.
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
  socket.on('close', () => fail(new Error('the server has closed a connection')))
  await once(socket, 'connect')
  /** Sends a request and gathers what comes until that is enough. */
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
    hears(heard) {
      const finds = counting()
      take = chunk => {
        for (let found = finds(chunk); found > 0; found--) heard()
      }
    },
    /** Everything that comes from now on, beside what is heard. */
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

/** Makes a function that tells how many notifications a chunk completes. */
function counting() {
  let rest
  return chunk => {
    const text = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    let found = 0
    let from = 0
    for (let at = text.indexOf(TOLD); at >= 0; at = text.indexOf(TOLD, from)) {
      found++
      from = at + TOLD.length
    }
    // An event ends with a line break: in front of that nothing can be cut.
    const isWhole = text.at(-1) === 0x0a
    rest = isWhole
      ? undefined
      : Buffer.from(text.subarray(Math.max(from, text.length - TOLD.length + 1)))
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
