import { describe, expect, test } from 'vitest'
import { errors } from '../../src/mcp/errors/constructors.ts'
import type { Tool } from '../../src/mcp/types/tools.ts'
import type { Router } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { until } from '../support/processes.ts'
import { caller, routed } from './routed.ts'

/** A server with every kind of feature, one of whose lists cannot be read. */
function broken(method: string): Server {
  const server = new Server({ name: 'broken', version: '1' }, { onError: () => {} })
  server.tool('work', {}, () => 'done')
  server.prompt('plan', {}, () => 'planned')
  server.resource('one', 'x://one', {}, () => 'read')
  server.use(next => (message, exchange) => {
    if (message.method === method) throw errors.internalError()
    return next(message, exchange)
  })
  return server
}

describe('a server one of whose lists cannot be read', () => {
  test.each<[string, readonly number[]]>([
    ['tools/list', [0, 1, 1]],
    ['prompts/list', [1, 0, 1]],
    ['resources/list', [1, 1, 0]],
    ['resources/templates/list', [1, 1, 1]],
  ])('offers what is on the others: %s', async (method, counts) => {
    const router = await routed({ it: broken(method) })
    const { tools, prompts, resources } = router.server('it') ?? {}
    expect([tools, prompts, resources]).toEqual(counts)
  })

  test('is requested again after a while', async () => {
    const clock = fakeClock()
    const server = new Server({ name: 'broken', version: '1' }, { onError: () => {} })
    server.prompt('plan', {}, () => 'planned')
    let isBroken = true
    server.use(next => (message, exchange) => {
      if (isBroken && message.method === 'prompts/list') throw errors.internalError()
      return next(message, exchange)
    })
    const router = await routed({ it: { server, health: { intervalMs: 0 } } }, { clock })
    const prompts = () => router.server('it')?.prompts
    clock.advance(limits.listRetryMs.default + 100)
    await router.ready()
    expect(prompts()).toBe(0)
    isBroken = false
    await until(() => {
      clock.advance(limits.listRetryMs.default + 100)
      return prompts() === 1
    })
  })

  test('is called nevertheless', async () => {
    const client = await caller(await routed({ it: broken('prompts/list') }))
    expect((await client.call('it__work')).text).toBe('done')
  })

  test('gets no calls while its tools are unknown, where changed tools must not be called', async () => {
    const server = broken('tools/list')
    const router = await routed({ it: { server, tools: { pin: 'block' } } })
    expect(router.tools()).toEqual([])
    expect(router.server('it')).toMatchObject({ prompts: 1, resources: 1 })
  })
})

describe('a caller in the middle of a list', () => {
  const withTools = (count: number): Server => {
    const server = new Server({ name: 's', version: '1' })
    for (let n = 0; n < count; n++) server.tool(`t${n}`, {}, () => 'done')
    return server
  }

  /** The tools of "b" after the first page, once `change` has happened. */
  async function rest(change: (router: Router) => Promise<unknown>): Promise<readonly string[]> {
    const servers = { a: withTools(3), b: withTools(6) }
    const router = await routed(servers, { pageSize: 4 })
    const client = await caller(router)
    const list = (cursor?: unknown) =>
      client.request('tools/list', { cursor }) as Promise<{ tools: Tool[]; nextCursor?: string }>
    const { nextCursor } = await list()
    await change(router)
    const names: string[] = []
    for (let cursor = nextCursor; cursor !== undefined; ) {
      const page = await list(cursor)
      names.push(...page.tools.map(({ name }) => name))
      cursor = page.nextCursor
    }
    return names.filter(name => name.startsWith('b'))
  }

  const others = ['b__t1', 'b__t2', 'b__t3', 'b__t4', 'b__t5']

  test.each<[string, (router: Router) => Promise<unknown>]>([
    ['is removed', async router => router.unregister('a')],
    ['is added', async router => router.register('c', withTools(2))],
  ])('misses nothing, and gets nothing twice, when another server %s', async (_, change) => {
    expect(await rest(change)).toEqual(others)
  })

  test('misses nothing when another server is inserted before', async () => {
    const b = withTools(6)
    const names = await rest(router => router.update({ c: withTools(1), a: withTools(3), b }))
    expect(names).toEqual(expect.arrayContaining(others))
  })
})
