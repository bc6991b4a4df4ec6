import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  gate,
  opened,
  type RawClient,
  rawClient,
  withTasks,
} from '../../../test/support/raw-client.ts'
import { turn } from '../../../test/support/wire.ts'
import { withJsonSchema } from '../../mcp/schema/convert.ts'
import type { ServerOptions } from '../options.ts'
import { Server } from '../server.ts'
import { MemoryTaskStore } from './memory-store.ts'
import type { TaskRecord } from './store.ts'

const revision = '2026-07-28'

const envelope = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientCapabilities': withTasks,
  'io.modelcontextprotocol/logLevel': 'debug',
  progressToken: 'p',
}

function make(options: ServerOptions = {}) {
  return new Server({ name: 'test', version: '1' }, { onError: () => {}, ...options })
}

function cancel(client: RawClient, requestId: number): void {
  client.send({ method: 'notifications/cancelled', params: { requestId } })
}

describe('a call that is cancelled before it is a task', () => {
  it('leaves none behind while the store takes its time', async () => {
    const kept = gate()
    const memory = new MemoryTaskStore()
    const store = {
      add: (record: TaskRecord) => kept.passed.then(() => memory.add(record)),
      get: (id: string) => memory.get(id),
      put: (record: TaskRecord) => memory.put(record),
      list: () => [],
    }
    const server = make({ tasks: { store } })
    const work = vi.fn()
    server.tool('work', { task: 'required' }, work)
    const client = rawClient(server, revision)
    cancel(client, client.begin('tools/call', { name: 'work', _meta: envelope }))
    kept.open('')
    await turn()
    await turn()
    expect(work).not.toHaveBeenCalled()
    expect(client.received()).toEqual([])
  })

  it('is not begun by a handler that runs after its arguments were checked', async () => {
    const server = make()
    const checked = gate()
    const begun = vi.fn()
    const schema = withJsonSchema(
      {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: (value: unknown) => checked.passed.then(() => ({ value })),
        },
      },
      { type: 'object' },
    )
    const definition = { task: 'optional', taskStart: 'in-handler', input: schema } as const
    server.tool('later', definition, async (_, ctx) => {
      await ctx.beginTask()
      begun()
    })
    const client = rawClient(server, revision)
    cancel(client, client.begin('tools/call', { name: 'later', _meta: envelope }))
    checked.open('')
    await turn()
    await turn()
    expect(begun).not.toHaveBeenCalled()
  })

  it('sends nothing more', async () => {
    const server = make()
    const held = gate()
    server.tool('later', { task: 'optional', taskStart: 'in-handler' }, async (_, ctx) => {
      await held.passed
      ctx.progress(1)
      ctx.log('error', 'late')
      return 'late'
    })
    const client = rawClient(server, revision)
    cancel(client, client.begin('tools/call', { name: 'later', _meta: envelope }))
    held.open('')
    await turn()
    expect(client.received()).toEqual([])
  })
})

it.each([
  ['ttlMs', Number.NaN],
  ['ttlMs', Number.POSITIVE_INFINITY],
  ['maxTtlMs', -1],
  ['pollMs', 0],
  ['max', 0],
  ['maxPerCaller', Number.NaN],
])('tasks cannot be kept with a %s of %d', (name, value) => {
  expect(() => make({ tasks: { [name]: value } })).toThrow(
    `option "tasks.${name}" must be a number > 0`,
  )
})

describe('the end of a server', () => {
  it('ends tasks that begin while requests in flight are waited for', async () => {
    const server = make()
    const held = gate()
    const signals: AbortSignal[] = []
    server.tool('later', { task: 'optional', taskStart: 'in-handler' }, async (_, ctx) => {
      signals.push(ctx.signal)
      await held.passed
      await ctx.beginTask()
      return new Promise(() => {})
    })
    const client = rawClient(server, revision)
    const call = client.begin('tools/call', { name: 'later', _meta: envelope })
    const closed = server.close()
    held.open('')
    expect((await client.reply(call)).result).toMatchObject({ resultType: 'task' })
    await closed
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })
})

describe('a task whose failure is reported', () => {
  afterEach(() => void vi.restoreAllMocks())

  it('ends even if the report itself throws', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    const server = make({
      onError: () => {
        throw new Error('the log is full')
      },
    })
    const output = { type: 'object', required: ['n'] } as const
    server.tool('wrong', { task: 'required', output }, () => ({}) as never)
    const client = await opened(server)
    const { result } = await client.request('tools/call', { name: 'wrong', task: {} })
    const { task } = result as { task: { taskId: string } }
    const { taskId } = task
    expect((await client.request('tasks/result', { taskId })).error).toMatchObject({ code: -32603 })
  })
})
