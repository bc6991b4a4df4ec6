import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { startListening, stop } from './child.js'
import { answerTo, argumentsOf, name as tool } from './mcp/tool.js'
import { opening, request, revisions, toolRequest } from './mcp/wire.js'
import { isOurs } from './measure.js'

const DIFFERENT = 1024
const WARM_UP_MICROS = 1_000_000

/**
 * A contestant of the HTTP suite: a server in a separate process with a number of connections, each with
 * one request in flight. All requests are encoded beforehand and responses are only counted, because a
 * client on the same machine must cost less than the server.
 *
 * `latencies()` returns the latencies of all rounds in milliseconds, in ascending order. `usage` names the
 * tool that returns the CPU time of the process under test. Requests carry the `headers` in turn, each a line.
 * `sessionPort` is the port at which the session is opened, if it is that of another process.
 */
export function httpContestant(options) {
  const { name } = options
  const make = () => contestantOf(options)
  return isOurs(name) || name === 'direct' ? { ...make(), twin: make } : make()
}

function contestantOf({ name, program, era, answers, connections, ...rest }) {
  const { usage = 'usage', headers = [], sessionPort } = rest
  // Ours honors the Accept header; the others are configured at start and require both media types.
  const accept =
    answers === 'events' && isOurs(name)
      ? 'text/event-stream'
      : 'application/json, text/event-stream'
  const links = []
  const frames = []
  /** Latencies by call of `prepare`: first the warm-up, then each round. */
  const times = []
  let child
  let port
  let post
  // Some servers close connections that are idle while the other contestants run.
  const reopen = async () => {
    for (const [at, link] of links.entries()) if (link.isGone) links[at] = await openLink(port)
  }
  const ask = async name => {
    const text = request(era, name, 'tools/call', { name, arguments: {} })
    return textOf(await links[0].ask(post(text, 'tools/call', name, headers[0])))
  }
  return {
    name,
    async open() {
      const started = await startListening(...program)
      child = started.child
      port = started.port
      const opened = Array.from({ length: connections }, () => openLink(started.port))
      links.splice(0, links.length, ...(await Promise.all(opened)))
      frames.length = 0
      const session = era === 'session' ? await openSession(sessionPort ?? port) : undefined
      post = writer(started.port, era, accept, session)
      for (let id = 1; id <= DIFFERENT; id++) {
        const header = headers[id % headers.length]
        frames.push(post(toolRequest(era, id), 'tools/call', tool, header))
      }
    },
    async check() {
      const replies = await Promise.all(links.map((link, at) => link.ask(frames[at])))
      replies.forEach((reply, at) => {
        assert.match(reply, /^HTTP\/1.1 200 /)
        const type =
          answers === 'events'
            ? /\ncontent-type: text\/event-stream/i
            : /\ncontent-type: application\/json/i
        assert.match(reply, type)
        assert.equal(JSON.parse(bodyOf(reply)).id, at + 1)
        assert.equal(textOf(reply), answerTo(argumentsOf(at + 1)))
      })
      // Warm up until the compiler has settled, measured in CPU time of the server, which a busy machine delays.
      const start = await this.cpu()
      while ((await this.cpu()) - start < WARM_UP_MICROS) await drive(links, frames, 512, [])
    },
    async prepare() {
      times.push([])
      await reopen()
    },
    run: count => drive(links, frames, count, times.at(-1)),
    cpu: async () => Number(await ask(usage)),
    turn: () => ask('turn'),
    ask,
    port: () => port,
    latencies: () =>
      times
        .slice(1)
        .flat()
        .sort((a, b) => a - b),
    async close() {
      for (const link of links) link.close()
      if (child !== undefined) await stop(child)
    },
  }
}

/** Keeps one request in flight on every connection until `count` responses have arrived. */
function drive(links, frames, count, took) {
  let unsent = count
  let missing = count
  return new Promise((resolve, reject) => {
    for (const link of links) {
      let start = 0
      const next = () => {
        if (unsent === 0) return
        unsent--
        start = performance.now()
        link.send(frames[unsent % DIFFERENT])
      }
      link.answered = () => {
        took.push(performance.now() - start)
        missing--
        if (missing === 0) resolve()
        else next()
      }
      link.failed = reject
      if (link.isGone) reject(new Error('the server closed a connection'))
      else next()
    }
  })
}

