import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { redisProgram } from '../../scripts/redis-server.js'
import type { Backplane, BackplaneState } from '../../src/backplane/backplane.ts'
import { redis } from '../../src/backplane/redis/redis.ts'
import { slotOf } from '../../src/backplane/redis/topology/slots.ts'
import { backplaneContract } from '../../src/testing/backplane/contract.ts'
import { expectCode, retried } from '../../src/testing/backplane/expectations.ts'
import { type RedisCluster, redisCluster } from '../support/redis-cluster.ts'
import { redisCommand } from '../support/redis-command.ts'
import { slowClock } from '../support/slow-clock.ts'

test.runIf(redisProgram !== undefined)('redis-server or valkey-server is installed', () => {})

const ttlMs = 600_000
const owner = { node: 'a', epoch: 5 }

if (redisProgram !== undefined) {
  const clock = slowClock(10)
  const started: RedisCluster[] = []
  afterAll(async () => {
    for (const cluster of started) await cluster.close()
  })
  const cluster = await redisCluster()
  started.push(cluster)
  const servers = [...cluster.primaries, cluster.replica]

  const cases = await backplaneContract({
    connect: async name => {
      const backplane = redis(cluster.url, {
        clock,
        ...(name === undefined ? {} : { cluster: name }),
      })
      await backplane.open()
      return backplane
    },
    empty: async () => {
      for (const { port } of cluster.primaries) await redisCommand(port, 'FLUSHALL')
    },
    cut: async () => {
      for (const { port } of cluster.primaries) {
        for (const type of ['normal', 'pubsub'])
          await redisCommand(port, 'CLIENT', 'KILL', 'TYPE', type)
      }
    },
    stall: async () => {
      for (const server of servers) server.pause()
      return async () => {
        for (const server of servers) server.resume()
      }
    },
  })

  describe('the contract of a backplane, in a Redis Cluster', () => {
    test.each(cases)('$name', ({ run }) => run())
  })

  /** Opens a backplane for one test. */
  const opened = async (url: string): Promise<Backplane> => {
    const backplane = redis(url, { clock })
    onTestFinished(() => backplane.close())
    await retried(() => backplane.open())
    return backplane
  }

  describe('a Redis Cluster', () => {
    test('of which one engine is named is found as a whole', async () => {
      const [first] = cluster.primaries
      const backplane = await opened(`redis-cluster://127.0.0.1:${first?.port}`)
      const keys = Array.from({ length: 50 }, (_, at) => `whole-${at}`)
      for (const key of keys) await backplane.store.put(key, { value: key, ttlMs }, owner)
      const records = await backplane.store.getAll(keys)
      expect(records.map(record => record?.value)).toEqual(keys)
    })

    test('is refused with a clear error at an address redis://', async () => {
      const [first] = cluster.primaries
      await using backplane = redis(`redis://127.0.0.1:${first?.port}`, { clock })
      const error = await expectCode(backplane.open(), 'down')
      expect(error.message).toContain('use an address that starts with redis-cluster://')
    })
  })

  describe('a key that moves to another engine', () => {
    let moved: RedisCluster
    beforeAll(async () => {
      moved = await redisCluster()
      started.push(moved)
    })

    test('is found there, while it moves and afterwards', async () => {
      const backplane = await opened(moved.url)
      const key = 'moving'
      const slot = slotOf(`tl:trunkline:{k:${key}}`)
      const ids = await Promise.all(
        moved.primaries.map(async ({ port }) =>
          String(await redisCommand(port, 'CLUSTER', 'MYID')),
        ),
      )
      const at = slot < 5000 ? 0 : slot < 10_000 ? 1 : 2
      const [source, target] = [moved.primaries[at], moved.primaries[(at + 1) % 3]]
      const [from = '', to = ''] = [ids[at], ids[(at + 1) % 3]]
      if (source === undefined || target === undefined) throw new Error('there are three primaries')
      const set = (port: number, ...args: string[]) =>
        redisCommand(port, 'CLUSTER', 'SETSLOT', `${slot}`, ...args)
      await set(target.port, 'IMPORTING', from)
      await set(source.port, 'MIGRATING', to)
      // The source does not have the key, so it refers to the target.
      await backplane.store.put(key, { value: 'v', ttlMs }, owner)
      expect((await backplane.store.get(key))?.value).toBe('v')
      for (const { port } of [target, source]) await set(port, 'NODE', to)
      expect((await backplane.store.get(key))?.value).toBe('v')
      await backplane.store.put(key, { value: 'w', ttlMs }, owner)
      expect((await backplane.store.get(key))?.value).toBe('w')
    })

    test('to a replica that takes over is found there, and epochs grow', async () => {
      const backplane = await opened(moved.url)
      const states: BackplaneState[] = []
      backplane.onStateChange(state => void states.push(state))
      const [, second] = moved.primaries
      const keys = Array.from({ length: 20 }, (_, at) => `failover-${at}`)
      for (const key of keys)
        await backplane.store.claim(key, undefined, 'a', { value: 'v', ttlMs })
      await second?.kill()
      await expect.poll(() => backplane.isUp).toBe(false)
      await redisCommand(moved.replica.port, 'CLUSTER', 'FAILOVER', 'TAKEOVER')
      await expect.poll(() => backplane.isUp).toBe(true)
      for (const key of keys) {
        const claim = await retried(() =>
          backplane.store.claim(key, 'a', 'b', { value: 'w', ttlMs }),
        )
        expect(claim.isOwner).toBe(true)
      }
      expect(states.map(({ isUp }) => isUp)).toEqual([false, true])
    })
  })
}
