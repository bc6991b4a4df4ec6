import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import type { SessionsAnswer } from '../../src/console/wire-sessions.ts'
import { Server } from '../../src/server/server.ts'
import { memoryPair } from '../../src/transport/memory.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { postJson, readJson, serveConsole } from './setup.ts'

let served: Awaited<ReturnType<typeof serveConsole>>
beforeAll(async () => {
  const server = new Server({ name: 'demo', version: '1' })
  server.resource('note', 'note:///1', {}, () => 'text')
  server.tool('hold', { task: 'optional' }, async (_, { signal }) => {
    await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
    return 'held'
  })
  served = await serveConsole({}, { servers: { demo: { server } } })
})
afterAll(() => served.close())

// The check: the answer of this route.
const read = async () => (await readJson(served, 'api/sessions')) as SessionsAnswer

test('a session is shown with its client, and without its id', async () => {
  const ids: string[] = []
  const fetching: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    ids.push(response.headers.get('mcp-session-id') ?? '')
    return response
  }
  const before = Date.now()
  const http = { fetch: fetching }
  const client = await connect(served.address, { name: 'one', version: '2', era: 'session', http })
  await expect.poll(async () => (await read()).sessions).toMatchObject([{ client: 'one' }])
  const answer = await read()
  const [row] = answer.sessions
  expect(row).toMatchObject({ version: '2', transport: 'http', revision: '2025-11-25' })
  expect(row).toMatchObject({ inFlight: 0, serverRequests: 0 })
  expect(row?.openedAt).toBeGreaterThanOrEqual(before)
  const id = ids.find(each => each !== '') ?? ''
  expect(id).not.toBe('')
  expect(JSON.stringify(answer)).not.toContain(id)
  await client.close()
  await expect.poll(async () => (await read()).sessionCount).toBe(0)
})

test('a session that is ended is gone, and its client is told', async () => {
  const client = await connect(served.address, {
    name: 'one',
    version: '2',
    era: 'session',
    reconnect: { attempts: 0 },
  })
  const [row] = (await read()).sessions
  const path = `api/sessions/${row?.handle}/end`
  expect((await postJson(served, path, {})).status).toBe(200)
  expect((await read()).sessionCount).toBe(0)
  expect((await postJson(served, path, {})).status).toBe(404)
  await client.close()
})

test('subscriptions are counted by resource', async () => {
  const client = await connect(served.router, { era: 'session' })
  const uris: string[] = []
  for await (const { uri } of client.resources()) uris.push(uri)
  const [uri = ''] = uris
  await client.request('resources/subscribe', { uri })
  const { sessions, subscriptions } = await read()
  expect(sessions).toMatchObject([{ transport: 'memory', subscriptions: 1 }])
  expect(subscriptions).toEqual([{ uri, count: 1 }])
  await client.close()
  await expect.poll(async () => (await read()).subscriptions).toEqual([])
})

test('a task is shown without its id, and can be cancelled', async () => {
  const client = await connect(served.router)
  const task = await client.start('demo__hold')
  await expect.poll(async () => (await read()).tasks).toMatchObject([{ tool: 'demo__hold' }])
  const answer = await read()
  const [row] = answer.tasks
  expect(row).toMatchObject({ status: 'working' })
  expect(JSON.stringify(answer)).not.toContain(task.id)
  const path = `api/tasks/${row?.handle}/cancel`
  expect((await postJson(served, path, {})).status).toBe(200)
  await expect(task.result()).rejects.toThrow(/cancelled/i)
  expect((await postJson(served, path, {})).status).toBe(404)
  await client.close()
})

test('at most the oldest sessions are listed, and all are counted', async () => {
  const most = limits.consoleSessions.default
  const near = Array.from({ length: most + 1 }, () => {
    const [one, other] = memoryPair()
    served.router.attach(other)
    one.open({ receive: () => {}, closed: () => {} })
    return one
  })
  const { sessions, sessionCount } = await read()
  expect([sessions.length, sessionCount]).toEqual([most, most + 1])
  await Promise.all(near.map(each => each.close()))
})
