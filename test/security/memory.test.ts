import { expect, test } from 'vitest'
import { attacks } from './attacks.js'
import { runAttack } from './run-attack.js'

const MiB = 1024 * 1024

/**
 * An attack should cost less than 64 MiB: what a listener holds at most, as much again that is not
 * collected yet, and what V8 needs for the largest responses. The rest is a margin, because how much
 * memory the system takes back varies.
 */
const maxBytes = (64 + 32) * MiB

/**
 * An attack should keep the event loop for less than 100 ms of CPU time. A busy machine, whose caches are
 * shared, needs several times as long.
 */
const maxBlockedMs = 1000

test.each(Object.keys(attacks))('%s cost a bounded amount of memory and time', async name => {
  const { keptBytes, blockedMs } = await runAttack(name)
  expect(keptBytes).toBeLessThan(maxBytes)
  expect(blockedMs).toBeLessThan(maxBlockedMs)
})
