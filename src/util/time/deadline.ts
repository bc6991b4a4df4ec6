import { type Clock, longestDelayMs, systemClock, type Timer } from './clock.ts'

/**
 * Something with a deadline. The other members belong to `Deadlines`, which keeps its lists in the
 * things themselves, so that a deadline costs no object of its own.
 */
export interface Timed extends Link {
  /** Called when the time is up, at most once per start. */
  expire(): void
}

/** A place in the ring of those that end in the same tick; undefined while no deadline runs. */
export interface Link {
  previous: Link | undefined
  next: Link | undefined
}

/** A thing that does nothing but run out of time. */
export function timed(expire: () => void): Timed {
  return { expire, previous: undefined, next: undefined }
}

/** The ring of one tick, which begins and ends with itself. */
interface Tick extends Link {
  readonly number: number
}

/**
 * All deadlines behind one timer.
 *
 * Starting and stopping one changes a few links and no timer, which matters because nearly every
 * deadline is stopped long before it ends. A deadline ends up to `tickMs` late and never early. The
 * timer keeps the process alive only while a deadline runs, and for a tick longer.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #tickMs: number
  readonly #ticks = new Map<number, Tick>()
  /** The tick used last: calls made together nearly always end together. */
  #latest: Tick | undefined
  #running = 0
  #timer: Timer | undefined
  #armedFor = 0
  #isHeld = false
  #isWatchingIdle = false

  constructor(clock: Clock = systemClock, tickMs = 16) {
    this.#clock = clock
    this.#tickMs = tickMs
  }

  /** How many deadlines run. */
  get size(): number {
    return this.#running
  }

  /** How many ticks are kept, for whoever watches over memory. */
  get ticks(): number {
    return this.#ticks.size
  }

  /** Starts the deadline of a thing that has none running. */
  start(thing: Timed, delayMs: number): void {
    const number = Math.ceil((this.#clock.now() + delayMs) / this.#tickMs)
    const tick = this.#latest?.number === number ? this.#latest : this.#tick(number)
    thing.previous = tick
    thing.next = tick.next
    if (tick.next !== undefined) tick.next.previous = thing
    tick.next = thing
    this.#running++
    if (!this.#isHeld) this.#hold()
  }

  /** Stops it, if it runs. */
  stop(thing: Timed): void {
    const { previous, next } = thing
    if (previous === undefined || next === undefined) return
    previous.next = next
    next.previous = previous
    // A ring of one is the tick alone. The latest one stays: calls made together end together.
    if (previous === next && previous !== this.#latest)
      this.#ticks.delete((previous as Tick).number)
    thing.previous = undefined
    thing.next = undefined
    this.#running--
    if (this.#running === 0 && !this.#isWatchingIdle) this.#watchIdle()
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
    // Timers take no longer delay; one that fires early finds nothing due and is armed again.
    this.#timer = this.#clock.start(() => this.#fire(), Math.min(delayMs, longestDelayMs))
    this.#isHeld = true
    if (this.#running === 0) this.#letGo()
  }

  #hold(): void {
    this.#timer?.ref()
    this.#isHeld = true
  }

  #letGo(): void {
    this.#timer?.unref()
    this.#isHeld = false
  }

  /** Lets the process end a tick after the last deadline stopped: one call soon follows another. */
  #watchIdle(): void {
    this.#isWatchingIdle = true
    this.#clock.start(() => {
      this.#isWatchingIdle = false
      if (this.#running === 0) this.#letGo()
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
      // The check: only the tick itself is no Timed.
      for (let at = tick.next; at !== undefined && at !== tick; at = at.next) due.push(at as Timed)
    }
    if (nearest !== Number.POSITIVE_INFINITY) this.#arm(nearest)
    for (const thing of due) {
      // One that ends may have stopped others, which have no place any more.
      if (thing.next === undefined) continue
      this.stop(thing)
      thing.expire()
    }
  }
}

/** The deadlines of everything that runs on the machine's own clock. */
export const systemDeadlines = new Deadlines()
