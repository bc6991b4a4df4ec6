import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  type Answer,
  type Loose,
  never,
  type ScriptedServer,
  sessionServer,
  statelessServer,
  turns,
} from '../../../test/support/scripted-server.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { openClient } from '../client.ts'
import type { ClientOptions } from '../options.ts'
import type { TaskUpdate } from './task.ts'

const quiet = { onError: () => {} }
const times = { createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z' }
const done = { content: [{ type: 'text', text: 'done' }] }

/** The two task designs, each with its own member names. */
const designs = {
  core: {
    server: sessionServer.bind(null, '2025-11-25'),
    created: (task: object) => ({
      task: { taskId: 't1', ttl: 1, pollInterval: 500, ...times, ...task },
    }),
    task: (task: object) => ({ taskId: 't1', ttl: 1, pollInterval: 500, ...times, ...task }),
  },
  extension: {
    server: statelessServer,
    created: (task: object) => ({
      resultType: 'task',
      taskId: 't1',
      ttlMs: 1,
      pollIntervalMs: 500,
      ...times,
      ...task,
    }),
    task: (task: object) => ({
      resultType: 'complete',
      taskId: 't1',
      ttlMs: 1,
      pollIntervalMs: 500,
      ...times,
      ...task,
    }),
  },
} as const

describe.each(Object.entries(designs))('tasks of the %s', (name, design) => {
  const isCore = name === 'core'
  const completed = { status: 'completed', ...(!isCore && { result: done }) }

  /** A server whose task has one state after the other, the last one for good. */
  function tasked(states: readonly object[], extra: Readonly<Record<string, Answer>> = {}) {
    let looks = 0
    return design.server({
      'tools/call': () => design.created({ status: 'working' }),
      'tasks/get': () => design.task(states[Math.min(looks++, states.length - 1)] as object),
      ...(isCore && { 'tasks/result': () => done }),
      ...extra,
    })
  }

  async function started(server: ScriptedServer, options: ClientOptions = {}) {
    const clock = fakeClock()
    const client = await openClient(server.dial, { clock, ...quiet, ...options })
    const task = await client.start('slow', { n: 1 }, { ttlMs: 9000 })
    const wait = async (ms: number) => {
      await turns()
      clock.advance(ms)
      await turns()
    }
    return { client, task, wait, clock }
  }

  it('are started, polled, and return their result', async () => {
    proves('K8d', 'X8', 'X8b')
    const server = tasked([{ status: 'working' }, { status: 'working' }, completed])
    const { client, task, wait } = await started(server)
    expect(task).toMatchObject({ id: 't1', status: 'working' })
    const [call] = server.sent('tools/call')
    expect(call).toMatchObject({ name: 'slow', arguments: { n: 1 } })
    expect(call.task).toEqual(isCore ? { ttl: 9000 } : undefined)
    await turns()
    expect(server.sent('tasks/get')).toHaveLength(0)
    const result = task.result()
    await wait(499)
    expect(server.sent('tasks/get')).toHaveLength(1)
    await wait(20)
    expect(server.sent('tasks/get')).toHaveLength(2)
    await wait(520)
    expect(await result).toMatchObject({ text: 'done', isError: false })
    expect(await task.result()).toMatchObject({ text: 'done' })
    expect(task.status).toBe('completed')
    expect(server.sent('tasks/get')).toHaveLength(3)
    expect(server.sent('tasks/get')[0]).toMatchObject({ taskId: 't1' })
    await client.close()
  })

  it('are polled once for all waiting callers, and not without any', async () => {
    const server = tasked([{ status: 'working' }])
    const { client, task, wait } = await started(server)
    const giveUp = new AbortController()
    const waiting = [
      task.result({ signal: giveUp.signal }).catch(e => e),
      task.result({ timeoutMs: 700 }).catch(e => e),
    ]
    await wait(0)
    expect(server.sent('tasks/get')).toHaveLength(1)
    giveUp.abort('enough')
    expect(await waiting[0]).toBe('enough')
    await wait(720)
    expect(await waiting[1]).toMatchObject({ code: 'timeout' })
    const looks = server.sent('tasks/get').length
    await wait(10_000)
    expect(server.sent('tasks/get')).toHaveLength(looks)
    expect(server.methods()).not.toContain('tasks/cancel')
    await client.close()
  })

  it('are polled when the server notifies a change', async () => {
    const server = tasked([{ status: 'working' }, completed])
    const { client, task, wait } = await started(server)
    const result = task.result()
    await wait(0)
    const method = isCore ? 'notifications/tasks/status' : 'notifications/tasks'
    server.notify(method, { taskId: 'other', status: 'completed' })
    await turns()
    expect(server.sent('tasks/get')).toHaveLength(1)
    server.notify(method, { taskId: 't1', status: 'completed' })
    expect(await result).toMatchObject({ text: 'done' })
    await client.close()
  })

  it('yield their updates', async () => {
    const server = tasked([
      { status: 'working', statusMessage: 'half way' },
      { status: 'working', statusMessage: 'half way' },
      completed,
    ])
    const { client, task, wait } = await started(server)
    const seen: TaskUpdate[] = []
    const loop = (async () => {
      for await (const update of task.updates) seen.push(update)
    })()
    for (let i = 0; i < 4; i++) await wait(520)
    await loop
    expect(seen).toEqual([
      { status: 'working', message: undefined },
      { status: 'working', message: 'half way' },
      { status: 'completed', message: undefined },
    ])
    await client.close()
  })

  it('reject with the error they failed with', async () => {
    const error = { code: -32603, message: 'out of paper', data: { tray: 2 } }
    const server = tasked([{ status: 'failed', ...(!isCore && { error }) }], {
      'tasks/result': () => {
        throw new RpcError(error.code, error.message, { data: error.data })
      },
    })
    const { client, task } = await started(server)
    const failure = await task.result().catch(e => e)
    expect(failure).toBeInstanceOf(RpcError)
    expect(failure).toMatchObject({ ...error, kind: 'internal_error' })
    expect(task.status).toBe('failed')
    await client.close()
  })

  it('reject if the server has dropped them', async () => {
    const server = tasked([{}], {
      'tasks/get': () => {
        throw new RpcError(-32602, 'Task not found')
      },
    })
    const { client, task } = await started(server)
    await expect(task.result()).rejects.toMatchObject({ code: -32602 })
    await expect(
      (async () => {
        for await (const _ of task.updates);
      })(),
    ).rejects.toMatchObject({ code: -32602 })
    await client.close()
  })

  it('reject when they are cancelled', async () => {
    let status = 'working'
    const server = tasked([{}], {
      'tasks/get': () => design.task({ status }),
      'tasks/cancel': () => {
        status = 'cancelled'
        return isCore ? design.task({ status }) : { resultType: 'complete' }
      },
    })
    const { client, task, wait } = await started(server)
    const result = task.result().catch(e => e)
    await wait(0)
    await task.cancel()
    expect(await result).toMatchObject({ kind: 'task_cancelled', data: { taskId: 't1' } })
    expect(task.status).toBe('cancelled')
    await client.close()
  })

  it('are cancelled even if the server drops them at once', async () => {
    proves('K14e')
    let isThere = true
    const server = tasked([{}], {
      'tasks/get': () => {
        if (isThere) return design.task({ status: 'working' })
        throw new RpcError(-32602, 'Task not found')
      },
      'tasks/cancel': () => {
        isThere = false
        return isCore ? design.task({ status: 'cancelled' }) : { resultType: 'complete' }
      },
    })
    const { client, task, wait } = await started(server)
    const before = task.result().catch(e => e)
    await wait(0)
    await task.cancel()
    expect(await before).toMatchObject({ kind: 'task_cancelled' })
    await expect(task.result()).rejects.toMatchObject({ kind: 'task_cancelled' })
    expect(task.status).toBe('cancelled')
    await client.close()
  })

  it('that have finished need not be cancelled', async () => {
    const server = tasked([completed], {
      'tasks/cancel': () => {
        throw new RpcError(-32602, 'the task is over')
      },
    })
    const { client, task } = await started(server)
    await task.cancel()
    expect(task.status).toBe('completed')
    await client.close()
  })

  it('survive a lost connection', async () => {
    const server = tasked([{ status: 'working' }, { status: 'working' }, completed])
    const { client, task, wait } = await started(server)
    const result = task.result()
    await wait(0)
    await server.disconnect()
    await wait(520)
    await wait(520)
    expect(await result).toMatchObject({ text: 'done' })
    await client.close()
  })

  it('can be resumed by their id', async () => {
    const server = tasked([{ status: 'working' }, completed])
    const clock = fakeClock()
    await using client = await openClient(server.dial, { clock, ...quiet })
    const task = await client.task('t1')
    expect(task).toMatchObject({ id: 't1', status: 'working' })
    expect(await task.result()).toMatchObject({ text: 'done' })
  })

  it('may finish at once', async () => {
    const server = tasked([], { 'tools/call': () => done })
    const { client, task } = await started(server)
    expect(task).toMatchObject({ id: undefined, status: 'completed' })
    expect((await task.result()).text).toBe('done')
    const seen: TaskUpdate[] = []
    for await (const update of task.updates) seen.push(update)
    expect(seen).toHaveLength(1)
    await task.cancel()
    await client.close()
  })

  it('are polled within limits', async () => {
    const server = tasked([
      { status: 'working', pollInterval: 0, pollIntervalMs: 0 },
      { status: 'working', pollInterval: 'x', pollIntervalMs: -5 },
      completed,
    ])
    const { client, task, wait } = await started(server)
    const result = task.result()
    await wait(50)
    expect(server.sent('tasks/get')).toHaveLength(1)
    await wait(70)
    expect(server.sent('tasks/get')).toHaveLength(2)
    await wait(1020)
    await result
    await client.close()
  })

  it('are refused if the server does not support them', async () => {
    proves('S10e')
    const server = design.server({}, { capabilities: { tools: {} } })
    await using client = await openClient(server.dial, quiet)
    await expect(client.start('x')).rejects.toMatchObject({ code: 'refused' })
    expect(server.methods()).not.toContain('tools/call')
  })
})

describe('a session task with server requests', () => {
  it('receives them while its result is awaited', async () => {
    let status = 'input_required'
    const server = sessionServer('2025-11-25', {
      'tools/call': () => designs.core.created({ status }),
      'tasks/get': () => designs.core.task({ status }),
      'tasks/result': async (_, { exchange }) => {
        const answer: Loose = await exchange.back?.call('roots/list')
        status = 'completed'
        return { content: [{ type: 'text', text: answer.roots[0].uri }] }
      },
    })
    await using client = await openClient(server.dial, { roots: [{ uri: 'file:///x' }], ...quiet })
    const task = await client.start('x')
    expect((await task.result()).text).toBe('file:///x')
    expect(task.status).toBe('completed')
  })
})

describe('an extension task with input requests', () => {
  const request = { method: 'roots/list' }
  const asking = (keys: readonly string[]) =>
    designs.extension.task({
      status: 'input_required',
      inputRequests: Object.fromEntries(keys.map(key => [key, request])),
    })

  it('has each of them handled once', async () => {
    proves('X10d')
    const clock = fakeClock()
    const answered: string[] = []
    const states = [['a'], ['a', 'b'], ['b']]
    const server = statelessServer({
      'tools/call': () => designs.extension.created({ status: 'working' }),
      'tasks/get': () => {
        const keys = states.shift()
        if (keys !== undefined) return asking(keys)
        return designs.extension.task({ status: 'completed', result: done })
      },
      'tasks/update': ({ inputResponses, taskId }) => {
        expect(taskId).toBe('t1')
        answered.push(...Object.keys(inputResponses as object))
        return { resultType: 'complete' }
      },
    })
    await using client = await openClient(server.dial, { clock, roots: [] })
    const result = (await client.start('x')).result()
    for (let i = 0; i < 4; i++) {
      await turns()
      clock.advance(520)
    }
    expect((await result).text).toBe('done')
    expect(answered).toEqual(['a', 'b'])
  })

  it('rejects if one is not supported', async () => {
    const server = statelessServer({
      'tools/call': () => designs.extension.created({ status: 'working' }),
      'tasks/get': () => asking(['a']),
    })
    await using client = await openClient(server.dial)
    const task = await client.start('x')
    await expect(task.result()).rejects.toMatchObject({ code: 'refused' })
  })
})

describe('a call that becomes a task unasked', () => {
  const becoming = (state: object, extra: Readonly<Record<string, Answer>> = {}) =>
    statelessServer({
      'tools/call': () => designs.extension.created({ status: 'working' }),
      'tasks/get': () => designs.extension.task(state),
      ...extra,
    })

  it('is waited for like any other', async () => {
    const server = becoming({ status: 'completed', result: { ...done, isError: true } })
    await using client = await openClient(server.dial)
    expect(await client.call('x')).toMatchObject({ text: 'done', isError: true })
  })

  it('is cancelled when the caller gives up', async () => {
    proves('X13c')
    const server = becoming({ status: 'working' }, { 'tasks/cancel': () => ({}) })
    await using client = await openClient(server.dial)
    const giveUp = new AbortController()
    const call = client.call('x', {}, { signal: giveUp.signal }).catch(e => e)
    await turns()
    giveUp.abort('enough')
    expect(await call).toBe('enough')
    await turns()
    expect(server.sent('tasks/cancel')).toHaveLength(1)
    expect(server.sent('notifications/cancelled')).toEqual([])
  })

  it('is cancelled when it takes too long altogether', async () => {
    const clock = fakeClock()
    const server = becoming({ status: 'working' }, { 'tasks/cancel': () => ({}) })
    await using client = await openClient(server.dial, { clock })
    const call = client.call('x', {}, { maxTotalMs: 5000 }).catch(e => e)
    await turns()
    clock.advance(5100)
    expect(await call).toMatchObject({ code: 'timeout' })
    await turns()
    expect(server.sent('tasks/cancel')).toHaveLength(1)
  })
})

describe('the list of tasks', () => {
  it('is followed page by page', async () => {
    const server = sessionServer('2025-11-25', {
      'tasks/list': ({ cursor }) =>
        cursor === undefined
          ? { tasks: [{ taskId: 'a' }], nextCursor: 'x' }
          : { tasks: [{ taskId: 'b' }] },
    })
    await using client = await openClient(server.dial, quiet)
    const ids: string[] = []
    for await (const { taskId } of client.tasks()) ids.push(taskId)
    expect(ids).toEqual(['a', 'b'])
  })
})

describe('a server request as a task', () => {
  const wish = { messages: [], maxTokens: 1, task: { ttl: 60_000 } }
  const said = { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' } as const

  async function connected(options: ClientOptions) {
    const clock = fakeClock()
    const server = sessionServer('2025-11-25', { 'notifications/tasks/status': () => {} })
    const client = await openClient(server.dial, { clock, ...quiet, ...options })
    const ask = async (method: string, params: object): Promise<Loose> =>
      await server.peer.call(method, params).catch(error => error)
    return { server, client, ask, clock }
  }

  it('returns the task, and then the result', async () => {
    let say: (words: typeof said) => void = () => {}
    const sample = () =>
      new Promise<typeof said>(resolve => {
        say = resolve
      })
    const { server, client, ask } = await connected({ sample })
    expect(server.sent('initialize')[0].capabilities.tasks).toEqual({
      list: {},
      cancel: {},
      requests: { sampling: { createMessage: {} } },
    })
    const { task } = await ask('sampling/createMessage', wish)
    expect(task).toMatchObject({ status: 'working', ttl: 60_000 })
    const { taskId } = task
    expect(await ask('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' })
    expect((await ask('tasks/list', {})).tasks).toHaveLength(1)
    const result = ask('tasks/result', { taskId })
    await turns()
    say(said)
    expect(await result).toMatchObject({
      ...said,
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    })
    expect(await ask('tasks/get', { taskId })).toMatchObject({ status: 'completed' })
    expect(await ask('tasks/cancel', { taskId })).toMatchObject({ code: -32602 })
    await turns()
    expect(server.sent('notifications/tasks/status')[0]).toMatchObject({ status: 'completed' })
    await client.close()
  })

  it('can be cancelled', async () => {
    let stopped = false
    const { client, ask } = await connected({
      sample: (_, { signal }) => {
        signal.addEventListener('abort', () => {
          stopped = true
        })
        return never()
      },
    })
    const { task } = await ask('sampling/createMessage', wish)
    const { taskId } = task
    const result = ask('tasks/result', { taskId })
    expect(await ask('tasks/cancel', { taskId })).toMatchObject({ status: 'cancelled' })
    expect(stopped).toBe(true)
    expect(await result).toMatchObject({ data: { taskId } })
    await client.close()
  })

  it('fails with an RpcError of the handler, and with no other error', async () => {
    const onError = vi.fn()
    const mean = new RpcError(-1, 'rejected')
    const errors: unknown[] = [mean, new Error('the key is 1234')]
    const { client, ask } = await connected({
      sample: () => {
        throw errors.shift()
      },
      onError,
    })
    onError.mockClear()
    const outcomes: Loose[] = []
    for (let i = 0; i < 2; i++) {
      const { task } = await ask('sampling/createMessage', wish)
      outcomes.push(await ask('tasks/result', { taskId: task.taskId }))
      const state = await ask('tasks/get', { taskId: task.taskId })
      expect(state.status).toBe('failed')
    }
    expect(outcomes.map(({ code }) => code)).toEqual([-1, -32603])
    expect(JSON.stringify(outcomes)).not.toContain('1234')
    expect(onError).toHaveBeenCalledTimes(1)
    await client.close()
  })

  it('is dropped when it expires', async () => {
    const { client, ask, clock } = await connected({ sample: () => said })
    const { task } = await ask('sampling/createMessage', wish)
    clock.advance(60_100)
    expect(await ask('tasks/get', { taskId: task.taskId })).toMatchObject({ code: -32602 })
    await client.close()
  })

  it('is refused like any other, and if there are too many', async () => {
    const { client, ask } = await connected({ sample: never })
    expect(await ask('sampling/createMessage', { task: {} })).toMatchObject({ code: -32602 })
    expect(await ask('elicitation/create', { task: {} })).toMatchObject({ code: -32601 })
    for (let i = 0; i < 64; i++) await ask('sampling/createMessage', wish)
    expect(await ask('sampling/createMessage', wish)).toBeInstanceOf(RpcError)
    for (const taskId of ['unknown', 7, undefined]) {
      expect(await ask('tasks/get', { taskId })).toMatchObject({ code: -32602 })
    }
    await client.close()
  })

  it('is an ordinary one if tasks were not declared', async () => {
    const { client, ask } = await connected({ sample: () => said, tasks: false })
    expect(await ask('sampling/createMessage', wish)).toEqual(said)
    expect(await ask('tasks/list', {})).toMatchObject({ code: -32601 })
    await client.close()
  })

  it('leaves no timer behind', async () => {
    const { client, ask, clock } = await connected({ sample: () => said })
    await ask('sampling/createMessage', wish)
    await client.close()
    clock.advance(100)
    clock.advance(3600_000)
    expect(clock.pending).toBe(0)
  })
})
