import { expect, test } from 'vitest'
import { targets } from './targets.ts'

/** All targets together take a minute, however fast the machine is. */
const cpuSeconds = 60 / targets.length

// Always the same inputs in the same order. `npm run fuzz` chooses others.
test.each(targets)('no input harms $name', async target => {
  const before = process.cpuUsage()
  let seed = 500
  do await target.run(seed++)
  while (cpuMs(before) < cpuSeconds * 1000)
  expect(seed).toBeGreaterThan(500)
})

function cpuMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
