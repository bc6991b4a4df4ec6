import { describe, expect, onTestFinished, test } from 'vitest'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import { listen } from '../../src/listen.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import { Router, type UpstreamOptions } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { deferred } from '../../src/util/promises.ts'
import { caller, failureOf, routed } from './routed.ts'

/** A server with one tool, which does not answer until it is released, and its open connections. */
function slow() {
  const server = new Server({ name: 'slow', version: '1' })
  server.tool('work', {}, () => 'done')
  const { promise: gate, resolve: letGo } = deferred<void>()
  const begun = deferred<void>()
  server.use(next => async (message, exchange) => {
    begun.resolve()
    await gate
    return next(message, exchange)
  })
  const open = new Set<Channel>()
  const endpoint: Endpoint = {
    profile: server.profile,
    revisions: server.revisions,
    handle: server.handle,
    attach: (channel, envelope) => {
      const attachment = server.attach(channel, envelope)
      open.add(channel)
      void attachment.closed.then(() => open.delete(channel))
      return attachment
    },
  }
  return { endpoint, open, letGo, begun: begun.promise }
}

function quick(): Server {
  const server = new Server({ name: 'quick', version: '1' })
  server.tool('work', {}, () => 'done')
  return server
}

/** A session server whose tool returns its name. */
function named(name: string): Server {
  const server = new Server({ name, version: '1' }, { revisions: ['2025-11-25'] })
  server.tool('who', { input: { type: 'object' } }, () => name)
  return server
}

/** The address of a server, for as long as the test lasts. */
async function listening(server: Server): Promise<string> {
  const listener = await listen(server, 'tcp://127.0.0.1:0')
  onTestFinished(() => listener.close())
  return listener.address
}

function namesOf(router: Router): readonly string[] {
  return router.servers().map(({ name }) => name)
}

describe('servers that change while others are connecting', () => {
  test('leave nothing behind when the router closes meanwhile', async () => {
    const { endpoint, open, begun } = slow()
    const router = await routed({})
    const updated = router.update({ slow: endpoint }).then(
      () => 'done',
      () => 'refused',
    )
    await begun
    await router.close({ drainMs: 0 })
    expect(await updated).toBe('refused')
    expect(open.size).toBe(0)
    expect(namesOf(router)).toEqual([])
  })

  test('cannot be added to a closed router', async () => {
    const { endpoint, open } = slow()
    const router = await routed({})
    await router.close()
    expect(() => router.register('slow', endpoint)).toThrow('closed')
    await expect(router.update({ slow: endpoint })).rejects.toThrow('closed')
    expect(open.size).toBe(0)
  })

  test('stay removed when they are removed meanwhile', async () => {
    const { endpoint, letGo, begun } = slow()
    const stays = quick()
    const goes = quick()
    const router = await routed({ stays, goes })
    const updated = router.update({ stays, goes, slow: endpoint })
    await begun
    await router.unregister('goes')
    letGo()
    await updated
    expect(namesOf(router)).toEqual(['stays', 'slow'])
  })

  test('stay when they are added meanwhile', async () => {
    const { endpoint, letGo, begun } = slow()
    const router = await routed({})
    const updated = router.update({ slow: endpoint })
    await begun
    router.register('comes', quick())
    letGo()
    await updated
    expect(namesOf(router)).toEqual(['slow', 'comes'])
    expect((await (await caller(router)).call('comes__work')).text).toBe('done')
  })

  test('follow the last of two changes, whichever takes longer', async () => {
    const { endpoint, open, letGo, begun } = slow()
    const router = await routed({})
    const first = router.update({ slow: endpoint })
    await begun
    const second = router.update({ quick: quick() })
    letGo()
    await Promise.all([first, second])
    expect(namesOf(router)).toEqual(['quick'])
    expect(open.size).toBe(0)
  })

  test('do not delay requests to known servers', async () => {
    const { endpoint, begun } = slow()
    const known = quick()
    known.resource('here', 'known://here', {}, () => 'read')
    known.prompt('plan', {}, () => 'planned')
    const router = await routed({ known })
    const client = await caller(router)
    router.register('slow', endpoint)
    await begun
    expect((await client.read('known://here')).contents).toHaveLength(1)
    expect((await client.prompt('known__plan')).messages).toHaveLength(1)
    expect(router.server('slow')?.instances[0]?.state).toBe('starting')
  })

  test('are not waited for once they are removed', async () => {
    const { endpoint, begun } = slow()
    const router = new Router({ servers: { slow: endpoint } })
    const ready = router.ready()
    await begun
    await router.unregister('slow')
    await ready
    await router.close()
  })
})

