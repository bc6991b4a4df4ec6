import { type Clock, longestDelayMs, systemClock } from './clock.ts'

/**
 * Runs `callback` once the wall clock reaches a time in milliseconds since 1970, however far away it is: a
 * native timer covers 24 days, so a longer wait is made of several. Returns a function that cancels it.
 */
export function startAt(
  time: number,
  callback: () => void,
  clock: Clock = systemClock,
  now: () => number = Date.now,
): () => void {
  const wait = () => {
    const leftMs = Math.max(0, time - now())
    return clock.start(
      () => {
        if (leftMs <= longestDelayMs) callback()
        else timer = wait()
      },
      Math.min(leftMs, longestDelayMs),
    )
  }
  let timer = wait()
  return () => clock.stop(timer)
}
