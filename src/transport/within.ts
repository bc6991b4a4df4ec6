import type { Clock } from '../util/time/clock.ts'

/**
 * Waits until `begin` calls what it is given, but no longer than `limitMs`; tells whether it was
 * called in time.
 */
export function within(
  limitMs: number,
  clock: Clock,
  begin: (done: () => void) => void,
): Promise<boolean> {
  return new Promise(resolve => {
    const timer = clock.start(() => resolve(false), limitMs)
    begin(() => {
      clock.stop(timer)
      resolve(true)
    })
  })
}
