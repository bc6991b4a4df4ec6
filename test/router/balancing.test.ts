import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import type { BalanceStrategy, UpstreamOptions } from '../../src/router/options.ts'
import type { Router } from '../../src/router/router.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { until } from '../support/processes.ts'
import { caller, routed } from './routed.ts'

/** The addresses of interchangeable servers, each of which returns its own index. */
async function replicas(
  count: number,
  revisions?: readonly RevisionName[],
): Promise<readonly string[]> {
  const listeners = Array.from({ length: count }, (_, at) => {
    const server = new Server({ name: 'one', version: '1' }, revisions && { revisions })
    server.tool('who', {}, () => `${at}`)
    return listen(server, 'http://127.0.0.1:0/mcp')
  })
  return Promise.all(
    listeners.map(async one => {
      const listener = await one
      onTestFinished(() => listener.close())
      return listener.address
    }),
  )
}

async function balanced(urls: readonly string[], more: UpstreamOptions): Promise<Router> {
  return routed({ it: { urls, prefix: false, ...more } })
}

/** The router as an authenticated caller reaches it. */
function as(router: Router, id: string): Endpoint {
  return {
    profile: router.profile,
    revisions: router.revisions,
    handle: router.handle,
    attach: channel => router.attach(channel, { principal: { id } }),
  }
}

const names = Array.from({ length: 12 }, (_, at) => `caller-${at}`)

describe('calls are balanced by a hash', () => {
  test('of the principal: each caller stays at one instance, and not all at the same', async () => {
    const router = await balanced(await replicas(3), { balance: 'hash', hash: 'principal' })
    const homes = await Promise.all(
      names.map(async name => {
        const client = await connect(as(router, name), { era: 'stateless' })
        onTestFinished(() => client.close())
        const said = new Set<string>()
        for (let call = 0; call < 4; call++) said.add((await client.call('who')).text)
        expect(said.size).toBe(1)
        return [...said][0]
      }),
    )
    expect(new Set(homes).size).toBeGreaterThan(1)
  })

  test('of a header of the call, from any caller', async () => {
    const router = await balanced(await replicas(3), {
      balance: 'hash',
      hash: { header: 'X-Tenant' },
    })
    const listener = await listen(router, 'http://127.0.0.1:0/mcp')
    onTestFinished(() => listener.close())
    const home = async (tenant: string): Promise<string> => {
      const client = await connect(listener.address, { headers: { 'x-tenant': tenant } })
      onTestFinished(() => client.close())
      return (await client.call('who')).text
    }
    const homes = new Map<string, string>()
    for (const name of names) homes.set(name, await home(name))
    for (const name of names) expect([name, await home(name)]).toEqual([name, homes.get(name)])
    expect(new Set(homes.values()).size).toBeGreaterThan(1)
  })
})

test.each<BalanceStrategy>(['round-robin', 'weighted', 'least-busy', 'two-choices', 'adaptive'])(
  '%s uses every instance for callers without a session',
  async balance => {
    const router = await balanced(await replicas(2), { balance })
    const client = await caller(router, { era: 'stateless' })
    const said = new Set<string>()
    for (let call = 0; call < 100 && said.size < 2; call++) {
      said.add((await client.call('who')).text)
    }
    expect(said).toEqual(new Set(['0', '1']))
  },
)

describe('servers with sessions', () => {
  const sessions = ['2025-11-25'] as const

  test('keep each session of a caller at one instance, whatever the balance', async () => {
    const router = await balanced(await replicas(3, sessions), { balance: 'round-robin' })
    const homes = new Set<string>()
    for (let session = 0; session < 6; session++) {
      const client = await caller(router, { era: 'session' })
      const said = new Set<string>()
      for (let call = 0; call < 5; call++) said.add((await client.call('who')).text)
      expect(said.size).toBe(1)
      for (const one of said) homes.add(one)
    }
    expect(homes.size).toBeGreaterThan(1)
  })

  test('get calls without a session in turn', async () => {
    const router = await balanced(await replicas(2, sessions), { balance: 'round-robin' })
    const client = await caller(router, { era: 'stateless' })
    const said: string[] = []
    for (let call = 0; call < 4; call++) said.push((await client.call('who')).text)
    expect(new Set(said).size).toBe(2)
  })

  test('lose a caller to another instance when its own is gone', async () => {
    const urls = await replicas(1, sessions)
    const server = new Server({ name: 'one', version: '1' }, { revisions: sessions })
    server.tool('who', {}, () => 'mortal')
    const mortal = await listen(server, 'http://127.0.0.1:0/mcp')
    const router = await balanced([mortal.address, ...urls], { balance: 'round-robin' })
    const clients = [
      await caller(router, { era: 'session' }),
      await caller(router, { era: 'session' }),
    ]
    const said = await Promise.all(clients.map(async client => (await client.call('who')).text))
    const at = said.indexOf('mortal')
    expect(said.toSorted()).toEqual(['0', 'mortal'])
    await mortal.close()
    await expect.poll(async () => (await clients[at]?.call('who'))?.text).toBe('0')
  })
})

test('a restart ends the ejection of an instance that was slower than the others', async () => {
  const clock = fakeClock()
  let slowMs = 100
  const begin = (name: string, address: string, work: () => void) => {
    const server = new Server({ name, version: '1' })
    server.tool('who', {}, () => {
      work()
      return name
    })
    return listen(server, address)
  }
  const fast = await begin('fast', 'tcp://127.0.0.1:0', () => {})
  const beSlow = (): void => clock.advance(slowMs)
  const slow = await begin('slow', 'tcp://127.0.0.1:0', beSlow)
  onTestFinished(() => fast.close())
  const urls = [fast.address, slow.address]
  const router = await routed(
    { it: { urls, prefix: false, balance: 'round-robin', health: { intervalMs: 0 } } },
    { clock },
  )
  const client = await caller(router, { era: 'stateless' })
  const second = () => router.server('it')?.instances[1]
  while (second()?.reason?.startsWith('its calls take') !== true) await client.call('who')
  slowMs = 0
  await slow.close()
  await until(() => second()?.state === 'waiting')
  const again = await begin('slow', slow.address, beSlow)
  onTestFinished(() => again.close())
  await until(() => {
    clock.advance(1)
    return second()?.state === 'ready'
  })
  expect(second()?.reason).toBeUndefined()
  const said = new Set([(await client.call('who')).text, (await client.call('who')).text])
  expect(said).toContain('slow')
})
