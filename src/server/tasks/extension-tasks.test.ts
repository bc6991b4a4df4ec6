import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { proves } from '../../../test/requirements.ts'
import { pollOptions } from '../../../test/support/poll-options.ts'
import {
  capabilitiesWithTasks,
  gate,
  opened,
  type RawClient,
  type RawClientOptions,
  rawClient,
  type WireMessage,
  withTasks,
} from '../../../test/support/raw-client.ts'
import { turn } from '../../../test/support/wire.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { inputRequired } from '../input/input-required.ts'
import type { ServerOptions } from '../options.ts'
import { Server } from '../server.ts'
import { MemoryTaskStore } from './memory-store.ts'

const revision = '2026-07-28'
const accept = { action: 'accept', content: { ok: true } }
const asks = z.object({ ok: z.boolean() })
const missing = {
  code: -32021,
  data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
}

/**
 * Resolves after the call has become a task: timers of the same delay fire in the order in which they were
 * started, and the timer of the call was started in the turn before.
 */
async function soon() {
  await new Promise(resolve => setImmediate(resolve))
  await new Promise(resolve => setTimeout(resolve, 0))
}

function make(options: ServerOptions = {}) {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {}, ...options })
  server.tool('greet', {}, () => 'hello')
  server.tool('instant', { task: 'optional' }, () => 'done')
  server.tool('quick', { task: 'optional' }, async () => {
    await soon()
    return 'done'
  })
  server.tool('failing', { task: 'required' }, () => {
    throw new Error('out of paper')
  })
  server.tool('refuses', { task: 'optional' }, async () => {
    await soon()
    throw new RpcError(7, 'no', { data: { why: 'because' } })
  })
  server.tool('adds', { task: 'optional', input: z.object({ a: z.number() }) }, ({ a }) => `${a}`)
  server.tool('confirm', { task: 'optional' }, async (_, ctx) => {
    const { ok } = await ctx.elicit({ message: 'Sure?', schema: asks, key: 'sure' })
    return `sure: ${ok}`
  })
  return server
}

function makeHeld(options?: ServerOptions) {
  const server = make(options)
  const held = gate()
  const signals: AbortSignal[] = []
  server.tool('held', { task: 'optional' }, async (_, ctx) => {
    signals.push(ctx.signal)
    ctx.progress(1, 2)
    ctx.log('emergency', 'fire')
    return held.passed
  })
  return { server, held, signals }
}

const connect = (server: Server, options: RawClientOptions = {}) =>
  rawClient(server, revision, { capabilities: capabilitiesWithTasks, ...options })

async function start(client: RawClient, name: string, more: object = {}): Promise<string> {
  const { result } = await client.request('tools/call', { name, ...more })
  expect(result).toMatchObject({ resultType: 'task' })
  return result?.taskId as string
}

/** Looks at a task until it has a status. */
async function until(
  client: RawClient,
  taskId: string,
  status: string,
): Promise<WireMessage['result']> {
  let task: WireMessage['result']
  await vi.waitFor(async () => {
    task = (await client.request('tasks/get', { taskId })).result
    expect(task).toMatchObject({ status })
  }, pollOptions)
  return task
}

describe('a caller', () => {
  it('sees the extension among the capabilities, and not the core tasks', async () => {
    proves('X17c')
    const { result } = await connect(make()).request('server/discover')
    expect(result?.capabilities).toMatchObject({ extensions: withTasks.extensions })
    expect(result?.capabilities).not.toHaveProperty('tasks')
  })

  it('gets a task where the request declares the extension', async () => {
    proves('X1', 'X5', 'X17d')
    const client = connect(make())
    expect((await client.request('tools/call', { name: 'quick' })).result).toMatchObject({
      resultType: 'task',
    })
    for (const capabilities of [{}, { tasks: { requests: {} } }, { extensions: {} }]) {
      const { result } = await client.request('tools/call', { name: 'quick' }, capabilities)
      expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] })
    }
  })

  it('is sent the missing capability where the tool requires a task', async () => {
    proves('X4', 'X17d')
    const client = connect(make())
    for (const capabilities of [{}, { tasks: {} }]) {
      const { error } = await client.request('tools/call', { name: 'failing' }, capabilities)
      expect(error).toMatchObject(missing)
    }
  })

  it('gets no task from a plain tool, nor by a core task request', async () => {
    proves('X5b', 'X17b')
    const client = connect(make())
    const params = { name: 'greet', task: { ttl: 5 } }
    expect((await client.request('tools/call', params)).result).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'hello' }],
    })
    const plain = await client.request('tools/call', { ...params, name: 'quick' }, {})
    expect(plain.result).toMatchObject({ resultType: 'complete' })
  })

  it('gets no task for bad arguments', async () => {
    const client = connect(make())
    const bad = { name: 'adds', arguments: { a: 'x' } }
    expect((await client.request('tools/call', bad)).result).toMatchObject({
      resultType: 'complete',
      isError: true,
    })
  })
})

