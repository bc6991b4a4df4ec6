import { describe, test } from 'vitest'
import { judge } from './judge.js'
import { runs } from './runs.js'

// Most of this is waiting for timers of the suite, but a busy machine may need all of it.
const timeout = 900_000

describe.concurrent('the official conformance suite finds no problem', () => {
  const rows = runs.filter(({ isLong }) => !isLong).map(run => [run.name, run] as const)

  test.for(rows)('%s', { timeout }, async ([, run], { expect, signal }) => {
    const { scenarios, passed, problems } = await judge(run, { signal })
    expect(problems.join('\n'), 'what the suite says').toBe('')
    expect(scenarios).toBe(run.scenarios)
    expect(passed).toBeGreaterThan(0)
  })
})
