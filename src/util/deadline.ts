import { type Clock, systemClock, type Timer } from './clock.ts'

/**
 * Something with a deadline. The other members belong to `Deadlines`, which keeps its lists in the
 * things themselves, so that a deadline costs no object of its own.
 */
export interface Timed {
  /** Called when the time is up, at most once per start. */
  expire(): void
  /** The tick it ends in; 0 while no deadline runs. */
  tick: number
  previous: Timed | undefined
  next: Timed | undefined
}

/** A thing that does nothing but run out of time. */
export function timed(expire: () => void): Timed {
  return { expire, tick: 0, previous: undefined, next: undefined }
}

/**
 * All deadlines behind one timer.
 *
 * Starting and stopping one costs a map access and no timer, which matters because nearly every
 * deadline is stopped long before it ends. A deadline ends up to `tickMs` late and never early. The
 * timer keeps the process alive only while a deadline runs.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #tickMs: number
  /** The first of those that end in a tick, for each tick that has any. */
  readonly #ticks = new Map<number, Timed>()
  #running = 0
  #timer: Timer | undefined
  #armedFor = 0

  constructor(clock: Clock = systemClock, tickMs = 16) {
    this.#clock = clock
    this.#tickMs = tickMs
  }

  /** How many deadlines run. */
  get size(): number {
    return this.#running
  }

  /** Starts the deadline of a thing that has none running. */
  start(thing: Timed, delayMs: number): void {
    const tick = Math.max(1, Math.ceil((this.#clock.now() + delayMs) / this.#tickMs))
    const first = this.#ticks.get(tick)
    thing.tick = tick
    thing.next = first
    if (first !== undefined) first.previous = thing
    this.#ticks.set(tick, thing)
    if (this.#timer === undefined || tick < this.#armedFor) this.#arm(tick)
    else if (this.#running === 0) this.#timer.ref()
    this.#running++
  }

  /** Stops it, if it runs. */
  stop(thing: Timed): void {
    if (thing.tick === 0) return
    const { previous, next } = thing
    if (next !== undefined) next.previous = previous
    if (previous !== undefined) previous.next = next
    else if (next !== undefined) this.#ticks.set(thing.tick, next)
    else this.#ticks.delete(thing.tick)
    thing.tick = 0
    thing.previous = undefined
    thing.next = undefined
    this.#running--
    if (this.#running === 0) this.#timer?.unref()
  }

  #arm(tick: number): void {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#armedFor = tick
    const delayMs = Math.max(0, tick * this.#tickMs - this.#clock.now())
    // Timers take no longer delay; one that fires early finds nothing due and is armed again.
    this.#timer = this.#clock.start(() => this.#fire(), Math.min(delayMs, 0x7fffffff))
  }

  #fire(): void {
    this.#timer = undefined
    const now = this.#clock.now()
    const due: Timed[] = []
    let nearest = Number.POSITIVE_INFINITY
    for (const [tick, first] of this.#ticks) {
      if (tick * this.#tickMs > now) nearest = Math.min(nearest, tick)
      else for (let one: Timed | undefined = first; one !== undefined; one = one.next) due.push(one)
    }
    if (nearest !== Number.POSITIVE_INFINITY) this.#arm(nearest)
    for (const thing of due) {
      // One that ends may stop others, or start them again for later.
      if (thing.tick === 0 || thing.tick * this.#tickMs > now) continue
      this.stop(thing)
      thing.expire()
    }
  }
}

/** The deadlines of everything that runs on the machine's own clock. */
export const systemDeadlines = new Deadlines()
