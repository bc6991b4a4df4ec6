import { describe, expect, test } from 'vitest'
import type { HeartbeatReply, Membership } from '../../backplane/membership.ts'
import { memory } from '../../backplane/memory/memory.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { NodeLease } from './lease.ts'

function setUp(membership: Membership = memory().membership) {
  const clock = fakeClock()
  const replies: HeartbeatReply[] = []
  const failures: unknown[] = []
  const lease = new NodeLease({
    membership,
    node: 'a',
    facts: () => '{}',
    leaseMs: 1000,
    heartbeatMs: 100,
    clock,
    onReply: reply => void replies.push(reply),
    onFailed: error => void failures.push(error),
  })
  return { clock, lease, replies, failures }
}

/** Lets promises settle. */
const settle = () => new Promise(resolve => setImmediate(resolve))

describe('NodeLease', () => {
  test('holds the lease from before it was sent, for less than the lease', async () => {
    const { clock, lease } = setUp()
    expect(lease.isHeld).toBe(false)
    await lease.start()
    expect(lease.isHeld).toBe(true)
    await lease.stop()
    expect(lease.isHeld).toBe(false)
    expect(clock.pending).toBe(0)
  })

  test('renews the lease at each interval', async () => {
    const { clock, lease, replies } = setUp()
    await lease.start()
    for (let round = 0; round < 20; round++) {
      clock.advance(100)
      await settle()
    }
    expect(replies).toHaveLength(21)
    expect(lease.isHeld).toBe(true)
    expect(lease.reachableMs).toBe(2000)
    await lease.stop()
  })

  test('loses the lease while the engine cannot be reached, and counts anew afterwards', async () => {
    let isDown = false
    const { membership } = memory()
    const { clock, lease, failures } = setUp({
      heartbeat: async (...beat) => {
        if (isDown) throw new Error('down')
        return membership.heartbeat(...beat)
      },
      expel: (...args) => membership.expel(...args),
      leave: node => membership.leave(node),
    })
    await lease.start()
    isDown = true
    for (let round = 0; round < 10; round++) {
      clock.advance(100)
      await settle()
    }
    expect(failures).toHaveLength(10)
    expect(lease.isHeld).toBe(false)
    expect(lease.reachableMs).toBe(0)
    isDown = false
    clock.advance(100)
    await settle()
    expect(lease.isHeld).toBe(true)
    expect(lease.reachableMs).toBe(0)
    await lease.stop()
  })

  test('rejects if the first lease fails', async () => {
    const { lease } = setUp({
      heartbeat: () => Promise.reject(new Error('no engine')),
      expel: async () => false,
      leave: async () => {},
    })
    await expect(lease.start()).rejects.toThrow('no engine')
    await lease.stop()
  })
})
