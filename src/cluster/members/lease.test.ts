import { describe, expect, test } from 'vitest'
import type { HeartbeatReply, Membership } from '../../backplane/membership.ts'
import { memory } from '../../backplane/memory/memory.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { NodeLease } from './lease.ts'

function setUp(membership: Membership = memory().membership) {
  const clock = fakeClock()
  const replies: HeartbeatReply[] = []
  const failures: unknown[] = []
  const heartbeat = new NodeLease({
    membership,
    node: 'a',
    facts: () => '{}',
    leaseMs: 1000,
    heartbeatMs: 100,
    clock,
    onReply: reply => void replies.push(reply),
    onFailed: error => void failures.push(error),
  })
  return { clock, heartbeat, replies, failures }
}

/** Lets promises settle. */
const settle = () => new Promise(resolve => setImmediate(resolve))

describe('NodeLease', () => {
  test('holds the lease from before it was sent, for less than the lease', async () => {
    const { clock, heartbeat } = setUp()
    expect(heartbeat.holdsLease).toBe(false)
    await heartbeat.start()
    expect(heartbeat.holdsLease).toBe(true)
    await heartbeat.stop()
    expect(heartbeat.holdsLease).toBe(false)
    expect(clock.pending).toBe(0)
  })

  test('renews the lease at each interval', async () => {
    const { clock, heartbeat, replies } = setUp()
    await heartbeat.start()
    for (let round = 0; round < 20; round++) {
      clock.advance(100)
      await settle()
    }
    expect(replies).toHaveLength(21)
    expect(heartbeat.holdsLease).toBe(true)
    expect(heartbeat.reachableMs).toBe(2000)
    await heartbeat.stop()
  })

  test('loses the lease while the engine cannot be reached, and counts anew afterwards', async () => {
    let isDown = false
    const { membership } = memory()
    const { clock, heartbeat, failures } = setUp({
      heartbeat: async (...beat) => {
        if (isDown) throw new Error('down')
        return membership.heartbeat(...beat)
      },
      expel: (...args) => membership.expel(...args),
      leave: node => membership.leave(node),
    })
    await heartbeat.start()
    isDown = true
    for (let round = 0; round < 10; round++) {
      clock.advance(100)
      await settle()
    }
    expect(failures).toHaveLength(10)
    expect(heartbeat.holdsLease).toBe(false)
    expect(heartbeat.reachableMs).toBe(0)
    isDown = false
    clock.advance(100)
    await settle()
    expect(heartbeat.holdsLease).toBe(true)
    expect(heartbeat.reachableMs).toBe(0)
    await heartbeat.stop()
  })

  test('rejects if the first heartbeat fails', async () => {
    const { heartbeat } = setUp({
      heartbeat: () => Promise.reject(new Error('no engine')),
      expel: async () => false,
      leave: async () => {},
    })
    await expect(heartbeat.start()).rejects.toThrow('no engine')
    await heartbeat.stop()
  })
})
