import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { proves } from '../../../test/requirements.ts'
import { pollOptions } from '../../../test/support/poll-options.ts'
import {
  gate,
  opened,
  type RawClient,
  rawClient,
  type WireMessage,
} from '../../../test/support/raw-client.ts'
import { turn } from '../../../test/support/wire.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { ServerOptions } from '../options.ts'
import { Server } from '../server.ts'
import { MemoryTaskStore } from './memory-store.ts'

const related = 'io.modelcontextprotocol/related-task'

function make(options: ServerOptions = {}) {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {}, ...options })
  server.tool('plain', {}, () => 'plain')
  server.tool('quick', { task: 'optional' }, () => 'done')
  server.tool('only', { task: 'required' }, () => 'done')
  server.tool('broken', { task: 'optional' }, () => {
    throw new Error('out of paper')
  })
  server.tool('refuses', { task: 'optional' }, () => {
    throw new RpcError(7, 'no', { data: { why: 'because' } })
  })
  server.tool('adds', { task: 'optional', input: z.object({ a: z.number() }) }, ({ a }) => `${a}`)
  return server
}

/** A tool whose work waits until the test lets it go on. */
function makeHeld(options?: ServerOptions) {
  const server = make(options)
  const held = gate()
  const signals: AbortSignal[] = []
  server.tool('held', { task: 'optional' }, async (_, ctx) => {
    signals.push(ctx.signal)
    return held.passed
  })
  return { server, held, signals }
}

function taskOf({ result }: WireMessage): Record<string, unknown> {
  expect(result).toHaveProperty('task')
  return result?.task as Record<string, unknown>
}

async function start(client: RawClient, name: string, task: object = {}, more: object = {}) {
  const task_ = taskOf(await client.request('tools/call', { name, task, ...more }))
  return task_.taskId as string
}

const status = async (client: RawClient, taskId: string) =>
  (await client.request('tasks/get', { taskId })).result?.status

describe('the declaration of tasks', () => {
  it('names tasks once a tool can be one, and only in the revision that has them', async () => {
    proves('K1', 'X17e')
    const core = rawClient(make(), '2025-11-25', {
      capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    })
    const { result } = await core.open()
    expect(result?.capabilities).toMatchObject({
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    })
    expect(result?.capabilities).not.toHaveProperty('extensions')
    expect((await core.request('tools/call', { name: 'quick' })).result).toHaveProperty('content')
    const older = rawClient(make(), '2025-06-18')
    expect((await older.open()).result?.capabilities).not.toHaveProperty('tasks')
    expect(await older.request('tasks/list')).toMatchObject({ error: { code: -32601 } })
  })

  it('ignores the wish for a task where no tool can be one', async () => {
    proves('K3')
    const server = new Server({ name: 'x', version: '1' })
    server.tool('plain', {}, () => 'plain')
    const client = rawClient(server, '2025-11-25')
    expect((await client.open()).result?.capabilities).not.toHaveProperty('tasks')
    const answer = await client.request('tools/call', { name: 'plain', task: { ttl: 1 } })
    expect(answer.result).toMatchObject({ content: [{ text: 'plain' }] })
    expect(await client.request('tasks/list')).toMatchObject({ error: { code: -32601 } })
  })

  it('lists whether each tool can be a task, and refuses the other way', async () => {
    proves('S10')
    const client = await opened(make())
    const tools = (await client.request('tools/list')).result?.tools as WireMessage[]
    expect(tools.slice(0, 3)).toMatchObject([
      { name: 'plain' },
      { name: 'quick', execution: { taskSupport: 'optional' } },
      { name: 'only', execution: { taskSupport: 'required' } },
    ])
    const forbidden = await client.request('tools/call', { name: 'plain', task: {} })
    expect(forbidden.error).toMatchObject({ code: -32601, message: /cannot be called as a task/ })
    const required = await client.request('tools/call', { name: 'only' })
    expect(required.error).toMatchObject({ code: -32601, message: /must be called as a task/ })
    expect(await client.request('tools/call', { name: 'quick', task: 1 })).toMatchObject({
      error: { code: -32602 },
    })
    expect(await client.request('tools/call', { name: 'quick', task: { ttl: 'x' } })).toMatchObject(
      {
        error: { code: -32602 },
      },
    )
  })

  it('runs every tool as usual in revisions without tasks', async () => {
    const client = rawClient(make(), '2025-06-18')
    await client.open()
    const answer = await client.request('tools/call', { name: 'only', task: {} })
    expect(answer.result).toMatchObject({ content: [{ text: 'done' }] })
  })
})

