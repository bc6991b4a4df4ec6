import { describe, expect, test } from 'vitest'
import type { RegistryChange } from '../../src/router/registry.ts'
import { Server } from '../../src/server/server.ts'
import { isAlive, until } from '../support/processes.ts'
import { worker } from './ledger.ts'
import { caller, failureOf, pidsOf, routed } from './routed.ts'

function saying(word: string): Server {
  const server = new Server({ name: word, version: '1' })
  server.tool('say', {}, () => word)
  return server
}

describe('the servers of a router', () => {
  test('are added, changed and removed while the router is in use, and subscribers are notified', async () => {
    const router = await routed({ a: saying('a') })
    const changes: RegistryChange[] = []
    const stop = router.onChange(change => changes.push(change))
    const client = await caller(router)
    router.register('b', saying('b'))
    expect((await client.call('b__say')).text).toBe('b')
    expect(router.servers().map(({ name }) => name)).toEqual(['a', 'b'])
    expect(router.server('b')).toMatchObject({ name: 'b', level: 'ok', tools: 1 })
    expect(router.server('c')).toBeUndefined()
    await router.update({ b: { server: saying('b'), prefix: 'x_' }, a: saying('a') })
    expect(await router.unregister('a')).toBe(true)
    expect(await router.unregister('a')).toBe(false)
    stop()
    router.register('late', saying('late'))
    expect(changes.at(0)).toEqual({ type: 'registered', server: 'b' })
    expect(changes.at(-1)).toEqual({ type: 'unregistered', server: 'a' })
    expect(changes).toContainEqual({ type: 'order' })
    expect(changes.some(change => 'server' in change && change.server === 'late')).toBe(false)
    expect((await client.call('x_say')).text).toBe('b')
    expect(await failureOf(client.call('a__say'))).toMatchObject({ code: -32602 })
  })

  test.each([
    ['a', 'a server "a" is already registered'],
    ['', 'must have 1 to 64 characters'],
    ['a b', 'contains " "'],
    ['x'.repeat(65), '64'],
    ['ä', 'contains "ä"'],
  ])('cannot be called %j', async (name, why) => {
    const router = await routed({ a: saying('a') })
    expect(() => router.register(name, saying('b'))).toThrow(why)
    expect(router.servers().map(one => one.name)).toEqual(['a'])
  })

  test('are removed with their programs once the calls in flight have finished', async () => {
    const router = await routed({ it: worker() })
    const client = await caller(router)
    const [pid = 0] = pidsOf(router, 'it')
    const held = client.call('it__hold', { nonce: 'n' })
    await until(() => router.server('it')?.instances[0]?.inFlight === 1)
    const gone = router.unregister('it', { drainMs: 10_000 })
    expect(router.servers()).toEqual([])
    process.kill(pid, 'SIGUSR2')
    expect((await held).text).toBe('n')
    expect(await gone).toBe(true)
    await until(() => !isAlive(pid))
  })

  test('replace an instance that dies', async () => {
    const router = await routed({
      it: worker({}, { instances: 2, restart: { minMs: 1, maxMs: 1 } }),
    })
    const [first = 0] = pidsOf(router, 'it')
    const states = () => router.server('it')?.instances.map(({ state }) => state) ?? []
    const seen = new Set<string>()
    process.kill(first, 'SIGKILL')
    await until(() => {
      for (const state of states()) seen.add(state)
      return !pidsOf(router, 'it').includes(first) && states().every(state => state === 'ready')
    })
    expect(pidsOf(router, 'it')).toHaveLength(2)
  })
})
