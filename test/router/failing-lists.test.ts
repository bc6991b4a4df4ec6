import { describe, expect, onTestFinished, test } from 'vitest'
import { errors } from '../../src/mcp/errors/constructors.ts'
import { events, type ListFailed, type ListRecovered } from '../../src/observe/events.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { until } from '../support/processes.ts'
import { caller, failureOf, routed } from './routed.ts'

/** A server whose lists fail with the message that `failing` holds for the method. */
function ailing(
  failing: ReadonlyMap<string, string>,
  onMessage: (method: string) => void = () => {},
): Server {
  const server = new Server({ name: 'ailing', version: '1' }, { onError: () => {} })
  server.tool('work', {}, () => 'done')
  server.prompt('plan', {}, () => 'planned')
  server.resource('one', 'x://one', {}, () => 'read')
  server.use(next => (message, exchange) => {
    onMessage(message.method)
    const text = failing.get(message.method)
    if (text !== undefined) throw errors.internalError(undefined, { message: text })
    return next(message, exchange)
  })
  return server
}

/** The events of lists while a test runs. */
function published() {
  const failed: ListFailed[] = []
  const recovered: ListRecovered[] = []
  const ends = [
    events.listFailed.subscribe(event => failed.push(event)),
    events.listRecovered.subscribe(event => recovered.push(event)),
  ]
  onTestFinished(() => {
    for (const end of ends) end()
  })
  return { failed, recovered }
}

const methods = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']

describe('a server whose list fails', () => {
  test.each(methods)('is degraded, and lists name it and %s', async method => {
    const server = ailing(new Map([[method, 'secret text']]))
    const well = new Server({ name: 'well', version: '1' })
    well.tool('work', {}, () => 'done')
    const router = await routed({ it: server, well })
    expect(router.server('it')).toMatchObject({
      level: 'degraded',
      reason: `${method}: secret text`,
    })
    const health = router.health()
    expect(health).toMatchObject({
      level: 'degraded',
      reason: `it: ${method} failed: error -32603`,
    })
    const client = await caller(router)
    const listed = await client.request('tools/list', {})
    expect(listed._meta).toMatchObject({
      'trunkline/unavailable': { it: `${method} failed: error -32603` },
    })
    expect(JSON.stringify(listed)).not.toContain('secret text')
  })

  test('does not claim that its tools do not exist', async () => {
    const router = await routed({ it: ailing(new Map([['tools/list', 'no']])) })
    const client = await caller(router)
    expect(await failureOf(client.call('it__work'))).toMatchObject({
      code: -32000,
      data: { server: 'it', reason: 'its list of tools could not be read' },
    })
  })

  test('is reported once for each reason, and when it recovers', async () => {
    const { failed, recovered } = published()
    const clock = fakeClock()
    const failing = new Map([['tools/list', 'token expired']])
    let reads = 0
    const server = ailing(failing, method => {
      if (method === 'tools/list') reads++
    })
    const router = await routed({ it: { server, health: { intervalMs: 0 } } }, { clock })
    const readAgain = async (): Promise<void> => {
      const before = reads
      clock.advance(limits.listRetryMs.default + 100)
      await until(() => reads > before)
      for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
    }
    const who = { server: 'it', instance: expect.any(String), method: 'tools/list' }
    await readAgain()
    await readAgain()
    expect(failed).toEqual([{ ...who, reason: 'token expired' }])
    failing.set('tools/list', 'network down')
    await readAgain()
    await until(() => failed.length > 1)
    expect(failed).toEqual([
      { ...who, reason: 'token expired' },
      { ...who, reason: 'network down' },
    ])
    failing.clear()
    await readAgain()
    await until(() => recovered.length > 0)
    expect(recovered).toEqual([who])
    expect(router.server('it')).toMatchObject({ level: 'ok', tools: 1 })
  })
})

describe('one invalid entry of a list', () => {
  const good = { name: 'good', inputSchema: { type: 'object' } }
  test.each<[string, unknown, string]>([
    ['null', null, 'the entry is not an object'],
    ['a text', 'tool', 'the entry is not an object'],
    ['no name', { inputSchema: { type: 'object' } }, 'its name is not a string'],
    ['a number as name', { ...good, name: 1 }, 'its name is not a string'],
    ['no schema', { name: 'bad' }, 'its inputSchema is not an object'],
    ['a text as schema', { name: 'bad', inputSchema: 'x' }, 'its inputSchema is not an object'],
    [
      'a schema of texts',
      { name: 'bad', inputSchema: { type: 'string' } },
      'its inputSchema is not a schema of an object',
    ],
    [
      'a list as description',
      { ...good, name: 'bad', description: [] },
      'its description is not a string',
    ],
    [
      'texts as annotations',
      { ...good, name: 'bad', annotations: 'x' },
      'its annotations is not an object',
    ],
  ])('hides only itself: a tool with %s', async (_, bad, why) => {
    const server = new Server({ name: 'it', version: '1' })
    server.tool('good', {}, () => 'done')
    server.use(
      next => (message, exchange) =>
        message.method === 'tools/list' ? { tools: [bad, good] } : next(message, exchange),
    )
    const router = await routed({ it: server })
    const client = await caller(router)
    expect((await client.request('tools/list', {})).tools.map(({ name }) => name)).toEqual([
      'it__good',
    ])
    expect(router.hidden()).toMatchObject([{ server: 'it', what: 'tool', why }])
    expect(router.server('it')?.level).toBe('ok')
  })

  test.each<[string, string, unknown]>([
    ['prompts/list', 'prompts', { name: 'plan', arguments: 'x' }],
    ['resources/list', 'resources', { name: 'one' }],
    ['resources/templates/list', 'resourceTemplates', { name: 'one', uriTemplate: 5 }],
  ])('hides only itself: %s', async (method, member, bad) => {
    const server = ailing(new Map())
    server.use(next => async (message, exchange) => {
      const result = await next(message, exchange)
      if (message.method !== method) return result
      const page = result as Record<string, unknown[]>
      return { ...page, [member]: [bad, ...(page[member] ?? [])] }
    })
    const router = await routed({ it: server })
    expect(router.server('it')).toMatchObject({ level: 'ok', tools: 1, prompts: 1, resources: 1 })
    expect(router.hidden()).toHaveLength(1)
  })

  test('a schema without a type is listed as one of an object', async () => {
    const server = new Server({ name: 'it', version: '1' })
    server.tool('good', {}, () => 'done')
    server.use(
      next => (message, exchange) =>
        message.method === 'tools/list'
          ? { tools: [{ name: 'good', inputSchema: {} }] }
          : next(message, exchange),
    )
    const client = await caller(await routed({ it: server }))
    expect(await client.request('tools/list', {})).toMatchObject({
      tools: [{ name: 'it__good', inputSchema: { type: 'object' } }],
    })
  })
})