describe('a task of the extension', () => {
  it('can be read as soon as the call is answered, and has its result when it is completed', async () => {
    proves('X5', 'X6', 'X9', 'X9c', 'X9f', 'X18')
    const { server, held } = makeHeld({ tasks: { ttlMs: 5000, pollMs: 20 } })
    const client = connect(server)
    const { result } = await client.request('tools/call', { name: 'held' })
    const facts = {
      taskId: expect.stringMatching(/^[0-9a-f]{48}$/),
      status: 'working',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      lastUpdatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      ttlMs: 5000,
      pollIntervalMs: 20,
      _meta: expect.any(Object),
    }
    expect(result).toEqual({ resultType: 'task', ...facts })
    const taskId = result?.taskId as string
    const working = (await client.request('tasks/get', { taskId })).result
    expect(working).toEqual({ resultType: 'complete', ...facts })
    held.open('at last')
    const completed = await until(client, taskId, 'completed')
    expect(completed).toMatchObject({
      resultType: 'complete',
      result: { resultType: 'complete', content: [{ type: 'text', text: 'at last' }] },
    })
    expect(completed).not.toHaveProperty('error')
    expect(completed).not.toHaveProperty('inputRequests')
  })

  it('is completed by a tool that failed, and failed by a protocol error alone', async () => {
    proves('X16', 'X16b', 'X16c', 'X16d', 'X9e')
    const client = connect(make())
    const completed = await until(client, await start(client, 'failing'), 'completed')
    expect(completed?.result).toMatchObject({ isError: true, content: [{ text: 'out of paper' }] })
    const plain = await client.request('tools/call', { name: 'refuses' }, {})
    const failed = await until(client, await start(client, 'refuses'), 'failed')
    expect(failed).toMatchObject({ error: plain.error, statusMessage: 'no' })
    expect(failed).not.toHaveProperty('result')
  })

  it('hides what went wrong inside', async () => {
    proves('X15c')
    const store = {
      add: () => {},
      get: () => {
        throw new Error('the disk is full')
      },
      put: () => true,
      list: () => [],
    }
    const client = connect(make({ tasks: { store } }))
    const { error } = await client.request('tasks/get', { taskId: 'x' })
    expect(error).toMatchObject({ code: -32603, message: 'Internal error' })
  })

  it('sends neither progress nor log messages', async () => {
    proves('X14c')
    const { server, held } = makeHeld()
    const client = connect(server)
    const level = { 'io.modelcontextprotocol/logLevel': 'debug', progressToken: 1 }
    const taskId = await start(client, 'held', { _meta: level })
    held.open('done')
    await until(client, taskId, 'completed')
    expect(client.received()).toEqual([])
  })

  it('outlives its connection, and is found again by its id', async () => {
    const { server, held, signals } = makeHeld()
    const client = connect(server)
    const taskId = await start(client, 'held')
    await vi.waitFor(() => expect(signals).toHaveLength(1), pollOptions)
    client.disconnect()
    await client.session.closed
    expect(signals[0]?.aborted).toBe(false)
    held.open('kept')
    expect((await until(connect(server), taskId, 'completed'))?.result).toMatchObject({
      content: [{ text: 'kept' }],
    })
  })

  it('is forgotten when its time is up', async () => {
    proves('X15')
    const clock = fakeClock()
    const client = connect(make({ tasks: { clock, ttlMs: 10 } }))
    const taskId = await start(client, 'quick')
    await until(client, taskId, 'completed')
    clock.advance(10)
    const { error } = await client.request('tasks/get', { taskId })
    expect(error).toMatchObject({ code: -32602, message: 'Task not found' })
  })

  it.each(['tasks/result', 'tasks/list'])('does not have %s', async method => {
    proves('X17')
    const client = connect(make())
    const taskId = await start(client, 'quick')
    expect(await client.request(method, { taskId })).toMatchObject({ error: { code: -32601 } })
  })
})

