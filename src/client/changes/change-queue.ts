import { limits } from '../../util/limits/limits.ts'
import type { Change } from './changes.ts'

interface Reader {
  readonly resolve: (result: IteratorResult<Change, undefined>) => void
  readonly reject: (error: unknown) => void
}

/**
 * A queue of changes that have not been read. It holds at most one change of the same type and subject;
 * beyond the limit it drops the oldest, and the reader gets a `lagged` change with their number.
 */
export class ChangeQueue {
  readonly #waiting = new Map<string, Change>()
  readonly #readers: Reader[] = []
  readonly #limit: number
  #missed = 0
  #end: { readonly error?: unknown } | undefined

  constructor(limit: number = limits.changes.default) {
    this.#limit = limit
  }

  /** Adds a change, or passes it to a waiting reader. */
  push(change: Change): void {
    if (this.#end !== undefined) return
    const reader = this.#readers.shift()
    if (reader !== undefined) {
      reader.resolve({ done: false, value: change })
      return
    }
    this.#waiting.set(keyOf(change), change)
    if (this.#waiting.size <= this.#limit) return
    for (const oldest of this.#waiting.keys()) {
      this.#waiting.delete(oldest)
      this.#missed++
      break
    }
  }

  /** Returns the next change; done after the end. Changes from before the end are still returned. */
  next(): Promise<IteratorResult<Change, undefined>> {
    const change = this.#take()
    if (change !== undefined) return Promise.resolve({ done: false, value: change })
    if (this.#end === undefined) {
      return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }))
    }
    const { error } = this.#end
    this.#end = {}
    return error === undefined
      ? Promise.resolve({ done: true, value: undefined })
      : Promise.reject(error)
  }

  /** Ends the queue. The reader gets the error, if any, once, after the changes from before the end. */
  end(error?: unknown): void {
    if (this.#end !== undefined) return
    this.#end = { error }
    const [first, ...others] = this.#readers.splice(0)
    if (first === undefined) return
    this.#end = {}
    if (error === undefined) first.resolve({ done: true, value: undefined })
    else first.reject(error)
    for (const reader of others) reader.resolve({ done: true, value: undefined })
  }

  /** Ends the queue and drops the changes that have not been read. */
  drop(): void {
    this.end()
    this.#end = {}
    this.#waiting.clear()
    this.#missed = 0
  }

  #take(): Change | undefined {
    if (this.#missed > 0) {
      const missed = this.#missed
      this.#missed = 0
      return { type: 'lagged', missed }
    }
    for (const [key, change] of this.#waiting) {
      this.#waiting.delete(key)
      return change
    }
    return undefined
  }
}

function keyOf(change: Change): string {
  if (change.type === 'resource') return `resource ${change.uri}`
  return change.type === 'task' ? `task ${change.id}` : change.type
}