/** Opens a connection that sends requests and notices the end of each response. */
export async function openLink(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const finds = ending()
  let parts
  const link = {
    answered() {},
    failed() {},
    get isGone() {
      return socket.destroyed
    },
    send: bytes => socket.write(bytes),
    ask: bytes =>
      new Promise((resolve, reject) => {
        parts = []
        link.failed = reject
        if (socket.destroyed) link.failed(new Error('the server closed a connection'))
        link.answered = () => {
          const text = Buffer.concat(parts).toString()
          parts = undefined
          resolve(text)
        }
        socket.write(bytes)
      }),
    close: () => socket.destroy(),
  }
  socket.on('data', chunk => {
    parts?.push(chunk)
    if (finds(chunk)) link.answered()
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => link.failed(new Error('the server closed a connection')))
  return link
}

/** Returns a function that says for each chunk whether it completes a response. */
export function ending() {
  let head = ''
  let left = 0
  let isChunked = false
  let tail = ''
  return chunk => {
    let at = 0
    if (left === 0 && !isChunked) {
      const end = chunk.indexOf('\r\n\r\n')
      head += chunk.latin1Slice(0, end < 0 ? chunk.length : end + 4)
      if (end < 0) return false
      at = end + 4
      const length = /\ncontent-length: *(\d+)/i.exec(head)
      isChunked = length === null && /\ntransfer-encoding: *chunked/i.test(head)
      left = Number(length?.[1] ?? 0)
      head = ''
      tail = '\r\n'
    }
    if (!isChunked) {
      left -= chunk.length - at
      return left === 0
    }
    // The last chunk is empty. JSON text contains no line break before a zero.
    tail = (tail + chunk.latin1Slice(Math.max(at, chunk.length - 7))).slice(-7)
    if (!tail.endsWith('\r\n0\r\n\r\n')) return false
    isChunked = false
    return true
  }
}

/** Returns a function that writes requests as bytes, with a further header where one is given. */
export function writer(port, era, accept, session) {
  const version = revisions[era]
  return (text, method, name, header) =>
    Buffer.from(
      [
        'POST /mcp HTTP/1.1',
        `host: 127.0.0.1:${port}`,
        'connection: keep-alive',
        'content-type: application/json',
        `accept: ${accept}`,
        'accept-language: *',
        'user-agent: bench',
        `mcp-protocol-version: ${version}`,
        ...(era === 'session' ? [] : [`mcp-method: ${method}`, `mcp-name: ${name}`]),
        ...(header === undefined ? [] : [header]),
        ...(session === undefined ? [] : [`mcp-session-id: ${session}`]),
        `content-length: ${Buffer.byteLength(text)}`,
        '',
        text,
      ].join('\r\n'),
    )
}

/** Opens a session on a connection, by default on one of its own. Returns its id; undefined for servers without sessions. */
export async function openSession(port, own) {
  const link = own ?? (await openLink(port))
  const { request: first, notifications } = opening('session')
  const accept = 'application/json, text/event-stream'
  const reply = await link.ask(writer(port, 'session', accept)(first))
  const session = /\nmcp-session-id: *([^\r]+)/i.exec(reply)?.[1]
  // Bare servers have no session.
  for (const text of notifications) await link.ask(writer(port, 'session', accept, session)(text))
  if (own === undefined) link.close()
  return session
}

/** Returns the body of a response, without chunk headers and event fields. */
function bodyOf(reply) {
  return /^(?:data: )?(\{.*\})\r?$/m.exec(reply.slice(reply.indexOf('\r\n\r\n') + 4))?.[1]
}

/** Returns the text that a tool has returned. */
export const textOf = reply => JSON.parse(bodyOf(reply)).result.content[0].text
