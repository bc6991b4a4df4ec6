import type { CallFinished, CallStarted } from './events.ts'

/**
 * Counts calls. Most calls succeed synchronously: for those the counters get plain values, and no event
 * object is made. `server` is `''` if there is only one.
 */
export interface CallCounters {
  /** A call has started that did not complete synchronously. */
  started(call: CallStarted): void
  /** A started call was routed to another server. */
  rerouted(from: string, to: string, call: CallStarted): void
  /** A started call has finished, with any outcome. */
  finished(call: CallFinished): void
  /** A call has started and succeeded synchronously. */
  completed(server: string, method: string, name: string | undefined, durationMs: number): void
}

let counters: readonly CallCounters[] = []

/** Adds counters for the calls of this process. Returns a function that removes them. */
export function addCallCounters(counter: CallCounters): () => void {
  counters = [...counters, counter]
  return () => {
    counters = counters.filter(one => one !== counter)
  }
}

/** Whether there are any counters. */
export function hasCallCounters(): boolean {
  return counters.length > 0
}

/** Passes calls to all counters that have been added. */
export const callCounters: CallCounters = {
  started: call => {
    for (const counter of counters) counter.started(call)
  },
  rerouted: (from, to, call) => {
    for (const counter of counters) counter.rerouted(from, to, call)
  },
  finished: call => {
    for (const counter of counters) counter.finished(call)
  },
  completed: (server, method, name, durationMs) => {
    for (const counter of counters) counter.completed(server, method, name, durationMs)
  },
}
