import { describe, expect, it } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  capabilitiesWithTasks,
  gate,
  type RawClient,
  rawClient,
} from '../../../test/support/raw-client.ts'
import { turn } from '../../../test/support/wire.ts'
import { Server } from '../server.ts'
import { MemoryTaskStore } from './memory-store.ts'
import type { TaskRecord } from './store.ts'

const revision = '2026-07-28'

function make() {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  const held = gate()
  server.tool('held', { task: 'optional' }, async (_, ctx) => {
    ctx.task?.message('begun')
    return held.passed
  })
  return { server, held }
}

async function start(client: RawClient): Promise<string> {
  const { result } = await client.request('tools/call', { name: 'held' })
  return result?.taskId as string
}

/** Begins to listen, and gives what was acknowledged. */
async function listen(
  client: RawClient,
  taskIds: unknown,
  capabilities: object = capabilitiesWithTasks,
) {
  client.begin('subscriptions/listen', {
    notifications: { taskIds },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    },
  })
  const { params, error } = await client.next(
    ({ method, error: refusal }) =>
      method === 'notifications/subscriptions/acknowledged' || refusal !== undefined,
  )
  return error ?? params
}

const isNews = ({ method }: { method?: string }) => method === 'notifications/tasks'

describe('listening to tasks', () => {
  it('acknowledges the caller’s own tasks and sends what tasks/get would return', async () => {
    proves('X14b')
    const { server, held } = make()
    const ada = rawClient(server, revision, {
      capabilities: capabilitiesWithTasks,
      principal: 'ada',
    })
    const bob = rawClient(server, revision, {
      capabilities: capabilitiesWithTasks,
      principal: 'bob',
    })
    const [hers, his] = [await start(ada), await start(bob)]
    expect(await listen(ada, [hers, his, 'x'])).toMatchObject({
      notifications: { taskIds: [hers] },
      _meta: { 'io.modelcontextprotocol/subscriptionId': 2 },
    })
    const first = await ada.next(isNews)
    expect(first.params).toMatchObject({ taskId: hers, status: 'working' })
    await turn()
    held.open('done')
    const last = await ada.next(
      ({ params, ...news }) => isNews(news) && params?.result !== undefined,
    )
    const { result } = await ada.request('tasks/get', { taskId: hers })
    const { _meta, ...sent } = last.params ?? {}
    const { _meta: ours, resultType, ...got } = result ?? {}
    expect(sent).toEqual(got)
    expect(_meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': 2 })
    expect(
      ada
        .received()
        .filter(isNews)
        .every(({ params }) => params?.taskId === hers),
    ).toBe(true)
    expect(bob.received().filter(isNews)).toEqual([])
  })

  it('sends the state of a task at once, which may have ended before the stream began', async () => {
    const { server, held } = make()
    const client = rawClient(server, revision, { capabilities: capabilitiesWithTasks })
    const taskId = await start(client)
    held.open('done')
    await turn()
    await listen(client, [taskId])
    const { params } = await client.next(
      ({ method, params }) => isNews({ method }) && params?.status === 'completed',
    )
    expect(params).toMatchObject({ result: { content: [{ text: 'done' }] } })
  })

  it('continues when one of them has a result that is not JSON', async () => {
    const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
    const held = gate()
    server.tool('held', { task: 'optional' }, async () => {
      await held.passed
      return { content: [], structuredContent: { n: 1n } }
    })
    const client = rawClient(server, revision, { capabilities: capabilitiesWithTasks })
    const taskId = await start(client)
    await listen(client, [taskId])
    held.open('')
    await turn()
    await turn()
    server.tool('more', {}, () => 'more')
    await turn()
    expect((await client.request('tools/call', { name: 'more' })).result).toMatchObject({
      content: [{ text: 'more' }],
    })
  })

  it('sends the end of a task that ends while it is looked up', async () => {
    const memory = new MemoryTaskStore()
    const found = gate()
    const store = {
      add: (record: TaskRecord) => memory.add(record),
      get: async (id: string) => {
        const record = memory.get(id)
        await found.passed
        return record
      },
      put: (record: TaskRecord) => memory.put(record),
      list: () => [],
    }
    const server = new Server({ name: 'test', version: '1' }, { tasks: { store } })
    const held = gate()
    server.tool('held', { task: 'optional' }, () => held.passed)
    const client = rawClient(server, revision, { capabilities: capabilitiesWithTasks })
    const taskId = await start(client)
    const acknowledged = listen(client, [taskId, 'x'])
    await turn()
    held.open('done')
    await turn()
    found.open('')
    expect(await acknowledged).toMatchObject({ notifications: { taskIds: [taskId] } })
    await client.next(({ method, params }) => isNews({ method }) && params?.status === 'completed')
  })

  it('sends nothing to other listen streams', async () => {
    const { server, held } = make()
    const client = rawClient(server, revision, { capabilities: capabilitiesWithTasks })
    await start(client)
    held.open('done')
    await turn()
    await turn()
    expect(client.received()).toEqual([])
  })

  it('needs the extension', async () => {
    proves('X14')
    const { server } = make()
    const client = rawClient(server, revision)
    expect(await listen(client, ['x'], {})).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    })
  })

  it('refuses a value that is not a list of ids, and a list that is too long', async () => {
    const { server } = make()
    const client = rawClient(server, revision)
    for (const ids of ['x', [1], Array.from({ length: 1025 }, (_, i) => `${i}`)]) {
      expect(await listen(client, ids)).toMatchObject({ code: -32602 })
    }
  })

  it('acknowledges no tasks where there are none', async () => {
    const server = new Server({ name: 'test', version: '1' })
    server.tool('plain', {}, () => 'plain')
    const acknowledged = await listen(rawClient(server, revision), ['x'])
    expect(acknowledged).toMatchObject({ notifications: {} })
  })
})
