import { afterAll, describe, test } from 'vitest'
import { natsProgram, natsServer } from '../../scripts/nats-server.js'
import { nats } from '../../src/backplane/nats/nats.ts'
import { backplaneContract } from '../../src/testing/backplane/contract.ts'
import { faultProxy } from '../support/fault-proxy.ts'
import { deleteStreams } from '../support/nats-streams.ts'
import { slowClock } from '../support/slow-clock.ts'

test.runIf(natsProgram !== undefined)('nats-server is installed', () => {})

if (natsProgram !== undefined) {
  const clock = slowClock(10)
  const server = await natsServer('max_payload: 9MB')
  const proxy = await faultProxy(server.port)
  afterAll(async () => {
    await proxy.close()
    await server.close()
  })

  const cases = await backplaneContract({
    connect: async cluster => {
      const address = `nats://127.0.0.1:${proxy.port}`
      const backplane = nats(address, { clock, ...(cluster === undefined ? {} : { cluster }) })
      await backplane.open()
      return backplane
    },
    empty: () => deleteStreams(server.port),
    cut: async () => proxy.cut(),
    stall: async () => {
      proxy.faults.isSwallowing = true
      return async () => {
        proxy.faults.isSwallowing = false
      }
    },
  })

  describe('the contract of a backplane, in NATS', () => {
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