describe('input requests of a task', () => {
  it('are shown until they are answered, one by one', async () => {
    proves('X9b', 'X12', 'X12b')
    const server = make()
    server.tool('both', { task: 'optional' }, async (_, ctx) => {
      const [one, two] = await Promise.all([
        ctx.elicit({ message: 'One?', schema: asks }),
        ctx.elicit({ message: 'Two?', schema: asks }),
      ])
      return `${one.ok} ${two.ok}`
    })
    const client = connect(server)
    const taskId = await start(client, 'both')
    await vi.waitFor(async () => {
      const { result } = await client.request('tasks/get', { taskId })
      expect(Object.keys(result?.inputRequests ?? {})).toHaveLength(2)
    }, pollOptions)
    const { result: open } = await client.request('tasks/get', { taskId })
    expect(open).toMatchObject({
      status: 'input_required',
      inputRequests: {
        0: { method: 'elicitation/create', params: { mode: 'form', message: 'One?' } },
        1: { method: 'elicitation/create', params: { message: 'Two?' } },
      },
    })
    expect(open).not.toHaveProperty('requestState')
    const answer = (inputResponses: object) =>
      client.request('tasks/update', { taskId, inputResponses })
    const ack = await answer({ 0: accept, 7: accept, __proto__: accept })
    expect(ack.result).toEqual({ resultType: 'complete', _meta: expect.any(Object) })
    const { result: rest } = await client.request('tasks/get', { taskId })
    expect(Object.keys(rest?.inputRequests ?? {})).toEqual(['1'])
    await answer({ 0: { action: 'decline' }, 1: accept })
    expect((await until(client, taskId, 'completed'))?.result).toMatchObject({
      content: [{ text: 'true true' }],
    })
    expect((await answer({ 1: accept })).result).toMatchObject({ resultType: 'complete' })
  })

  it('have keys that are used once, even if the handler is run again', async () => {
    proves('X11')
    const server = make()
    const params = {
      message: 'Sure?',
      requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
    } as const
    let runs = 0
    server.tool('again', { task: 'optional' }, async (_, ctx) => {
      runs++
      await ctx.once('first', async () => ctx.elicit({ message: 'First?', schema: asks }))
      if (ctx.state === 2) return `${ctx.answers.size} after ${runs}`
      const state = ctx.state === undefined ? 1 : 2
      return inputRequired({ sure: { method: 'elicitation/create', params } }, state)
    })
    const client = connect(server)
    const taskId = await start(client, 'again')
    const keys: string[] = []
    for (let round = 0; round < 3; round++) {
      const task = await until(client, taskId, 'input_required')
      const [key = ''] = Object.keys(task?.inputRequests ?? {})
      keys.push(key)
      await client.request('tasks/update', { taskId, inputResponses: { [key]: accept } })
    }
    expect((await until(client, taskId, 'completed'))?.result).toMatchObject({
      content: [{ text: '1 after 3' }],
    })
    expect(new Set(keys).size).toBe(3)
  })

  it('run the handler once: what it did before a request is not done again', async () => {
    const server = make()
    const effects: string[] = []
    server.tool('once', { task: 'optional' }, async (_, ctx) => {
      effects.push('before')
      await ctx.elicit({ message: 'Sure?', schema: asks })
      effects.push('after')
      return 'done'
    })
    const client = connect(server)
    const taskId = await start(client, 'once')
    await until(client, taskId, 'input_required')
    await client.request('tasks/update', { taskId, inputResponses: { 0: accept } })
    await until(client, taskId, 'completed')
    expect(effects).toEqual(['before', 'after'])
  })

  it('may be pages to visit, after which the handler is run again', async () => {
    const server = make()
    let isVisited = false
    server.tool('pages', { task: 'optional' }, () => {
      if (isVisited) return 'welcome'
      const elicitations = [{ mode: 'url', message: 'Log in', url: 'https://example.com/login' }]
      isVisited = true
      throw errors.urlElicitationRequired({ elicitations })
    })
    const client = connect(server)
    const taskId = await start(client, 'pages')
    const task = await until(client, taskId, 'input_required')
    expect(task?.inputRequests).toMatchObject({
      'url-0': { params: { mode: 'url', url: 'https://example.com/login' } },
    })
    const inputResponses = { 'url-0': { action: 'accept' } }
    await client.request('tasks/update', { taskId, inputResponses })
    expect((await until(client, taskId, 'completed'))?.result).toMatchObject({
      content: [{ text: 'welcome' }],
    })
  })

  it('need responses that are an object', async () => {
    const client = connect(make())
    const taskId = await start(client, 'confirm')
    for (const inputResponses of [undefined, 1, [accept]]) {
      const { error } = await client.request('tasks/update', { taskId, inputResponses })
      expect(error).toMatchObject({ code: -32602 })
    }
  })

  it('are refused where the client has not declared the capability', async () => {
    const client = connect(make(), { capabilities: withTasks })
    const failed = await until(client, await start(client, 'confirm'), 'failed')
    expect(failed?.error).toMatchObject({ code: -32021 })
  })
})

