import { describe, expect, it } from 'vitest'
import { proves } from '../../test/requirements.ts'
import {
  type Answer,
  type Loose,
  sessionServer,
  statelessServer,
  turns,
} from '../../test/support/scripted-server.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { limits } from '../util/limits/limits.ts'
import { isWithin, ResponseCache } from './cache.ts'
import { openClient } from './client.ts'

const hints = { resultType: 'complete', ttlMs: 1000, cacheScope: 'private' }

/** Answers with the number of the call, to be kept for a while. */
const counting = (member: string, extra: object = hints): Answer => {
  let count = 0
  return () => ({ [member]: [{ name: `${++count}`, uri: 'x', text: `${count}` }], ...extra })
}

async function names(items: AsyncIterable<{ name: string }>): Promise<string> {
  let found = ''
  for await (const { name } of items) found += name
  return found
}

async function opened(answers: Readonly<Record<string, Answer>>) {
  const clock = fakeClock()
  const server = statelessServer(answers)
  const client = await openClient(server.dial, { clock })
  return { clock, server, client }
}

describe('results of a stateless server', () => {
  it('are kept as long as they stay fresh, and no longer', async () => {
    proves('U11e')
    const { clock, client } = await opened({ 'tools/list': counting('tools') })
    await using _ = client
    expect(await names(client.tools())).toBe('1')
    clock.advance(999)
    expect(await names(client.tools())).toBe('1')
    clock.advance(1)
    expect(await names(client.tools())).toBe('2')
  })

  const lists: readonly [string, string, (client: Loose) => AsyncIterable<{ name: string }>][] = [
    ['tools/list', 'tools', client => client.tools()],
    ['prompts/list', 'prompts', client => client.prompts()],
    ['resources/list', 'resources', client => client.resources()],
    ['resources/templates/list', 'resourceTemplates', client => client.resourceTemplates()],
  ]
  it.each(lists)(
    'are dropped when the server notifies a change: %s',
    async (method, member, list) => {
      proves('U11k')
      const { server, client } = await opened({ [method]: counting(member) })
      await using _ = client
      await names(list(client))
      const kind = method.split('/')[0]
      const other = kind === 'tools' ? 'prompts' : 'tools'
      server.notify(`notifications/${other}/list_changed`)
      await turns()
      expect(await names(list(client))).toBe('1')
      server.notify(`notifications/${kind}/list_changed`)
      await turns()
      expect(await names(list(client))).toBe('2')
    },
  )

  it('of one resource are dropped with it, and with what it is part of', async () => {
    const { server, client } = await opened({ 'resources/read': counting('contents') })
    await using _ = client
    const uris = ['file:///dir/a', 'file:///dir/b', 'file:///dirt', 'file:///dir']
    const read = async () => {
      const texts: string[] = []
      for (const uri of uris) texts.push((await client.read(uri)).text)
      return texts
    }
    expect(await read()).toEqual(['1', '2', '3', '4'])
    server.notify('notifications/resources/updated', { uri: 'file:///dir/a' })
    await turns()
    expect(await read()).toEqual(['5', '2', '3', '6'])
    server.notify('notifications/resources/updated', { uri: 'file:///dir' })
    await turns()
    expect(await read()).toEqual(['7', '8', '3', '9'])
  })

  it('are distinguished by params, in any order of members', async () => {
    proves('U11')
    const { client } = await opened({ 'resources/read': counting('contents') })
    await using _ = client
    await client.request('resources/read', { uri: 'a', x: { b: 1, c: 2 } })
    const again = await client.request('resources/read', { x: { c: 2, b: 1 }, uri: 'a', _meta: {} })
    expect(again).toMatchObject({ contents: [{ text: '1' }] })
    const other = await client.request('resources/read', { uri: 'a', x: { b: 2, c: 1 } })
    expect(other).toMatchObject({ contents: [{ text: '2' }] })
  })

  it('can be bypassed', async () => {
    proves('U11m')
    const { client } = await opened({ 'tools/list': counting('tools') })
    await using _ = client
    await names(client.tools())
    expect(await names(client.tools({ fresh: true }))).toBe('2')
    expect(await names(client.tools())).toBe('2')
  })

  it('are not refreshed automatically', async () => {
    proves('U11i')
    const { clock, client, server } = await opened({ 'tools/list': counting('tools') })
    await using _ = client
    await names(client.tools())
    clock.advance(100_000)
    await turns()
    expect(server.sent('tools/list')).toHaveLength(1)
  })

  it('of one page are fetched again with its cursor, the others being fresh', async () => {
    proves('U11l')
    const { clock, client, server } = await opened({
      'tools/list': ({ cursor }) =>
        cursor === undefined
          ? { ...hints, tools: [{ name: 'a' }], nextCursor: 'more', ttlMs: 9000 }
          : { ...hints, tools: [{ name: 'b' }] },
    })
    await using _ = client
    await names(client.tools())
    clock.advance(1001)
    expect(await names(client.tools())).toBe('ab')
    expect(server.sent('tools/list').map(({ cursor }) => cursor)).toEqual([
      undefined,
      'more',
      'more',
    ])
  })

  it.each(['private', 'public'])(
    'of one client are not shared with another: %s',
    async cacheScope => {
      proves('U11c')
      const server = statelessServer({ 'tools/list': counting('tools', { ...hints, cacheScope }) })
      await using one = await openClient(server.dial)
      await using other = await openClient(server.dial)
      expect(await names(one.tools())).toBe('1')
      expect(await names(other.tools())).toBe('2')
      expect(await names(one.tools())).toBe('1')
    },
  )

  it('may be changed by the caller', async () => {
    const { client } = await opened({ 'resources/read': counting('contents') })
    await using _ = client
    const first: Loose = await client.request('resources/read', { uri: 'a' })
    first.contents.push('spoilt')
    const second: Loose = await client.request('resources/read', { uri: 'a' })
    second.contents.length = 0
    expect((await client.read('a')).contents).toHaveLength(1)
  })

  it.each([
    ['none', {}],
    ['zero', { ttlMs: 0 }],
    ['negative', { ttlMs: -1 }],
    ['no number', { ttlMs: '1000' }],
    ['not a number', { ttlMs: Number.NaN }],
  ])('are not kept when the time is %s', async (_, extra) => {
    proves('U11d')
    const { client } = await opened({ 'tools/list': counting('tools', extra) })
    await using _client = client
    await names(client.tools())
    expect(await names(client.tools())).toBe('2')
  })

  it('of calls are never kept, even with a ttlMs', async () => {
    const { client } = await opened({ 'tools/call': counting('content') })
    await using _ = client
    await client.call('x')
    expect((await client.call('x')).content[0]).toMatchObject({ name: '2' })
  })

  it('of a retry are never kept, and neither are input_required results', async () => {
    proves('U11b')
    let rounds = 0
    const { client, server } = await opened({
      'resources/read': ({ requestState }) =>
        requestState === undefined
          ? { ...hints, resultType: 'input_required', requestState: `${++rounds}` }
          : { ...hints, contents: [] },
    })
    await using _ = client
    await client.read('a')
    await client.read('a')
    expect(rounds).toBe(2)
    expect(server.sent('resources/read')).toHaveLength(4)
  })

  it('are not kept if they were overtaken by a change', async () => {
    let answer: (result: unknown) => void = () => {}
    const { client, server } = await opened({
      'tools/list': () =>
        new Promise(resolve => {
          answer = resolve
        }),
    })
    await using _ = client
    const first = names(client.tools())
    await turns()
    server.notify('notifications/tools/list_changed')
    await turns()
    answer({ tools: [{ name: 'old' }], ...hints })
    expect(await first).toBe('old')
    const second = names(client.tools())
    await turns()
    answer({ tools: [{ name: 'new' }], ...hints })
    expect(await second).toBe('new')
  })

  it('are forgotten with the connection', async () => {
    const { client, server } = await opened({ 'tools/list': counting('tools') })
    await using _ = client
    await names(client.tools())
    await server.disconnect()
    await turns()
    expect(await names(client.tools())).toBe('2')
  })
})

