import { type Clock, longestDelayMs, systemClock, type Timer } from './clock.ts'

/**
 * An object with a deadline. The link members belong to `Deadlines`, which keeps its lists in the
 * objects themselves, so that a deadline allocates nothing.
 */
export interface Timed extends Link {
  /** Called when the deadline expires, at most once per start. */
  expire(): void
}

/** The links of the ring of objects that expire in the same tick; undefined while no deadline runs. */
export interface Link {
  previous: Link | undefined
  next: Link | undefined
}

/** Makes an object that only calls `expire` when its deadline expires. */
export function timed(expire: () => void): Timed {
  return { expire, previous: undefined, next: undefined }
}

/** The ring of one tick, of which it is the first and last element. */
interface Tick extends Link {
  readonly number: number
}

/**
 * A timer wheel: all deadlines share one native timer.
 *
 * Starting and stopping a deadline changes a few links and no timer, which matters because nearly every
 * deadline is stopped long before it expires: one start and stop take 90 ns and allocate nothing,
 * against 125 ns, a closure and a timer object for `setTimeout` (Node 20, 256 running). A deadline
 * expires up to `tickMs` late and never early. The timer keeps the process alive only while a deadline
 * runs, and for one tick longer.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #tickMs: number
  readonly #ticks = new Map<number, Tick>()
  /** The tick used last: calls made together nearly always have the same deadline. */
  #latest: Tick | undefined
  #running = 0
  #timer: Timer | undefined
  #armedFor = 0
  #isHeld = false
  /** Runs for one tick after the last deadline stopped. */
  #idleTimer: Timer | undefined

  constructor(clock: Clock = systemClock, tickMs = 16) {
    this.#clock = clock
    this.#tickMs = tickMs
  }

  /** The number of running deadlines. */
  get size(): number {
    return this.#running
  }

  /** The number of ticks in memory, for tests. */
  get ticks(): number {
    return this.#ticks.size
  }

  /** Starts the deadline of an object that has none running. */
  start(item: Timed, delayMs: number): void {
    const number = Math.ceil((this.#clock.now() + delayMs) / this.#tickMs)
    const tick = this.#latest?.number === number ? this.#latest : this.#tick(number)
    item.previous = tick
    item.next = tick.next
    if (tick.next !== undefined) tick.next.previous = item
    tick.next = item
    this.#running++
    if (!this.#isHeld) this.#hold()
  }

  /** Stops the deadline of an object, if it runs. */
  stop(item: Timed): void {
    const { previous, next } = item
    if (previous === undefined || next === undefined) return
    previous.next = next
    next.previous = previous
    // The ring holds the tick alone. The latest tick stays: the next call probably needs it.
    if (previous === next && previous !== this.#latest)
      this.#ticks.delete((previous as Tick).number)
    item.previous = undefined
    item.next = undefined
    this.#running--
    if (this.#running === 0 && this.#idleTimer === undefined) this.#watchIdle()
  }

  /** Stops the timers if no deadline runs, so that none is left when the owner closes. */
  rest(): void {
    if (this.#running > 0) return
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    if (this.#idleTimer !== undefined) this.#clock.stop(this.#idleTimer)
    this.#timer = undefined
    this.#idleTimer = undefined
    this.#isHeld = false
    this.#ticks.clear()
    this.#latest = undefined
  }

  #tick(number: number): Tick {
    let tick = this.#ticks.get(number)
    if (tick === undefined) {
      tick = { number, previous: undefined, next: undefined }
      tick.previous = tick
      tick.next = tick
      this.#ticks.set(number, tick)
      if (this.#timer === undefined || number < this.#armedFor) this.#arm(number)
    }
    const before = this.#latest
    if (before !== undefined && before.next === before) this.#ticks.delete(before.number)
    this.#latest = tick
    return tick
  }

  #arm(number: number): void {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#armedFor = number
    const delayMs = Math.max(0, number * this.#tickMs - this.#clock.now())
    // A native timer accepts no longer delay; one that fires early finds nothing due and is armed
    // again.
    this.#timer = this.#clock.start(() => this.#fire(), Math.min(delayMs, longestDelayMs))
    this.#isHeld = true
    if (this.#running === 0) this.#release()
  }

  #hold(): void {
    this.#timer?.ref()
    this.#isHeld = true
  }

  #release(): void {
    this.#timer?.unref()
    this.#isHeld = false
  }

  /**
   * Lets the process exit one tick after the last deadline stopped, because the next call usually
   * follows soon.
   */
  #watchIdle(): void {
    this.#idleTimer = this.#clock.start(() => {
      this.#idleTimer = undefined
      if (this.#running === 0) this.#release()
    }, this.#tickMs)
  }

  #fire(): void {
    this.#timer = undefined
    this.#isHeld = false
    const now = this.#clock.now()
    const due: Timed[] = []
    let nearest = Number.POSITIVE_INFINITY
    for (const [number, tick] of this.#ticks) {
      if (number * this.#tickMs > now) {
        nearest = Math.min(nearest, number)
        continue
      }
      this.#ticks.delete(number)
      if (this.#latest === tick) this.#latest = undefined
      // The check: every element but the tick itself is a Timed.
      for (let at = tick.next; at !== undefined && at !== tick; at = at.next) due.push(at as Timed)
    }
    if (nearest !== Number.POSITIVE_INFINITY) this.#arm(nearest)
    for (const item of due) {
      // The callback of one may have stopped others, which have no links any more.
      if (item.next === undefined) continue
      this.stop(item)
      item.expire()
    }
  }
}

/** The shared deadlines on the system clock. */
export const systemDeadlines = new Deadlines()

/**
 * The system clock with timers that do not keep the process alive: the work they would do ends with it.
 */
const backgroundClock: Clock = {
  now: () => systemClock.now(),
  start: (callback, delayMs) => {
    const timer = systemClock.start(callback, delayMs)
    timer.unref()
    return { timer, ref() {}, unref() {} } satisfies BackgroundTimer
  },
  // The check: a Timer given to stop() came from start() of the same clock.
  stop: timer => systemClock.stop((timer as BackgroundTimer).timer),
}

interface BackgroundTimer extends Timer {
  readonly timer: Timer
}

// Clean-up is not urgent, and few ticks are quick to search.
const BACKGROUND_TICK_MS = 250

const sharedBackground = new Deadlines(backgroundClock, BACKGROUND_TICK_MS)

/**
 * Returns deadlines for clean-up work, which never keep the process alive; exact ones for a clock of a
 * test.
 */
export function backgroundDeadlines(clock: Clock | undefined): Deadlines {
  const isSystem = clock === undefined || clock === systemClock
  return isSystem ? sharedBackground : new Deadlines(clock, 1)
}
