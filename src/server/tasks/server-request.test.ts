import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { proves } from '../../../test/requirements.ts'
import { pollOptions } from '../../../test/support/poll-options.ts'
import { opened, type RawClient, type WireMessage } from '../../../test/support/raw-client.ts'
import { turn } from '../../../test/support/wire.ts'
import { systemClock } from '../../util/time/clock.ts'
import { inputRequired } from '../input/input-required.ts'
import { Server } from '../server.ts'

const related = 'io.modelcontextprotocol/related-task'
const accept = { action: 'accept', content: { ok: true } }
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const asks = z.object({ ok: z.boolean() })

function make() {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  server.tool('confirm', { task: 'optional' }, async (_, ctx) => {
    const { ok } = await ctx.elicit({ message: 'Sure?', schema: asks })
    return `sure: ${ok}`
  })
  server.tool('both', { task: 'optional' }, async (_, ctx) => {
    const [first, second] = await Promise.all([
      ctx.elicit({ message: 'One?', schema: asks }),
      ctx.elicit({ message: 'Two?', schema: asks }),
    ])
    return `${first.ok} ${second.ok}`
  })
  server.tool('returns', { task: 'optional' }, (_, ctx) => {
    const answer = ctx.answers.get('sure')
    if (answer !== undefined) return `${JSON.stringify(answer)} ${ctx.state}`
    const params = {
      message: 'Sure?',
      requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
    } as const
    return inputRequired({ sure: { method: 'elicitation/create', params } }, 'kept')
  })
  return server
}

async function start(client: RawClient, name: string): Promise<string> {
  const { result } = await client.request('tools/call', { name, task: {} })
  return (result as { task: { taskId: string } }).task.taskId
}

const isQuestion = ({ method }: WireMessage) => method === 'elicitation/create'
const statuses = (client: RawClient) =>
  client
    .received()
    .filter(({ method }) => method === 'notifications/tasks/status')
    .map(({ params }) => params?.status)

describe('server requests of a task, in a session', () => {
  it('set the status input_required until they are answered', async () => {
    proves('K7', 'K7b', 'K7d', 'K6', 'K11')
    const client = await opened(make(), { capabilities })
    const taskId = await start(client, 'confirm')
    const request = await client.next(isQuestion)
    expect(request.params).toMatchObject({ message: 'Sure?', _meta: { [related]: { taskId } } })
    expect((await client.request('tasks/get', { taskId })).result).toMatchObject({
      status: 'input_required',
    })
    client.send({ id: request.id, result: accept })
    expect((await client.request('tasks/result', { taskId })).result).toMatchObject({
      content: [{ text: 'sure: true' }],
    })
    expect(statuses(client)).toEqual(['input_required', 'working', 'completed'])
  })

  it('works again only when every server request is answered', async () => {
    const client = await opened(make(), { capabilities })
    const taskId = await start(client, 'both')
    const one = await client.next(isQuestion)
    const two = await client.next(isQuestion)
    client.send({ id: one.id, result: accept })
    await turn()
    expect((await client.request('tasks/get', { taskId })).result?.status).toBe('input_required')
    client.send({ id: two.id, result: accept })
    expect((await client.request('tasks/result', { taskId })).result).toMatchObject({
      content: [{ text: 'true true' }],
    })
  })

  it('runs a handler again that returns input requests', async () => {
    const client = await opened(make(), { capabilities, answer: () => accept })
    const taskId = await start(client, 'returns')
    expect((await client.request('tasks/result', { taskId })).result).toMatchObject({
      content: [{ text: `${JSON.stringify(accept)} kept` }],
    })
  })

  it('include sampling and roots', async () => {
    proves('K7b')
    const server = make()
    server.tool('more', { task: 'optional' }, async (_, ctx) => {
      const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }] as const
      const sample = await ctx.sample({ messages, maxTokens: 5 })
      const roots = await ctx.roots()
      return `${sample.model} ${roots.length}`
    })
    const metas: unknown[] = []
    const client = await opened(server, {
      capabilities,
      answer: ({ method, params }) => {
        metas.push(params?._meta)
        if (method === 'roots/list') return { roots: [{ uri: 'file:///work' }] }
        return { role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'm' }
      },
    })
    const taskId = await start(client, 'more')
    expect((await client.request('tasks/result', { taskId })).result).toMatchObject({
      content: [{ text: 'm 1' }],
    })
    const _meta = { [related]: { taskId } }
    expect(metas).toEqual([_meta, _meta])
  })

  it('cancels its server request when it is cancelled', async () => {
    proves('K14b')
    const client = await opened(make(), { capabilities })
    const taskId = await start(client, 'confirm')
    const request = await client.next(isQuestion)
    await client.request('tasks/cancel', { taskId })
    const { params } = await client.next(({ method }) => method === 'notifications/cancelled')
    expect(params).toMatchObject({ requestId: request.id })
    expect((await client.request('tasks/get', { taskId })).result?.status).toBe('cancelled')
  })

  it('are sent again over the connection that comes for the result when the first is lost', async () => {
    const server = make()
    const first = await opened(server, { capabilities })
    const taskId = await start(first, 'confirm')
    await first.next(isQuestion)
    first.disconnect()
    await first.session.closed
    const second = await opened(server, { capabilities, answer: () => accept })
    expect((await second.request('tasks/get', { taskId })).result?.status).toBe('input_required')
    expect((await second.request('tasks/result', { taskId })).result).toMatchObject({
      content: [{ text: 'sure: true' }],
    })
  })

  it('fails with the error of the client where the client rejects the request', async () => {
    const client = await opened(make(), { capabilities, answer: () => ({ action: 'decline' }) })
    const taskId = await start(client, 'confirm')
    expect((await client.request('tasks/result', { taskId })).result).toMatchObject({
      isError: true,
    })
  })
})

