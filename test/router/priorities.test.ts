import { expect, test } from 'vitest'
import { Router } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { deferred } from '../../src/util/promises.ts'
import { until } from '../support/processes.ts'
import { caller, routed } from './routed.ts'

test('queued calls run in the order of their priorities', async () => {
  const order: string[] = []
  const gate = deferred<void>()
  const server = new Server({ name: 'it', version: '1' })
  for (const name of ['first', 'urgent', 'usual', 'nightly']) {
    server.tool(name, {}, async () => {
      order.push(name)
      await gate.promise
      return name
    })
  }
  const router = await routed(
    { it: { server, prefix: false, limits: { concurrent: 1, queue: 10 } } },
    { priorities: [{ tool: 'urgent', priority: 'high' }] },
  )
  const client = await caller(router)
  const call = (name: string, priority?: string) =>
    client.request('tools/call', {
      name,
      arguments: {},
      ...(priority !== undefined && { _meta: { 'trunkline/priority': priority } }),
    })
  const calls = [call('first')]
  await until(() => order.length === 1)
  calls.push(call('nightly', 'low'), call('usual', 'high'), call('urgent'))
  // A list is answered after the calls before it were queued.
  await client.request('tools/list', {})
  gate.resolve()
  await Promise.all(calls)
  expect(order).toEqual(['first', 'urgent', 'usual', 'nightly'])
})

test('a misspelled rule is refused', () => {
  const rule = { principle: 'ann', priority: 'high' } as const
  expect(() => new Router({ priorities: [rule] })).toThrow(/"priorities": .*principal/)
})
