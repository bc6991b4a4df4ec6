import type { CallBegun, CallEnded } from './events.ts'

/**
 * Somebody who counts calls. Most calls are answered well and at once: for those it is given numbers and
 * names, and no event is made. Servers are named `''` where there is but one.
 */
export interface Tally {
  /** A call has begun that was not answered at once. */
  begun(call: CallBegun): void
  /** It has been found out that another server answers it. */
  moved(from: string, to: string, call: CallBegun): void
  /** It has ended, one way or another. */
  ended(call: CallEnded): void
  /** A call has begun and was answered well, at once. */
  done(server: string, method: string, name: string | undefined, durationMs: number): void
}

let tallies: readonly Tally[] = []

/** Has the calls of this process counted, until the function that comes back is called. */
export function keepTally(tally: Tally): () => void {
  tallies = [...tallies, tally]
  return () => {
    tallies = tallies.filter(one => one !== tally)
  }
}

/** Whether anybody counts. */
export function isTallied(): boolean {
  return tallies.length > 0
}

/** All who count at present. */
export const allTallies: Tally = {
  begun: call => {
    for (const tally of tallies) tally.begun(call)
  },
  moved: (from, to, call) => {
    for (const tally of tallies) tally.moved(from, to, call)
  },
  ended: call => {
    for (const tally of tallies) tally.ended(call)
  },
  done: (server, method, name, durationMs) => {
    for (const tally of tallies) tally.done(server, method, name, durationMs)
  },
}
