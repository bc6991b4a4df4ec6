import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { openClient } from '../../src/client/client.ts'
import type { ClientOptions } from '../../src/client/options.ts'
import { RpcError } from '../../src/jsonrpc/error.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import { Server } from '../../src/server/server.ts'
import type { TaskRecord, TaskStore } from '../../src/server/tasks/store.ts'
import { memoryPair } from '../../src/transport/memory.ts'
import { proves } from '../requirements.ts'
import { pollOptions } from '../support/poll-options.ts'
import { gate } from '../support/raw-client.ts'

const asks = z.object({ ok: z.boolean() })

function make(store?: TaskStore) {
  const server = new Server(
    { name: 'test', version: '1' },
    { onError: () => {}, tasks: { pollMs: 100, store } },
  )
  const held = gate()
  const signals: AbortSignal[] = []
  server.tool('held', { task: 'optional' }, async (_, ctx) => {
    signals.push(ctx.signal)
    ctx.task?.message('begun')
    return held.passed
  })
  server.tool('confirm', { task: 'optional' }, async (_, ctx) => {
    const { ok } = await ctx.elicit({ message: 'Sure?', schema: asks })
    return `sure: ${ok}, task: ${ctx.task !== undefined}`
  })
  server.tool('broken', { task: 'optional' }, () => {
    throw new Error('out of paper')
  })
  server.tool('refuses', { task: 'optional' }, () => {
    throw new RpcError(7, 'no')
  })
  server.tool('later', { task: 'optional', taskStart: 'in-handler' }, async (_, ctx) => {
    const first = await ctx.elicit({ message: 'First?', schema: asks })
    await ctx.beginTask()
    const second = await ctx.elicit({ message: 'Second?', schema: asks })
    return `${first.ok} ${second.ok}`
  })
  return { server, held, signals }
}

function connect(server: Server, revision: RevisionName, options: ClientOptions = {}) {
  const dial = async () => {
    const [near, far] = memoryPair()
    server.attach(far)
    return near
  }
  return openClient(dial, { revisions: [revision], onError: () => {}, ...options })
}

const yes = () => ({ action: 'accept', content: { ok: true } }) as const

describe.each(['2025-11-25', '2026-07-28'] as const)(
  'tasks between our client and server in %s',
  revision => {
    it('are started, followed and fetched', async () => {
      const { server, held } = make()
      await using client = await connect(server, revision)
      const task = await client.start('held')
      expect(task.id).toEqual(expect.any(String))
      const seen: unknown[] = []
      const following = (async () => {
        for await (const { status, message } of task.updates) seen.push([status, message])
      })()
      await vi.waitFor(() => expect(seen).toContainEqual(['working', 'begun']), pollOptions)
      held.open('done')
      expect(await task.result()).toMatchObject({ text: 'done', isError: false })
      await following
      expect(seen.at(-1)).toEqual(['completed', 'begun'])
    })

    it('are cancelled, and their work stops', async () => {
      const { server, signals } = make()
      await using client = await connect(server, revision)
      const task = await client.start('held')
      await vi.waitFor(() => expect(signals).toHaveLength(1), pollOptions)
      await task.cancel()
      expect(task.status).toBe('cancelled')
      expect(signals[0]?.aborted).toBe(true)
      await expect(task.result()).rejects.toMatchObject({ kind: 'task_cancelled' })
      await task.cancel()
    })

    it('elicit with the same handler as plain calls', async () => {
      const { server } = make()
      await using client = await connect(server, revision, { elicit: yes })
      const task = await client.start('confirm')
      expect(await task.result()).toMatchObject({ text: 'sure: true, task: true' })
      await using plain = await connect(server, revision, { elicit: yes, tasks: false })
      expect(await plain.call('confirm')).toMatchObject({ text: 'sure: true, task: false' })
    })

    it('fail as the call would have', async () => {
      const { server } = make()
      await using client = await connect(server, revision)
      const broken = await client.start('broken')
      expect(await broken.result()).toMatchObject({ isError: true, text: 'out of paper' })
      const refused = await client.start('refuses')
      await expect(refused.result()).rejects.toMatchObject({ code: 7, message: 'no' })
      expect(refused).toMatchObject({ status: 'failed', message: 'no' })
    })

    it('are continued by another client', async () => {
      const { server, held } = make()
      const first = await connect(server, revision)
      const { id = '' } = await first.start('held')
      await first.close()
      await using second = await connect(server, revision)
      const task = await second.task(id)
      held.open('kept')
      expect(await task.result()).toMatchObject({ text: 'kept' })
    })

    it('are kept in a slow store', async () => {
      const { server, held } = make(slowStore())
      await using client = await connect(server, revision)
      const task = await client.start('held')
      held.open('done')
      expect(await task.result()).toMatchObject({ text: 'done' })
    })
  },
)

describe('calls that the server turns into tasks', () => {
  it('are followed by a plain call, server requests included', async () => {
    proves('X2', 'X10', 'X10b', 'X10c')
    const { server } = make()
    await using client = await connect(server, '2026-07-28', { elicit: yes })
    expect(await client.call('confirm')).toMatchObject({ text: 'sure: true, task: true' })
    expect(await client.call('broken')).toMatchObject({ isError: true })
  })

  it('may send server requests before they are tasks, and as tasks', async () => {
    const { server } = make()
    const asked: string[] = []
    const elicit = ({ message }: { readonly message: string }) => {
      asked.push(message)
      return yes()
    }
    await using client = await connect(server, '2026-07-28', { elicit })
    expect(await client.call('later')).toMatchObject({ text: 'true true' })
    expect(asked).toEqual(['First?', 'Second?'])
  })

  it('are cancelled with the call', async () => {
    const { server, signals } = make()
    await using client = await connect(server, '2026-07-28')
    const stop = new AbortController()
    const call = client.call('held', {}, { signal: stop.signal })
    await vi.waitFor(() => expect(signals).toHaveLength(1), pollOptions)
    stop.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true), pollOptions)
  })
})

describe('server requests as tasks', () => {
  it('are answered by our client, which the server polls', async () => {
    proves('K2', 'K8e', 'K10')
    const { server } = make()
    server.tool('ask', {}, async (_, ctx) => {
      const task = { ttlMs: 60_000 }
      const { ok } = await ctx.elicit({ message: 'Sure?', schema: asks, task })
      const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }] as const
      const { model } = await ctx.sample({ messages, maxTokens: 5 }, { task })
      return `${ok} ${model}`
    })
    const content = { type: 'text', text: 'Hello' } as const
    await using client = await connect(server, '2025-11-25', {
      elicit: async () => yes(),
      sample: async () => ({ role: 'assistant', content, model: 'm' }),
    })
    expect(await client.call('ask')).toMatchObject({ text: 'true m' })
  })
})

/** A store that answers one turn of the event loop later, as a remote one does. */
function slowStore(): TaskStore {
  const records = new Map<string, TaskRecord>()
  const later = () => new Promise<void>(resolve => setImmediate(resolve))
  return {
    add: async record => {
      await later()
      // As JSON, which is all that a remote store can keep.
      records.set(record.id, JSON.parse(JSON.stringify(record)))
    },
    get: async id => {
      await later()
      return records.get(id)
    },
    put: async record => {
      await later()
      records.set(record.id, JSON.parse(JSON.stringify(record)))
      return true
    },
    list: async () => [...records.values()],
  }
}
