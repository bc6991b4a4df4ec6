import { expect, test } from 'vitest'
import { attacks } from './attacks.js'
import { runAttack } from './run-attack.js'

const MiB = 1024 * 1024

/**
 * An attack should cost less than 64 MiB: what a listener holds at most, as much again that is not
 * collected yet, and what V8 needs for the largest responses. The rest is a margin for memory that is free but
 * that the allocator has not returned to the system: up to 50 MiB in Node.js 20, and more in newer versions.
 */
const maxBytes = (64 + 96) * MiB

/**
 * An attack should keep the event loop for less than 100 ms of CPU time. A busy machine, whose caches are
 * shared, needs several times as long.
 */
const maxBlockedMs = 1000

/** What the system does not take back at once differs from run to run. What an attack really keeps does not. */
const runs = 3

test.each(Object.keys(attacks))('%s cost a bounded amount of memory and time', async name => {
  let cost = await runAttack(name)
  for (let run = 1; run < runs && !isBounded(cost); run++) cost = await runAttack(name)
  expect(cost.keptBytes).toBeLessThan(maxBytes)
  expect(cost.blockedMs).toBeLessThan(maxBlockedMs)
})

function isBounded({ keptBytes, blockedMs }: Awaited<ReturnType<typeof runAttack>>): boolean {
  return keptBytes < maxBytes && blockedMs < maxBlockedMs
}