describe('a call as a task', () => {
  it('is answered before the work is done, with the whole task', async () => {
    proves('K4', 'K5', 'K8', 'K8c', 'K9', 'K9b', 'K11c')
    const { server, held } = makeHeld()
    const client = await opened(server)
    const task = taskOf(await client.request('tools/call', { name: 'held', task: { ttl: 5000 } }))
    expect(task).toEqual({
      taskId: expect.stringMatching(/^[0-9a-f]{48}$/),
      status: 'working',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      lastUpdatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      ttl: 5000,
      pollInterval: 1000,
    })
    const { taskId } = task
    expect((await client.request('tasks/get', { taskId })).result).toEqual(task)
    expect(await start(client, 'held')).not.toBe(taskId)
    held.open('late')
    await client.next(({ params }) => params?.taskId === taskId && params?.status === 'completed')
    const over = (await client.request('tasks/get', { taskId })).result
    expect(over).toMatchObject({ taskId, status: 'completed', ttl: 5000 })
    expect(over).not.toHaveProperty('_meta')
  })

  it('returns its result to requests that wait and to later ones', async () => {
    proves('K10', 'K10b', 'K11e')
    const { server, held } = makeHeld()
    const client = await opened(server)
    const taskId = await start(client, 'held')
    const waiting = client.begin('tasks/result', { taskId })
    await client.request('ping')
    expect(client.received().some(({ id }) => id === waiting)).toBe(false)
    held.open('at last')
    const result = {
      content: [{ type: 'text', text: 'at last' }],
      _meta: { [related]: { taskId } },
    }
    expect((await client.reply(waiting)).result).toEqual(result)
    expect((await client.request('tasks/result', { taskId })).result).toEqual(result)
  })

  it('that failed gives the error that the call would have given', async () => {
    proves('K10', 'K15f')
    const client = await opened(make())
    const plain = await client.request('tools/call', { name: 'refuses' })
    const taskId = await start(client, 'refuses')
    expect((await client.request('tasks/result', { taskId })).error).toEqual(plain.error)
    expect((await client.request('tasks/get', { taskId })).result).toMatchObject({
      status: 'failed',
      statusMessage: 'no',
    })
  })

  it('whose tool failed is failed, with the reason and the result', async () => {
    proves('K15e', 'K15f', 'K10')
    const client = await opened(make())
    const taskId = await start(client, 'broken')
    expect((await client.request('tasks/result', { taskId })).result).toMatchObject({
      isError: true,
      content: [{ text: 'out of paper' }],
    })
    expect((await client.request('tasks/get', { taskId })).result).toMatchObject({
      status: 'failed',
      statusMessage: 'out of paper',
    })
  })

  it('with bad arguments is a task too, which has failed', async () => {
    proves('K9')
    const client = await opened(make())
    const taskId = await start(client, 'adds', {}, { arguments: { a: 'x' } })
    expect((await client.request('tasks/result', { taskId })).result).toMatchObject({
      isError: true,
    })
    expect(await status(client, taskId)).toBe('failed')
  })

  it('hides what went wrong inside', async () => {
    proves('K15c')
    const errors: unknown[] = []
    const server = new Server(
      { name: 'x', version: '1' },
      { onError: error => void errors.push(error) },
    )
    server.tool('odd', { task: 'optional', output: z.object({ n: z.number() }) }, () => ({
      // The check: wrong on purpose.
      n: 'one' as unknown as number,
    }))
    const client = await opened(server)
    const taskId = await start(client, 'odd')
    expect((await client.request('tasks/result', { taskId })).error).toMatchObject({ code: -32603 })
    expect(errors).toHaveLength(1)
  })

  it('continues when the request that made it is cancelled and its connection ends', async () => {
    proves('U3')
    const { server, held, signals } = makeHeld()
    const client = await opened(server)
    const made = client.begin('tools/call', { name: 'held', task: {} })
    const { taskId } = taskOf(await client.reply(made)) as { taskId: string }
    await vi.waitFor(() => expect(signals).toHaveLength(1), pollOptions)
    client.send({ method: 'notifications/cancelled', params: { requestId: made } })
    expect(await status(client, taskId)).toBe('working')
    client.disconnect()
    await client.session.closed
    expect(signals[0]?.aborted).toBe(false)
    // Without a principal, the id is all it takes to find it again.
    const again = await opened(server)
    const waiting = again.begin('tasks/result', { taskId })
    held.open('kept')
    expect((await again.reply(waiting)).result).toMatchObject({ content: [{ text: 'kept' }] })
  })

  it('is notified of when its status changes, without metadata about itself', async () => {
    proves('K12b')
    const server = make()
    server.tool('steps', { task: 'optional' }, (_, ctx) => {
      ctx.task?.message('half way')
      return ctx.task?.id ?? 'no task'
    })
    const client = await opened(server)
    const taskId = await start(client, 'steps')
    await client.request('tasks/result', { taskId })
    const notified = client
      .received()
      .filter(({ method }) => method === 'notifications/tasks/status')
    expect(notified.map(({ params }) => params)).toMatchObject([
      { taskId, status: 'working', statusMessage: 'half way' },
      { taskId, status: 'completed' },
    ])
    expect(notified.every(({ params }) => params?._meta === undefined)).toBe(true)
    expect((await client.request('tools/call', { name: 'steps' })).result).toMatchObject({
      content: [{ text: 'no task' }],
    })
  })

  it('sends progress under the token of the request, and log messages, all tied to it', async () => {
    proves('K11')
    const server = make()
    server.tool('talks', { task: 'optional' }, (_, ctx) => {
      ctx.progress(1, 2)
      ctx.log('warning', 'careful')
      return 'done'
    })
    const client = await opened(server)
    const taskId = await start(client, 'talks', {}, { _meta: { progressToken: 'p' } })
    await client.request('tasks/result', { taskId })
    const _meta = { [related]: { taskId } }
    const heard = client.received()
    expect(heard.find(({ method }) => method === 'notifications/progress')?.params).toEqual({
      progressToken: 'p',
      progress: 1,
      total: 2,
      _meta,
    })
    expect(heard.find(({ method }) => method === 'notifications/message')?.params).toEqual({
      level: 'warning',
      data: 'careful',
      _meta,
    })
  })

  it('is found by the id in the params, not by the metadata', async () => {
    proves('K11b')
    const client = await opened(make())
    const taskId = await start(client, 'quick')
    const _meta = { [related]: { taskId: 'another' } }
    for (const method of ['tasks/result', 'tasks/get']) {
      expect(await client.request(method, { taskId, _meta })).toHaveProperty('result')
    }
    const { error } = await client.request('tasks/cancel', { taskId, _meta })
    expect(error).toMatchObject({ data: { taskId } })
  })
})

