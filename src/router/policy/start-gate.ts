import { limits } from '../../util/limits/limits.ts'
import { type Deadlines, systemDeadlines, timed } from '../../util/time/deadline.ts'

/**
 * Lets only so many processes start at the same time, and the others in turn: programs that all start at
 * once on a few cores are all slow, and servers that could respond time out. A start that takes longer than
 * `startTurnMs` no longer counts, because it may wait for a download or a network.
 */
export class StartGate {
  readonly #max: number
  readonly #deadlines: Deadlines
  readonly #queue: (() => void)[] = []
  #inside = 0

  /** Throws a TypeError for a number below 1. */
  constructor(max: number = defaultStarts(), deadlines: Deadlines = systemDeadlines) {
    if (!(max >= 1)) throw new TypeError(`concurrentStarts must be at least 1 (got ${max})`)
    this.#max = max
    this.#deadlines = deadlines
  }

  /**
   * Resolves when a process may start, with the function to call once it has started or failed. Rejects
   * with the reason of the signal when that aborts first.
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#inside >= this.#max) await this.#turn(signal)
    else this.#inside++
    let isInside = true
    const leave = (): void => {
      this.#deadlines.stop(late)
      if (!isInside) return
      isInside = false
      this.#leave()
    }
    const late = timed(leave)
    this.#deadlines.start(late, limits.startTurnMs.default)
    return leave
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue.splice(this.#queue.indexOf(next), 1)
        reject(signal.reason)
      }
      const next = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      this.#queue.push(next)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** The place goes to the next in the queue, if there is one. */
  #leave(): void {
    const next = this.#queue.shift()
    if (next === undefined) this.#inside--
    else next()
  }
}

/** Returns how many processes may start at the same time if nothing is configured. */
export function defaultStarts(cores: number = knownCores()): number {
  return cores * limits.startsPerCore.default
}

function knownCores(): number {
  const { navigator } = globalThis as { navigator?: { hardwareConcurrency?: unknown } }
  const cores = navigator?.hardwareConcurrency
  return typeof cores === 'number' && cores >= 1 ? cores : unknownCores
}

/** Assumed where the runtime does not say how many cores there are. */
const unknownCores = 2