describe('a call that has its result at once', () => {
  it('is answered with it, and leaves no record', async () => {
    const store = new MemoryTaskStore()
    const client = connect(make({ tasks: { store } }))
    for (let i = 0; i < 5; i++) {
      expect((await client.request('tools/call', { name: 'instant' })).result).toMatchObject({
        resultType: 'complete',
        content: [{ text: 'done' }],
      })
    }
    expect(store.size).toBe(0)
    await start(client, 'quick')
    expect(store.size).toBe(1)
  })
})

describe('cancelling, and reading unknown tasks', () => {
  it('cancels a running task, and succeeds when there is nothing to cancel', async () => {
    proves('X13', 'X9')
    const { server, held, signals } = makeHeld()
    const client = connect(server)
    const taskId = await start(client, 'held')
    await vi.waitFor(() => expect(signals).toHaveLength(1), pollOptions)
    const empty = { resultType: 'complete', _meta: expect.any(Object) }
    expect((await client.request('tasks/cancel', { taskId })).result).toEqual(empty)
    expect(signals[0]?.aborted).toBe(true)
    held.open('too late')
    const cancelled = (await client.request('tasks/get', { taskId })).result
    expect(cancelled).toMatchObject({ status: 'cancelled' })
    expect((await client.request('tasks/cancel', { taskId })).result).toEqual(empty)
    expect((await client.request('tasks/get', { taskId })).result).toEqual(cancelled)
    const done = await start(client, 'quick')
    await until(client, done, 'completed')
    expect((await client.request('tasks/cancel', { taskId: done })).result).toEqual(empty)
    expect((await client.request('tasks/get', { taskId: done })).result?.status).toBe('completed')
  })

  it('ends the input request that a cancelled task waits for', async () => {
    const client = connect(make())
    const taskId = await start(client, 'confirm')
    await until(client, taskId, 'input_required')
    await client.request('tasks/cancel', { taskId })
    const { result } = await client.request('tasks/get', { taskId })
    expect(result).toMatchObject({ status: 'cancelled' })
    expect(result).not.toHaveProperty('inputRequests')
  })

  it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    'does not find an unknown task: %s',
    async method => {
      proves('X12d', 'X13d', 'X15', 'X15d')
      const client = connect(make())
      for (const taskId of ['x', '', '__proto__']) {
        const { error } = await client.request(method, { taskId, inputResponses: {} })
        expect(error).toMatchObject({ code: -32602, message: 'Task not found' })
      }
      expect((await client.request(method, {})).error).toMatchObject({ code: -32602 })
    },
  )

  it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    'needs the extension: %s',
    async method => {
      proves('X15b', 'X17d')
      const client = connect(make())
      const taskId = await start(client, 'quick')
      for (const capabilities of [{}, { tasks: {} }]) {
        const { error } = await client.request(method, { taskId, inputResponses: {} }, capabilities)
        expect(error).toMatchObject(missing)
      }
    },
  )

  it('lets a caller that declares core tasks alone read and cancel those', async () => {
    proves('X17f')
    const { server } = makeHeld()
    const session = await opened(server)
    const made = await session.request('tools/call', { name: 'held', task: {} })
    const { taskId } = (made.result?.task ?? {}) as { taskId?: string }
    const client = connect(server)
    const older = { tasks: {} }
    expect((await client.request('tasks/get', { taskId }, older)).result).toMatchObject({
      taskId,
      status: 'working',
    })
    const update = await client.request('tasks/update', { taskId, inputResponses: {} }, older)
    expect(update.error).toMatchObject(missing)
    expect(await client.request('tasks/cancel', { taskId }, older)).toHaveProperty('result')
    expect((await session.request('tasks/get', { taskId })).result?.status).toBe('cancelled')
  })

  it('does not find the tasks of other principals', async () => {
    proves('X18b')
    const { server } = makeHeld()
    const ada = connect(server, { principal: 'ada' })
    const taskId = await start(ada, 'held')
    for (const other of [connect(server, { principal: 'bob' }), connect(server)]) {
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const { error } = await other.request(method, { taskId, inputResponses: {} })
        expect(error).toMatchObject({ code: -32602, message: 'Task not found' })
      }
    }
    expect((await ada.request('tasks/get', { taskId })).result?.status).toBe('working')
  })
})

