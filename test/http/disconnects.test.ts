import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Asking, ask, type Reply, Wire, written } from './raw.ts'
import { calling, inSession, latest, opening, speaking } from './requests.ts'

/** A server in a process that exits on the first uncaught error. */
let child: ChildProcessByStdio<Writable, Readable, null>
let port = 0

beforeAll(async () => {
  const file = fileURLToPath(new URL('flood-server.js', import.meta.url))
  child = spawn(process.execPath, ['--expose-gc', file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  port = Number(new URL(line.toString().trim()).port)
})
afterAll(async () => {
  child.stdin.end()
  if (child.exitCode === null) await once(child, 'exit')
  expect(child.exitCode).toBe(0)
})

const asked = (asking: Asking): Promise<Reply> => ask(port, written(port, asking))

async function opened(revision = latest): Promise<string> {
  const id = (await asked(opening(revision))).headers.get('mcp-session-id') ?? ''
  await asked(inSession(id, 'notifications/initialized'))
  return id
}

/** Disconnects with a reset, or without one. */
async function leave(wire: Wire, at: number): Promise<void> {
  if (at % 2 === 0) wire.socket.resetAndDestroy()
  else wire.cut()
  await wire.ended
}

async function isWell(): Promise<void> {
  expect(child.exitCode).toBeNull()
  expect((await asked(speaking('server/discover'))).status).toBe(200)
  expect((await asked(inSession(await opened(), 'ping', {}, 1))).json.result).toEqual({})
}

const meta = { progressToken: 'p' }
const steps = { name: 'steps', arguments: {}, _meta: meta }

/** Streams that are read event by event: the connection, and the request that triggers events. */
const streams: readonly (readonly [string, () => Promise<{ wire: Wire; next?: Asking }>])[] = [
  [
    'the response to a stateless request',
    async () => ({ wire: await sent(calling('steps', {}, { meta })) }),
  ],
  [
    'the response to a request of a session',
    async () => ({ wire: await sent(inSession(await opened(), 'tools/call', steps, 1)) }),
  ],
  [
    'the stream of a session',
    async () => {
      const session = await opened()
      const wire = await sent({ method: 'GET', headers: { 'mcp-session-id': session } })
      return { wire, next: inSession(session, 'tools/call', steps, 1) }
    },
  ],
  [
    'a subscription to changes',
    async () => {
      const filter = { notifications: { toolsListChanged: true } }
      return { wire: await sent(speaking('subscriptions/listen', filter)), next: calling('steps') }
    },
  ],
  [
    'an HTTP+SSE stream',
    async () => {
      const wire = await sent({ method: 'GET', path: '/sse' })
      return { wire, next: calling('steps') }
    },
  ],
]

async function sent(asking: Asking): Promise<Wire> {
  return (await Wire.open(port)).send(written(port, asking))
}

describe('SEC-17: a client that disconnects in the middle of', () => {
  test.each(streams)('%s, after any event, does not affect the server', async (_, begin) => {
    for (let events = 0; events < 8; events++) {
      const { wire, next } = await begin()
      const { status } = await wire.begin()
      expect(status).toBe(200)
      const busy = next === undefined ? undefined : asked(next)
      // Streams without an end have only these first events.
      const max = next === undefined ? events : Math.min(events, 1)
      for (let i = 0; i < max; i++) await wire.block()
      await leave(wire, events)
      await busy
    }
    await isWell()
  })

  const requests: readonly (readonly [string, () => Promise<Asking>])[] = [
    ['a stateless call', async () => calling('steps', {}, { meta })],
    ['a call of a session', async () => inSession(await opened(), 'tools/call', steps, 1)],
    ['an initialize request', async () => opening()],
    [
      'a DELETE of a session',
      async () => ({ method: 'DELETE', headers: { 'mcp-session-id': await opened() } }),
    ],
  ]
  test.each(requests)('%s, after any byte, does not affect the server', async (_, asking) => {
    const bytes = written(port, await asking())
    const cuts = Array.from({ length: bytes.length + 1 }, (_, at) => at)
    for (let from = 0; from < cuts.length; from += 50) {
      await Promise.all(
        cuts.slice(from, from + 50).map(async at => {
          const wire = await Wire.open(port)
          await new Promise<void>(done => wire.socket.write(bytes.subarray(0, at), () => done()))
          await leave(wire, at)
        }),
      )
    }
    await isWell()
  })
})
