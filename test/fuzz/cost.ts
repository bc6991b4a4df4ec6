import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * How many times longer the work takes for 32 times the size: about 32 where it is in proportion,
 * about 1024 where it is quadratic. The best of several rounds counts, and the sizes lie far apart,
 * so that caches do not decide; what looks quadratic is looked at longer.
 */
export function growth(size: number, work: (size: number) => void): number {
  let small = Number.POSITIVE_INFINITY
  let large = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5 || (round < 20 && large / small >= proportional); round++) {
    small = Math.min(
      small,
      spent(() => work(size)),
    )
    large = Math.min(
      large,
      spent(() => work(32 * size)),
    )
  }
  return large / small
}

/** Halfway between 32 and 1024 on the scale of ratios: a `growth` below it is no quadratic one. */
export const proportional = 180

/**
 * The time, in ms, that the processor spends on some work: unlike that on the wall it does not grow
 * when the machine has more to do.
 */
export function spent(work: () => void): number {
  const stop = watch()
  work()
  return stop()
}

/** Begins to measure what `spent` does, for work that waits; gives what ends it. */
export function watch(): () => number {
  const began = performance.now()
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    // Not every system counts the time of the processor finely enough to see little work.
    return user + system > 0 ? (user + system) / 1000 : performance.now() - began
  }
}

/**
 * The most memory, in bytes, that is held after any of the steps and was not held before. The
 * rubbish is collected before each look, so only what is still reachable counts.
 */
export function held(steps: number, step: (index: number) => void): number {
  const before = reachable()
  let most = 0
  for (let index = 0; index < steps; index++) {
    step(index)
    most = Math.max(most, reachable() - before)
  }
  return most
}

function reachable(): number {
  // Buffers are freed in the background; the second collection waits for the first one's.
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

setFlagsFromString('--expose-gc')
// The check: the flag above defines gc in every context made after it.
const collect = runInNewContext('gc') as () => void
