import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { latest, stateless } from './requests.ts'

const MiB = 1024 * 1024

interface Way {
  readonly name: string
  /** The beginning of the stream. */
  readonly head?: string
  /** The text that repeats, at most `times` times. */
  readonly piece: string
  readonly times: number
  /** Whether every byte is sent as a separate chunk. */
  readonly isSliced?: boolean
  /** Whether a valid response follows. */
  readonly isAnswered?: boolean
  /** Matches the outcome of the call. */
  readonly ends: RegExp
}

const tooLarge = /^too-large: .*an event of more than \d+ bytes/
const brokeOff = /^outcome-unknown: .*broke off/

/** Streams for one call, each far larger than the client ever buffers. */
const ways: readonly Way[] = [
  { name: 'one line', head: 'data: ', piece: 'x'.repeat(64 * 1024), times: 1024, ends: tooLarge },
  {
    name: 'data lines',
    piece: `data: ${'x'.repeat(57)}\n`.repeat(1024),
    times: 1024,
    ends: tooLarge,
  },
  { name: 'empty data lines', piece: 'data\n'.repeat(10_000), times: 2000, ends: tooLarge },
  { name: 'an id', head: 'id: ', piece: 'x'.repeat(64 * 1024), times: 1024, ends: tooLarge },
  { name: 'a name of a field', piece: 'x'.repeat(64 * 1024), times: 1024, ends: tooLarge },
  { name: 'a comment', head: ':', piece: 'x'.repeat(64 * 1024), times: 1024, ends: tooLarge },
  {
    name: 'single bytes',
    head: 'data: ',
    piece: 'x'.repeat(1000),
    times: 100,
    isSliced: true,
    ends: brokeOff,
  },
  {
    name: 'comments',
    piece: ': x\n\n'.repeat(1000),
    times: 300,
    isAnswered: true,
    ends: /^good$/,
  },
  {
    name: 'unknown fields',
    piece: 'x: y\n'.repeat(1000),
    times: 200,
    isAnswered: true,
    ends: /^good$/,
  },
  {
    name: 'waits',
    piece: 'retry: 5\n'.repeat(1000),
    times: 200,
    isAnswered: true,
    ends: /^good$/,
  },
  {
    name: 'empty events',
    piece: 'data:\n\n'.repeat(1000),
    times: 200,
    isAnswered: true,
    ends: /^good$/,
  },
  {
    name: 'ids',
    piece: 'id: 12345\n\n'.repeat(1000),
    times: 200,
    isAnswered: true,
    ends: /^good$/,
  },
  {
    name: 'no messages',
    piece: 'data: {}\n\n'.repeat(100),
    times: 200,
    isAnswered: true,
    ends: /^good$/,
  },
  { name: 'endless comments', piece: ': x\n\n'.repeat(1000), times: 1e9, ends: /^timeout: / },
]

async function bodyOf(
  request: IncomingMessage,
): Promise<{ id?: unknown; method?: string; params?: { name?: string } }> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text === '' ? {} : JSON.parse(text)
}

const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const capabilities = { tools: {} }
const answers = new Map<string | undefined, object>([
  ['server/discover', { ...complete, supportedVersions: [stateless], capabilities }],
  [
    'initialize',
    { protocolVersion: latest, capabilities, serverInfo: { name: 'e', version: '1' } },
  ],
  ['tools/call', { ...complete, content: [{ type: 'text', text: 'good' }] }],
])

/** Writes until the client disconnects, and no faster than it reads. */
async function stream(response: ServerResponse, way: Way, reply: string): Promise<void> {
  const { head = '', piece, times, isSliced, isAnswered } = way
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(head === '' ? ':\n' : head)
  const bytes = isSliced
    ? Buffer.from(Array.from(piece, byte => `1\r\n${byte}\r\n`).join(''))
    : Buffer.from(piece)
  for (let i = 0; i < times && !response.destroyed; i++) {
    // Written to the socket, because the response would merge them into one chunk.
    const way = isSliced ? response.socket : response
    if (way?.write(bytes) === false) {
      await new Promise<void>(resolve => {
        const go = (): void => {
          way.off('drain', go)
          response.off('close', go)
          resolve()
        }
        way.on('drain', go)
        response.on('close', go)
      })
    }
  }
  if (isAnswered) response.write(`\n\ndata: ${reply}\n\n`)
  response.end()
}

const server = createServer((request, response) => {
  void bodyOf(request).then(({ id, method, params }) => {
    const result = answers.get(method)
    const reply = JSON.stringify({ jsonrpc: '2.0', id, result })
    const way = ways.find(({ name }) => name === params?.name)
    if (request.method === 'GET') response.writeHead(405).end()
    else if (id === undefined) response.writeHead(202).end()
    else if (way !== undefined) void stream(response, way, reply)
    else {
      const session = method === 'initialize' ? { 'mcp-session-id': 'abc' } : {}
      response.writeHead(200, { 'content-type': 'application/json', ...session }).end(reply)
    }
  })
})

interface Report {
  readonly way: string
  readonly outcome: string
  /** The growth in memory use after the call, in bytes. */
  readonly held: number
  /** The growth of the peak memory use, in bytes. */
  readonly peak: number
}

/** Makes the calls in a separate process, so that its memory use is theirs alone. */
async function called(options: object): Promise<Map<string, Report>> {
  const { port } = server.address() as AddressInfo
  const file = fileURLToPath(new URL('evil-client.js', import.meta.url))
  const names = ways.map(({ name }) => name)
  const address = `http://127.0.0.1:${port}/mcp`
  const args = ['--expose-gc', file, address, JSON.stringify(options), ...names]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const reports = new Map<string, Report>()
  for await (const line of createInterface(child.stdout)) {
    const report = JSON.parse(line) as Report
    reports.set(report.way, report)
  }
  if (child.exitCode === null) await once(child, 'exit')
  expect(child.exitCode).toBe(0)
  return reports
}

beforeAll(async () => {
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise(resolve => void server.close(resolve))
})

describe.each([
  ['without a session', { era: 'stateless' }],
  ['in a session, with a custom limit', { era: 'session', http: { maxEventBytes: MiB } }],
])('SEC-20: an endless event stream, %s', (_, options) => {
  let reports: Map<string, Report>
  beforeAll(async () => {
    reports = await called(options)
  })

  test.each(ways)(
    'of $name uses no more memory than the limit for one event, and fails with a reason',
    way => {
      const { outcome = '', held = 0, peak = 0 } = reports.get(way.name) ?? {}
      expect(outcome).toMatch(way.ends)
      expect(held).toBeLessThan(4 * MiB)
      // Any process that reads much data uses some of it.
      expect(peak).toBeLessThan(96 * MiB)
    },
  )

  test('leaves the connection to the server usable', () => {
    expect(reports.get('good')?.outcome).toBe('good')
  })
})
