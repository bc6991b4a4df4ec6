import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Returns how many times longer the work takes for 32 times the size: about 32 if it is linear, about
 * 1024 if it is quadratic. The best of several rounds counts, and the sizes lie far apart, so that
 * caches do not decide; a result that looks quadratic is measured again.
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

/** The geometric mean of 32 and 1024: a `growth` below it is not quadratic. */
export const proportional = 180

/**
 * Returns the CPU time of some work in ms: unlike the elapsed time it does not grow when the machine is
 * busy.
 */
export function spent(work: () => void): number {
  const stop = watch()
  work()
  return stop()
}

/** Starts measuring CPU time, for asynchronous work; returns a function that stops and returns it. */
export function watch(): () => number {
  const began = performance.now()
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    // Not every system measures CPU time finely enough for short work.
    return user + system > 0 ? (user + system) / 1000 : performance.now() - began
  }
}

/**
 * Returns the most additional memory, in bytes, that is in use after any of the steps. Garbage is
 * collected before each measurement, so only reachable memory counts.
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
  // Buffers are freed in the background; the second collection waits for those of the first.
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

setFlagsFromString('--expose-gc')
// The check: the flag above defines gc in every context made after it.
const collect = runInNewContext('gc') as () => void
