import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import type { HttpRequest } from '../../../src/http/exchange.ts'
import { FastRequest } from '../../../src/http/node/fast-request.ts'
import { readHead } from '../../../src/http/node/request-head.ts'
import { nodeServer } from '../../../src/http/node/server.ts'
import type { Random } from '../random.ts'
import { target } from '../target.ts'

const pieces = [
  ' ',
  '\t',
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ':',
  ',',
  '\0',
  '\x7f',
  '/',
  '?',
  '#',
  '0',
  '1',
  '+',
  'a',
  'host: b\r\n',
  'Content-Length: 3\r\n',
  'content-length: 0x3\r\n',
  'transfer-encoding: chunked\r\n',
  'Transfer-Encoding : chunked\r\n',
  'connection: close\r\n',
  'connection: upgrade\r\nupgrade: x\r\n',
  'expect: 100-continue\r\n',
  ' folded\r\n',
  '__proto__: x\r\n',
  '5\r\nabcde\r\n0\r\n\r\n',
  'HTTP/1.0',
  'GET / HTTP/1.1\r\nhost: c\r\n\r\n',
] as const

/**
 * Requests on one connection: however the bytes are split, each request that the fast path serves is
 * one that `node:http` finds there too, with the same headers and body.
 */
export const requestsTarget = target(
  'requests',
  random => {
    const bytes = Buffer.concat(Array.from({ length: 1 + random.int(3) }, () => hostile(random)))
    return { bytes, cut: random.cut(bytes) }
  },
  async ({ bytes, cut }) => {
    checkHead(bytes)
    // Also byte by byte, because Node drops a request if an error follows it in the same chunk.
    const small = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1))
    let expected: readonly Served[] = []
    for (const chunks of [small, [bytes], cut]) {
      const found = await served('node', chunks)
      if (found.length > expected.length) expected = found
    }
    for (const chunks of [[bytes], cut]) {
      // What follows was handed over to Node, whose result depends on the chunks.
      const found = (await served('fast', chunks)).filter(({ isFast }) => isFast)
      assert.deepEqual(found.map(contents), expected.slice(0, found.length).map(contents))
    }
  },
)

function hostile(random: Random): Buffer {
  const body = 'b'.repeat(random.int(6))
  const lines = [
    `${random.pick(['POST', 'POST', 'GET', 'DELETE', 'PUT'])} /mcp?x=1 HTTP/1.1`,
    'Host: localhost:1',
    'content-type: application/json',
  ]
  if (!random.once(10)) lines.push(`Content-Length: ${body.length}`)
  if (random.once(3)) lines.push(random.pick(['Connection: keep-alive', 'mcp-name:  one\t']))
  let text = `${lines.join('\r\n')}\r\n\r\n${body}`
  for (let left = random.int(3); left > 0; left--) {
    const at = random.int(text.length + 1)
    text = text.slice(0, at) + random.pick(pieces) + text.slice(at + random.int(3))
  }
  return Buffer.from(text, 'latin1')
}

/** Checks that a head which the fast path accepts has one possible framing. */
function checkHead(bytes: Buffer): void {
  const end = bytes.indexOf('\r\n\r\n')
  const text = bytes.toString('latin1', 0, end === -1 ? bytes.length : end)
  const head = readHead(text, 100)
  if (head === undefined) return
  assert.ok(!/\ntransfer-encoding|\r\n[ \t]|[^\r]\n|\r(?!\n)|\0/i.test(text), 'ambiguous framing')
  const lengths = [...text.matchAll(/\ncontent-length[ \t]*:[ \t]*(.*?)[ \t]*(?:\r|$)/gi)]
  assert.ok(lengths.length <= 1, 'one length')
  assert.equal(head.bodyBytes, Number(lengths[0]?.[1] ?? 0))
  assert.ok(Number.isSafeInteger(head.bodyBytes))
}

interface Served {
  readonly method: string
  readonly path: string
  readonly headers: object
  readonly body: string | undefined
  /** Whether the fast path parsed it. */
  readonly isFast: boolean
}

function contents({ isFast, ...rest }: Served): object {
  return rest
}

/** Returns the requests that a server finds in the chunks: their method, headers and body. */
async function served(
  parser: 'fast' | 'node',
  chunks: readonly Uint8Array[],
): Promise<readonly Served[]> {
  const found: Served[] = []
  const handle = (request: HttpRequest, reply: { send(status: number, headers: object): void }) => {
    const { method, path, headers } = request
    request.body(1000, bytes => {
      const body = bytes === undefined ? undefined : Buffer.from(bytes).toString('latin1')
      const isFast = request instanceof FastRequest
      found.push({ method, path, headers: { ...headers }, body, isFast })
      reply.send(200, {})
    })
  }
  const { server } = nodeServer(
    { handle, drain: async () => {}, close: async () => {} },
    { parser },
  )
  const socket = new MemorySocket()
  server.emit('connection', socket)
  for (const chunk of chunks) {
    // An empty chunk does not reach a program, because a socket reads at least one byte.
    if (chunk.length === 0 || socket.destroyed || socket.writableEnded) continue
    socket.push(Buffer.from(chunk))
    if (chunks.length > 1) await turns(1)
  }
  for (let known = -1; known < found.length; await turns(8)) known = found.length
  socket.destroy()
  return found
}

/** A socket without a network. What is written to it is dropped. */
class MemorySocket extends Duplex {
  readonly bytesRead = 1

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: unknown, done: () => void): void {
    done()
  }

  destroySoon(): void {
    this.end(() => this.destroy())
  }

  setTimeout(): this {
    return this
  }
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await new Promise(resolve => setImmediate(resolve))
}
