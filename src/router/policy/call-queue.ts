import { limits } from '../../util/limits/limits.ts'
import type { Priority } from '../options.ts'
import { priorities } from './priority.ts'

/** A call that is queued. */
export interface QueuedCall {
  readonly caller: string
  readonly priority: Priority
  /** Must be called when it is its turn. */
  readonly enter: () => void
}

/** The queued calls of one priority. */
interface Level {
  /** By caller. The order of the map is the order of the callers' turns. */
  readonly callers: Map<string, Set<QueuedCall>>
  /** Calls of more urgent levels that came first while one of this level was waiting. */
  passed: number
}

/**
 * A queue of calls. The most urgent call comes first, but after `priorityPasses` calls that came before
 * it a less urgent one has its turn, so none waits forever. Calls of one priority come round-robin by
 * caller, and those of one caller in their order.
 */
export class CallQueue {
  readonly #levels: readonly Level[] = priorities.map(() => ({ callers: new Map(), passed: 0 }))
  #size = 0

  get size(): number {
    return this.#size
  }

  add(call: QueuedCall): void {
    const { callers } = this.#levelOf(call)
    const queue = callers.get(call.caller)
    if (queue === undefined) callers.set(call.caller, new Set([call]))
    else queue.add(call)
    this.#size++
  }

  /** Removes a call that does not wait any longer. */
  remove(call: QueuedCall): void {
    const { callers } = this.#levelOf(call)
    const queue = callers.get(call.caller)
    if (queue?.delete(call) !== true) return
    if (queue.size === 0) callers.delete(call.caller)
    this.#size--
  }

  /** Removes and returns the call whose turn it is. */
  next(): QueuedCall | undefined {
    const waiting = this.#levels.filter(({ callers }) => callers.size > 0)
    const overdue = waiting.findLast(({ passed }) => passed >= limits.priorityPasses.default)
    const level = overdue ?? waiting[0]
    if (level === undefined) return undefined
    for (const less of waiting.slice(waiting.indexOf(level) + 1)) less.passed++
    level.passed = 0
    const [turn] = level.callers
    const [caller, queue] = turn ?? []
    const [call] = queue ?? []
    if (call === undefined || caller === undefined || queue === undefined) return undefined
    this.remove(call)
    // Moved to the end, so that every other queued caller comes before this caller's next call.
    if (level.callers.delete(caller)) level.callers.set(caller, queue)
    return call
  }

  #levelOf({ priority }: QueuedCall): Level {
    // The check: there is a level for each priority.
    return this.#levels[priorities.indexOf(priority)] as Level
  }
}