describe('a handler that begins its task itself', () => {
  function makeLater() {
    const server = make()
    const held = gate()
    server.tool(
      'later',
      {
        task: 'required',
        taskStart: 'in-handler',
        input: z.object({ fast: z.boolean().optional() }),
      },
      async ({ fast }, ctx) => {
        if (fast) return 'at once'
        expect(ctx.task).toBeUndefined()
        const { name } = await ctx.elicit({
          message: 'Who?',
          schema: z.object({ name: z.string() }),
        })
        await ctx.beginTask()
        await ctx.beginTask()
        const { ok } = await ctx.elicit({ message: 'Sure?', schema: asks, key: 'sure' })
        return `${name} ${ok} ${ctx.task?.id} ${await held.passed}`
      },
    )
    return { server, held }
  }

  it('sends input requests first, in rounds, and is a task after that', async () => {
    proves('X7', 'X5', 'X5b')
    const { server, held } = makeLater()
    const client = connect(server)
    const first = (await client.request('tools/call', { name: 'later' })).result
    expect(first).toMatchObject({ resultType: 'input_required' })
    expect(first).not.toHaveProperty('taskId')
    const [key = ''] = Object.keys(first?.inputRequests ?? {})
    const second = await client.request('tools/call', {
      name: 'later',
      requestState: first?.requestState,
      inputResponses: { [key]: { action: 'accept', content: { name: 'Ada' } } },
    })
    expect(second.result).toMatchObject({ resultType: 'task', status: 'working' })
    expect(second.result).not.toHaveProperty('requestState')
    expect(second.result).not.toHaveProperty('inputRequests')
    const taskId = second.result?.taskId as string
    const asking = await until(client, taskId, 'input_required')
    expect(Object.keys(asking?.inputRequests ?? {})).toEqual(['sure'])
    await client.request('tasks/update', { taskId, inputResponses: { sure: accept } })
    held.open('end')
    expect((await until(client, taskId, 'completed'))?.result).toMatchObject({
      content: [{ text: `Ada true ${taskId} end` }],
    })
  })

  it('may return without a task, or fail before it', async () => {
    const server = makeLater().server
    server.tool('fails', { task: 'optional', taskStart: 'in-handler' }, async () => {
      throw new RpcError(7, 'no')
    })
    const client = connect(server)
    const fast = { name: 'later', arguments: { fast: true } }
    expect((await client.request('tools/call', fast)).result).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'at once' }],
    })
    expect((await client.request('tools/call', { name: 'fails' })).error).toMatchObject({ code: 7 })
  })

  it('is cancelled as a request before, and as a task after', async () => {
    const server = make()
    const signals: AbortSignal[] = []
    const held = gate()
    server.tool('waits', { task: 'optional', taskStart: 'in-handler' }, async (_, ctx) => {
      signals.push(ctx.signal)
      await held.passed
      await ctx.beginTask()
      return new Promise(() => {})
    })
    const client = connect(server)
    const meta = {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientCapabilities': withTasks,
    }
    const first = client.begin('tools/call', { name: 'waits', _meta: meta })
    const second = client.begin('tools/call', { name: 'waits', _meta: meta })
    await vi.waitFor(() => expect(signals).toHaveLength(2), pollOptions)
    client.send({ method: 'notifications/cancelled', params: { requestId: first } })
    await turn()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    held.open('')
    const taskId = (await client.reply(second)).result?.taskId
    await client.request('tasks/cancel', { taskId })
    expect(signals[1]?.aborted).toBe(true)
  })

  it('is a plain handler where there are no tasks', async () => {
    const server = make()
    server.tool('later', { task: 'optional', taskStart: 'in-handler' }, async (_, ctx) => {
      await ctx.beginTask()
      return `${ctx.task}`
    })
    const client = connect(server)
    expect((await client.request('tools/call', { name: 'later' }, {})).result).toMatchObject({
      content: [{ text: 'undefined' }],
    })
    const session = await opened(server)
    const made = await session.request('tools/call', { name: 'later', task: {} })
    expect(made.result).toHaveProperty('task')
  })
})