describe('a refused change', () => {
  test('leaves the limits as they were', async () => {
    const known = quick()
    const router = await routed({ known })
    const client = await caller(router)
    const limits = { perSecond: 0.001, burst: 1 }
    const bad = { url: 'nonsense' }
    await failureOf(router.update({ known: { server: quick(), limits }, bad }))
    for (let turn = 0; turn < 3; turn++) {
      expect((await client.call('known__work')).text).toBe('done')
    }
  })

  test.each<[string, UpstreamOptions]>([
    ['limits', { limits: { burst: 5 } }],
    ['a breaker', { breaker: { openMs: 0 } }],
    ['restarts', { restart: { minMs: 50, maxMs: 5 } }],
    ['retries', { retry: { attempts: 1000 } }],
  ])('changes nothing where %s of a server that stays make no sense', async (_, bad) => {
    const { endpoint, open } = slow()
    const server = quick()
    const router = await routed({ stays: server, goes: server })
    const changed = { other: endpoint, stays: { server, prefix: 'x__', ...bad } }
    await expect(router.update(changed)).rejects.toThrow(RangeError)
    expect(namesOf(router)).toEqual(['stays', 'goes'])
    expect(router.tools().map(({ name }) => name)).toEqual(['stays__work', 'goes__work'])
    expect(open.size).toBe(0)
  })
})

test('a router with one invalid server starts none of the others', async () => {
  const { endpoint, open } = slow()
  const servers = { slow: endpoint, bad: { url: 'nonsense' } }
  expect(() => new Router({ servers })).toThrow(TypeError)
  expect(open.size).toBe(0)
})

describe('a change of what callers see', () => {
  test('keeps the used part of the limits of a server', async () => {
    const known = quick()
    const limits = { perSecond: 0.001, burst: 1 }
    const router = await routed({ known: { server: known, limits } })
    const client = await caller(router)
    await client.call('known__work')
    await router.update({ known: { server: known, limits, prefix: 'other__' } })
    expect(await failureOf(client.call('other__work'))).toMatchObject({ code: -32010 })
  })

  test('keeps the sessions of callers where they are', async () => {
    const urls = await Promise.all(['a', 'b'].map(name => listening(named(name))))
    const options = { urls, balance: 'round-robin', prefix: false } as const
    const router = await routed({ it: options })
    // The next new caller starts at the first instance; this session lives at the other.
    await (await caller(router, { era: 'session' })).call('who')
    const client = await caller(router, { era: 'session' })
    const { text: home } = await client.call('who')
    await router.update({ it: { ...options, tools: { describe: { who: 'Says who it is' } } } })
    for (let turn = 0; turn < 4; turn++) expect((await client.call('who')).text).toBe(home)
  })
})

test('keys stay at their instance when an address is removed from the list', async () => {
  const urls = await Promise.all(['a', 'b', 'c'].map(name => listening(named(name))))
  const options = { balance: 'hash', hash: { argument: 'key' }, prefix: false } as const
  const router = await routed({ it: { ...options, urls } })
  const client = await caller(router)
  const homes = async (): Promise<readonly string[]> => {
    const calls = Array.from({ length: 60 }, (_, key) => client.call('who', { key }))
    return (await Promise.all(calls)).map(({ text }) => text)
  }
  const before = await homes()
  expect(new Set(before)).toEqual(new Set(['a', 'b', 'c']))
  await router.update({ it: { ...options, urls: urls.slice(1) } })
  const after = await homes()
  expect(after.filter((home, key) => before[key] !== 'a' && home !== before[key])).toEqual([])
})
