import { describe, expect, test } from 'vitest'
import { Random } from './random.ts'
import { target } from './target.ts'
import { targets } from './targets.ts'

/** Each target gets these inputs, however slow the machine is. */
const executions = 500

/** All targets together take half a minute of CPU time, however fast the machine is. */
const cpuSeconds = 30 / targets.length

// Always the same inputs in the same order. `npm run fuzz` chooses others, for as long as it is told.
test.each(targets)('made-up input does no harm to $name', async each => {
  const before = process.cpuUsage()
  for (let seed = 0; seed < executions || cpuMs(before) < cpuSeconds * 1000; seed++) {
    await each.run(seed)
  }
})

function cpuMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

describe('the chance', () => {
  test('is the same for the same seed, and another for another', () => {
    const numbers = (seed: number): number[] => {
      const random = new Random(seed)
      return Array.from({ length: 20 }, () => random.int(1000))
    }
    expect(numbers(7)).toEqual(numbers(7))
    expect(numbers(7)).not.toEqual(numbers(8))
  })

  test('a cutting loses and adds nothing', () => {
    for (let seed = 0; seed < 100; seed++) {
      const random = new Random(seed)
      const bytes = random.bytes(random.int(50))
      expect(Buffer.concat(random.cut(bytes))).toEqual(Buffer.from(bytes))
    }
  })
})

test('a failure reports its input and how to reproduce it', async () => {
  const failing = target(
    'lines',
    () => ({ bytes: Buffer.from('a\n') }),
    () => {
      throw new Error('wrong')
    },
  )
  const failure = failing.run(5)
  await expect(failure).rejects.toThrow('npm run fuzz -- --target lines --seed 5\nwrong')
  await expect(failure).rejects.toThrow(String.raw`bytes: 'a\n'`)
})