describe('cancelling', () => {
  it('stops the work, and is final even if the work continues', async () => {
    proves('K14b', 'K14c', 'K14d', 'K6', 'K6b')
    const { server, held, signals } = makeHeld()
    const client = await opened(server)
    const taskId = await start(client, 'held')
    await vi.waitFor(() => expect(signals).toHaveLength(1), pollOptions)
    const waiting = client.begin('tasks/result', { taskId })
    expect((await client.request('tasks/cancel', { taskId })).result).toMatchObject({
      taskId,
      status: 'cancelled',
    })
    expect(signals[0]?.aborted).toBe(true)
    expect((await client.reply(waiting)).error).toMatchObject({ message: 'Task cancelled' })
    held.open('too late')
    await client.request('ping')
    expect(await status(client, taskId)).toBe('cancelled')
    expect(await client.request('tasks/result', { taskId })).toHaveProperty('error')
  })

  it.each(['quick', 'broken', 'refuses'])(
    'is refused once a task such as "%s" is over',
    async name => {
      proves('K14', 'K15d')
      const client = await opened(make())
      const taskId = await start(client, name)
      await client.request('tasks/result', { taskId })
      const before = (await client.request('tasks/get', { taskId })).result
      const { error } = await client.request('tasks/cancel', { taskId })
      expect(error).toMatchObject({
        code: -32602,
        message: `The task is already ${before?.status}`,
      })
      expect((await client.request('tasks/get', { taskId })).result).toEqual(before)
    },
  )

  it('is refused the second time', async () => {
    proves('K14')
    const { server } = makeHeld()
    const client = await opened(server)
    const taskId = await start(client, 'held')
    await client.request('tasks/cancel', { taskId })
    expect(await client.request('tasks/cancel', { taskId })).toMatchObject({
      error: { code: -32602 },
    })
  })
})

