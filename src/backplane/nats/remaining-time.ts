import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'

/** Returns a function for what remains of `engineMs` from now on: an operation of several steps settles within it. */
export function remainingMs(clock: Clock): () => number {
  const end = clock.now() + limits.engineMs.default
  return () => Math.max(1, end - clock.now())
}