describe('results of a session', () => {
  it('are never kept', async () => {
    const server = sessionServer('2025-11-25', { 'tools/list': counting('tools') })
    await using client = await openClient(server.dial, { onError: () => {} })
    await names(client.tools())
    expect(await names(client.tools())).toBe('2')
  })
})

describe('the cache', () => {
  const put = (cache: ResponseCache, uri: string, text: string) =>
    cache.put(cache.ticket('resources/read', { uri }), { uri }, { ttlMs: 1, text })

  it('keeps a limited number of results, the latest', () => {
    const cache = new ResponseCache(fakeClock())
    const most = limits.cacheEntries.default
    for (let i = 0; i < most + 10; i++) put(cache, `${i}`, '')
    expect(cache.size).toBe(most)
    expect(cache.get(cache.ticket('resources/read', { uri: '9' }))).toBeUndefined()
    expect(cache.get(cache.ticket('resources/read', { uri: '10' }))).toBeDefined()
  })

  it('keeps a limited amount of text, and no result above the limit', () => {
    const cache = new ResponseCache(fakeClock())
    const half = 'x'.repeat(limits.cacheCharacters.default / 2)
    put(cache, 'a', half)
    put(cache, 'b', half)
    expect(cache.size).toBe(1)
    put(cache, 'c', half + half)
    expect(cache.size).toBe(1)
    cache.clear()
    expect(cache.size).toBe(0)
  })
})

describe('an address', () => {
  it.each([
    ['a', 'a', true],
    ['a/b', 'a', true],
    ['a/b', 'a/', true],
    ['a?b', 'a', true],
    ['a#b', 'a', true],
    ['ab', 'a', false],
    ['a', 'a/b', false],
  ])('%s within %s: %s', (inner, outer, isInside) => {
    expect(isWithin(inner, outer)).toBe(isInside)
  })
})