describe('a task', () => {
  it('does not exist for other principals', async () => {
    proves('K16', 'K16d', 'K15')
    const { server, held } = makeHeld()
    const ada = await opened(server, { principal: 'ada' })
    const taskId = await start(ada, 'held')
    const others = [await opened(server, { principal: 'bob' }), await opened(server)]
    for (const other of others) {
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        const foreign = await other.request(method, { taskId })
        const unknown = await other.request(method, { taskId: 'x' })
        expect(foreign.error).toMatchObject({ code: -32602, message: unknown.error?.message })
      }
      expect((await other.request('tasks/list')).result).toEqual({ tasks: [] })
    }
    const again = await opened(server, { principal: 'ada' })
    expect((await again.request('tasks/list')).result).toMatchObject({ tasks: [{ taskId }] })
    held.open('hers')
    expect((await again.request('tasks/result', { taskId })).result).toMatchObject({
      content: [{ text: 'hers' }],
    })
  })

  it('without a principal is listed only in its session', async () => {
    proves('K16b', 'K16c', 'K13d')
    const server = make()
    const [one, other] = [await opened(server), await opened(server)]
    const taskId = await start(one, 'quick')
    expect((await one.request('tasks/list')).result).toMatchObject({ tasks: [{ taskId }] })
    expect((await other.request('tasks/list')).result).toEqual({ tasks: [] })
  })

  it('is listed page by page, and a cursor is valid for its owner alone', async () => {
    proves('K13', 'K13b', 'K13d', 'K15b')
    const server = make({ pageSize: 2 })
    const client = await opened(server)
    const made = [
      await start(client, 'quick'),
      await start(client, 'quick'),
      await start(client, 'quick'),
    ]
    const first = (await client.request('tasks/list')).result
    const cursor = first?.nextCursor
    const second = (await client.request('tasks/list', { cursor })).result
    expect(second).not.toHaveProperty('nextCursor')
    const listed = [first?.tasks, second?.tasks].flat()
    expect(listed).toMatchObject(made.map(taskId => ({ taskId })))
    const other = await opened(server)
    expect(await other.request('tasks/list', { cursor })).toMatchObject({ error: { code: -32602 } })
    for (const bad of ['x', '', 1]) {
      const { error } = await client.request('tasks/list', { cursor: bad })
      expect(error).toMatchObject({ code: -32602 })
    }
  })
})

