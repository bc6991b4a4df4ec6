import { test } from 'vitest'
import { targets } from './targets.ts'

/** No input is large enough to take this much CPU time. */
const hangMs = 1000

const { FUZZ_SECONDS, FUZZ_SEED, FUZZ_TARGET } = process.env

// Started by scripts/fuzz.js, which checks its arguments.
test('fuzz', async () => {
  const chosen = targets.filter(({ name }) => FUZZ_TARGET === undefined || FUZZ_TARGET === name)
  if (chosen.length === 0) {
    throw new Error(`the targets are ${targets.map(({ name }) => name).join(', ')}`)
  }
  const first = FUZZ_SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(FUZZ_SEED)
  // A seed alone means one run with one input.
  const seconds = FUZZ_SECONDS ?? (FUZZ_SEED === undefined ? '10' : '0')
  const until = performance.now() + Number(seconds) * 1000
  console.log(`seed ${first}`)
  let seed = first
  do {
    for (const target of chosen) {
      const before = process.cpuUsage()
      await target.run(seed)
      const { user, system } = process.cpuUsage(before)
      const tookMs = (user + system) / 1000
      if (tookMs > hangMs) throw new Error(`${target.name} with seed ${seed} took ${tookMs} ms`)
    }
    seed++
  } while (performance.now() < until)
  for (const { name } of chosen) console.log(`${name}: ${seed - first} executions`)
})
