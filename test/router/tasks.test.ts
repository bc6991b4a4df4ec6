import { describe, expect, test } from 'vitest'
import { Server } from '../../src/server/server.ts'
import { until } from '../support/processes.ts'
import { gate } from '../support/raw-client.ts'
import { caller, failureOf, routed } from './routed.ts'

const revisions = ['2025-11-25', '2026-07-28'] as const
const cells = revisions.flatMap(front => revisions.map(behind => [front, behind] as const))

describe.each(cells)('tasks of a caller of %s at a server of %s', (front, behind) => {
  /** A client that has listed the tools, which tell it what can run as a task. */
  async function listed() {
    const server = new Server(
      { name: 'it', version: '1' },
      { revisions: [behind], onError: () => {}, tasks: { pollMs: 100, maxPerCaller: 5 } },
    )
    const held = gate()
    const signals: AbortSignal[] = []
    server.tool('held', { task: 'optional' }, async (_, ctx) => {
      signals.push(ctx.signal)
      return held.passed
    })
    server.tool('ask', { task: 'optional' }, async (_, ctx) => {
      const { city } = await ctx.elicit({
        message: 'Where?',
        schema: { type: 'object', properties: { city: { type: 'string' } } } as const,
      })
      return `in ${city}`
    })
    server.tool('plain', {}, () => 'plain')
    server.tool('quick', { task: 'optional' }, async () => 'quick')
    const router = await routed({ it: { server, prefix: false } }, { tasks: { pollMs: 100 } })
    const client = await caller(router, {
      revisions: [front],
      elicit: async () => ({ action: 'accept', content: { city: 'Bern' } }),
    })
    const { tools } = await client.request('tools/list', {})
    for await (const _ of client.tools());
    const another = (): ReturnType<typeof caller> => caller(router, { revisions: [front] })
    return { client, another, tools, held, signals }
  }

  test('are started, followed and fetched after the tools were listed', async () => {
    const { client, held, tools } = await listed()
    const support = tools.map(({ name, execution }) => [name, execution?.taskSupport])
    if (front === '2025-11-25') expect(support.slice(0, 1)).toEqual([['held', 'optional']])
    const task = await client.start('held')
    held.open('done')
    expect(await task.result()).toMatchObject({ content: [{ text: 'done' }] })
  })

  test('are cancelled', async () => {
    const { client, signals } = await listed()
    const task = await client.start('held')
    await until(() => signals.length > 0)
    await task.cancel()
    expect(await failureOf(task.result())).toMatchObject({ kind: 'task_cancelled' })
    await until(() => signals[0]?.aborted === true)
  })

  test('leave room for others once they are final, however many there were', async () => {
    const { client, another } = await listed()
    for (let turn = 0; turn < 12; turn++) {
      const task = await client.start('quick')
      expect(await task.result()).toMatchObject({ content: [{ text: 'quick' }] })
      expect((await client.call('quick')).text).toBe('quick')
      const stopped = await client.start('held')
      await stopped.cancel()
    }
    const other = await another()
    expect((await other.call('quick')).text).toBe('quick')
  })

  test('get input from the caller', async () => {
    const { client } = await listed()
    const task = await client.start('ask')
    expect(await task.result()).toMatchObject({ content: [{ text: 'in Bern' }] })
  })
})