describe('how long and how many', () => {
  it('keeps a task for the requested time from its creation, up to a limit, and then deletes it', async () => {
    proves('K17b', 'K17c', 'K15')
    const clock = fakeClock()
    const server = make({ tasks: { clock, ttlMs: 1000, maxTtlMs: 5000, pollMs: 50 } })
    const client = await opened(server)
    const short = taskOf(
      await client.request('tools/call', { name: 'quick', task: { ttl: 100.4 } }),
    )
    const usual = taskOf(await client.request('tools/call', { name: 'quick', task: {} }))
    const long = taskOf(await client.request('tools/call', { name: 'quick', task: { ttl: 1e12 } }))
    expect([short, usual, long]).toMatchObject([
      { ttl: 100, pollInterval: 50 },
      { ttl: 1000 },
      { ttl: 5000 },
    ])
    await client.request('tasks/result', { taskId: short.taskId })
    clock.advance(99)
    expect(await client.request('tasks/get', { taskId: short.taskId })).toHaveProperty('result')
    clock.advance(1)
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const { error } = await client.request(method, { taskId: short.taskId })
      expect(error).toMatchObject({ code: -32602, message: 'Task not found' })
    }
    expect((await client.request('tasks/list')).result).toMatchObject({
      tasks: [{ taskId: usual.taskId }, { taskId: long.taskId }],
    })
    clock.advance(5000)
    expect((await client.request('tasks/list')).result).toEqual({ tasks: [] })
    expect(clock.pending).toBe(0)
  })

  it('keeps a task for an hour unless its caller wishes otherwise, and for a day at most', async () => {
    proves('K17b')
    const client = await opened(make())
    const wish = async (task: object) =>
      taskOf(await client.request('tools/call', { name: 'quick', task })).ttl
    expect(await wish({})).toBe(3_600_000)
    expect(await wish({ ttl: 1e15 })).toBe(86_400_000)
  })

  it('stops the work of a task whose time is up, and answers waiting requests that it does not exist', async () => {
    const clock = fakeClock()
    const { server, signals } = makeHeld({ tasks: { clock } })
    const client = await opened(server)
    const taskId = await start(client, 'held', { ttl: 10 })
    await vi.waitFor(() => expect(signals).toHaveLength(1), pollOptions)
    const waiting = client.begin('tasks/result', { taskId })
    await turn()
    clock.advance(10)
    expect((await client.reply(waiting)).error).toMatchObject({ code: -32602 })
    expect(signals[0]?.aborted).toBe(true)
  })

  it('accepts tasks up to the limits per caller and in total', async () => {
    proves('K17')
    const clock = fakeClock()
    const { server } = makeHeld({ tasks: { clock, max: 3, maxPerCaller: 2, ttlMs: 10 } })
    const ada = await opened(server, { principal: 'ada' })
    const bob = await opened(server, { principal: 'bob' })
    await start(ada, 'held')
    await start(ada, 'held')
    const refusal = { message: 'Maximum concurrent tasks exceeded' }
    const call = { name: 'held', task: {} }
    expect((await ada.request('tools/call', call)).error).toMatchObject(refusal)
    await start(bob, 'held')
    expect((await bob.request('tools/call', call)).error).toMatchObject(refusal)
    clock.advance(10)
    await start(ada, 'held')
  })

  it('accepts any number of tasks one after the other', async () => {
    const server = make({ tasks: { max: 1, maxPerCaller: 1, maxFinished: 5 } })
    const client = await opened(server)
    for (let i = 0; i < 20; i++) {
      const taskId = await start(client, 'quick')
      expect((await client.request('tasks/result', { taskId })).result).toMatchObject({
        content: [{ type: 'text', text: 'done' }],
      })
    }
    const { result } = await client.request('tasks/list')
    expect(result?.tasks).toHaveLength(5)
  })

  it('cuts long status messages', async () => {
    const server = make()
    server.tool('wordy', { task: 'optional' }, () => {
      throw new Error('x'.repeat(5000))
    })
    const client = await opened(server)
    const taskId = await start(client, 'wordy')
    await client.request('tasks/result', { taskId })
    const { statusMessage } = (await client.request('tasks/get', { taskId }))
      .result as WireMessage['params'] & Record<'statusMessage', string>
    expect(statusMessage).toHaveLength(1024)
  })

  it('ends with its server: running tasks are cancelled, and waiting requests are answered', async () => {
    const { server, signals } = makeHeld()
    const client = await opened(server)
    const taskId = await start(client, 'held')
    await vi.waitFor(() => expect(signals).toHaveLength(1), pollOptions)
    const waiting = client.begin('tasks/result', { taskId })
    await turn()
    await server.close()
    expect(signals[0]?.aborted).toBe(true)
    expect((await client.reply(waiting)).error).toMatchObject({ message: 'Task cancelled' })
    const { params } = await client.next(({ method }) => method === 'notifications/tasks/status')
    expect(params).toMatchObject({ status: 'cancelled', statusMessage: /server has been closed/ })
  })
})

describe('one store behind several servers', () => {
  it('lets each of them read a task, wait for it and cancel it', async () => {
    const store = new MemoryTaskStore()
    const { server, held, signals } = makeHeld({ tasks: { store, pollMs: 1 } })
    const [one, other] = [await opened(server), await opened(make({ tasks: { store, pollMs: 1 } }))]
    const done = await start(one, 'held')
    const stopped = await start(one, 'held')
    await vi.waitFor(() => expect(signals).toHaveLength(2), pollOptions)
    expect(await status(other, done)).toBe('working')
    const cancelled = await other.request('tasks/cancel', { taskId: stopped })
    expect(cancelled.result).toMatchObject({ status: 'cancelled' })
    const waiting = other.begin('tasks/result', { taskId: done })
    await turn()
    held.open('done')
    expect((await other.reply(waiting)).result).toMatchObject({ content: [{ text: 'done' }] })
    // The process that did the work learns of the cancellation, and does not overwrite it.
    expect(await status(one, stopped)).toBe('cancelled')
    await vi.waitFor(() => expect(signals[1]?.aborted).toBe(true), pollOptions)
  })
})