/** A client that answers a server request as a task; `look` are the results of `tasks/get`, in order. */
function taskClient(looks: object[], methods: string[]) {
  return (request: WireMessage): object => {
    const { method = '', params } = request
    methods.push(method)
    const task = {
      taskId: 't',
      createdAt: new Date().toISOString(),
      lastUpdatedAt: new Date().toISOString(),
      ttl: 1000,
      pollInterval: 1,
    }
    if (params?.task !== undefined) return { task: { ...task, status: 'working' } }
    if (method === 'tasks/get') return { ...task, ...looks.shift() }
    if (method === 'tasks/result') return { ...accept, _meta: { [related]: { taskId: 't' } } }
    return { ...task, status: 'cancelled' }
  }
}

const answersTasks = {
  ...capabilities,
  tasks: { requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } },
}

function makeAsking() {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  server.tool('ask', {}, async (_, ctx) => {
    const { ok } = await ctx.elicit({ message: 'Sure?', schema: asks, task: { ttlMs: 1000 } })
    return `sure: ${ok}`
  })
  return server
}

describe('a server request that the client answers as a task', () => {
  it('is sent as one where the client declares it, polled, and fetched', async () => {
    proves('K2', 'K8e', 'K11c', 'K12')
    const methods: string[] = []
    const looks = [{ status: 'working' }, { status: 'completed' }]
    const answer = taskClient(looks, methods)
    const wishes: unknown[] = []
    const client = await opened(makeAsking(), {
      capabilities: answersTasks,
      answer: request => {
        if (request.method === 'elicitation/create') wishes.push(request.params?.task)
        else expect(request.params).toEqual({ taskId: 't' })
        return answer(request)
      },
    })
    expect((await client.request('tools/call', { name: 'ask' })).result).toMatchObject({
      content: [{ text: 'sure: true' }],
    })
    expect(wishes).toEqual([{ ttl: 1000 }])
    expect(methods).toEqual(['elicitation/create', 'tasks/get', 'tasks/get', 'tasks/result'])
  })

  it('is fetched at once when the client requires input first', async () => {
    proves('K7c')
    const methods: string[] = []
    const client = await opened(makeAsking(), {
      capabilities: answersTasks,
      answer: taskClient([{ status: 'input_required' }], methods),
    })
    await client.request('tools/call', { name: 'ask' })
    expect(methods).toEqual(['elicitation/create', 'tasks/get', 'tasks/result'])
  })

  it('is polled after the interval that the client wishes, or when the client reports a change', async () => {
    proves('K8d')
    const methods: string[] = []
    const answer = taskClient([{ status: 'completed' }], methods)
    const client = await opened(makeAsking(), {
      capabilities: answersTasks,
      answer: request => {
        const said = answer(request) as { task?: object }
        return 'task' in said ? { task: { ...said.task, pollInterval: 3_600_000 } } : said
      },
    })
    const call = client.begin('tools/call', { name: 'ask' })
    await vi.waitFor(() => {
      client.received()
      expect(methods).toEqual(['elicitation/create'])
    }, pollOptions)
    await turn()
    client.send({
      method: 'notifications/tasks/status',
      params: { taskId: 't', status: 'completed' },
    })
    expect((await client.reply(call)).result).toMatchObject({ content: [{ text: 'sure: true' }] })
  })

  it('is not polled continuously when the client wishes for more than a timer can wait', async () => {
    const methods: string[] = []
    const answer = taskClient([], methods)
    const delays = vi.spyOn(systemClock, 'start')
    const client = await opened(makeAsking(), {
      capabilities: answersTasks,
      answer: request => {
        const said = answer(request) as { task?: object }
        return 'task' in said ? { task: { ...said.task, pollInterval: 1e12 } } : said
      },
    })
    const call = client.begin('tools/call', { name: 'ask' })
    await vi.waitFor(() => {
      client.received()
      expect(methods).toEqual(['elicitation/create'])
    }, pollOptions)
    await turn()
    expect(delays.mock.lastCall?.[1]).toBe(0x7fffffff)
    client.send({ method: 'notifications/cancelled', params: { requestId: call } })
    delays.mockRestore()
  })

  it('is a plain request for a client that does not declare it, or answers at once', async () => {
    proves('K2', 'K3')
    const wishes: unknown[] = []
    const answer = ({ params }: WireMessage) => {
      wishes.push(params?.task)
      return accept
    }
    for (const declared of [capabilities, answersTasks]) {
      const client = await opened(makeAsking(), { capabilities: declared, answer })
      expect((await client.request('tools/call', { name: 'ask' })).result).toMatchObject({
        content: [{ text: 'sure: true' }],
      })
    }
    expect(wishes).toEqual([undefined, { ttl: 1000 }])
  })

  it('is cancelled with the call that sent it', async () => {
    const methods: string[] = []
    const client = await opened(makeAsking(), {
      capabilities: answersTasks,
      answer: taskClient([], methods),
    })
    const call = client.begin('tools/call', { name: 'ask' })
    await vi.waitFor(() => {
      client.received()
      expect(methods).toContain('elicitation/create')
    }, pollOptions)
    await turn()
    client.send({ method: 'notifications/cancelled', params: { requestId: call } })
    await vi.waitFor(() => {
      client.received()
      expect(methods).toContain('tasks/cancel')
    }, pollOptions)
  })

  it('fails when the client has cancelled it', async () => {
    const client = await opened(makeAsking(), {
      capabilities: answersTasks,
      answer: taskClient([{ status: 'cancelled' }], []),
    })
    expect((await client.request('tools/call', { name: 'ask' })).error).toMatchObject({
      message: 'Task cancelled',
    })
  })
})
