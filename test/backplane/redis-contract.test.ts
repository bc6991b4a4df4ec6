import { afterAll, describe, test } from 'vitest'
import { redisProgram, redisServer } from '../../scripts/redis-server.js'
import { redis } from '../../src/backplane/redis/redis.ts'
import { backplaneContract } from '../../src/testing/backplane/contract.ts'
import { faultProxy } from '../support/fault-proxy.ts'
import { redisCommand } from '../support/redis-command.ts'
import { slowClock } from '../support/slow-clock.ts'

test.runIf(redisProgram !== undefined)('redis-server or valkey-server is installed', () => {})

if (redisProgram !== undefined) {
  const clock = slowClock(10)
  const server = await redisServer()
  const proxy = await faultProxy(server.port)
  afterAll(async () => {
    await proxy.close()
    await server.close()
  })

  const cases = await backplaneContract({
    connect: async cluster => {
      const address = `redis://127.0.0.1:${proxy.port}`
      const backplane = redis(address, { clock, ...(cluster === undefined ? {} : { cluster }) })
      await backplane.open()
      return backplane
    },
    empty: async () => {
      await redisCommand(server.port, 'FLUSHALL')
    },
    cut: async () => proxy.cut(),
    stall: async () => {
      proxy.faults.isSwallowing = true
      return async () => {
        proxy.faults.isSwallowing = false
      }
    },
  })

  describe('the contract of a backplane, in Redis', () => {
    test.each(cases)('$name', ({ run }) => run())
  })

  describe('the same, with one byte at a time', () => {
    // Not the first one, whose texts are long.
    test.each(cases.slice(1, 8))('$name', async ({ run }) => {
      proxy.faults.isSlicing = true
      try {
        await run()
      } finally {
        proxy.faults.isSlicing = false
      }
    })
  })
}
