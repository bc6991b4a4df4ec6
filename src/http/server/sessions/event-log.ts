import { limits } from '../../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../../util/time/clock.ts'
import { Deadlines, timed } from '../../../util/time/deadline.ts'

/** How much is kept for clients that come back. What is left out has the default of `docs/limits.md`. */
export interface EventLogOptions {
  readonly maxStreamEvents?: number
  readonly maxStreamBytes?: number
  /** All streams together. */
  readonly maxBytes?: number
  readonly maxAgeMs?: number
}

/** One event that was kept. */
export interface KeptEvent {
  /** Its place in its stream; the first has 1. */
  readonly sequence: number
  readonly data: string
}

/**
 * The events of all streams of one service, as long as they are kept: so many, so large and so old at
 * most, and the oldest go first.
 */
export class EventLog {
  readonly #options: Required<EventLogOptions>
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  readonly #aged = timed(() => this.#expire())
  /** The oldest and the newest of all, in the order in which they came. */
  #oldest: Entry | undefined
  #newest: Entry | undefined
  #bytes = 0
  #isWaiting = false

  constructor(
    options: EventLogOptions = {},
    clock: Clock = systemClock,
    deadlines: Deadlines = new Deadlines(clock),
  ) {
    this.#options = {
      maxStreamEvents: options.maxStreamEvents ?? limits.streamEvents.default,
      maxStreamBytes: options.maxStreamBytes ?? limits.streamBytes.default,
      maxBytes: options.maxBytes ?? limits.eventLogBytes.default,
      maxAgeMs: options.maxAgeMs ?? limits.eventAgeMs.default,
    }
    this.#clock = clock
    this.#deadlines = deadlines
  }

  /** What is kept, in bytes of memory, about. */
  get bytes(): number {
    return this.#bytes
  }

  /** Begins a stream. `onEmpty` is called whenever the last of its events has been dropped. */
  stream(onEmpty: () => void = () => {}): StreamLog {
    return new StreamLog(this.#keeper, onEmpty)
  }

  readonly #keeper: Keeper = {
    keep: (stream, sequence, data) => {
      const entry = new Entry(stream, sequence, data, this.#clock.now())
      entry.older = this.#newest
      if (this.#newest === undefined) this.#oldest = entry
      else this.#newest.newer = entry
      this.#newest = entry
      this.#bytes += entry.bytes
      stream.append(entry)
      const { maxStreamEvents, maxStreamBytes, maxBytes } = this.#options
      while (stream.size > maxStreamEvents || stream.bytes > maxStreamBytes) {
        this.#drop(stream.first)
      }
      while (this.#bytes > maxBytes) this.#drop(this.#oldest)
      this.#wait()
    },
    drop: entry => this.#drop(entry),
  }

  #drop(entry: Entry | undefined): void {
    if (entry === undefined) return
    if (entry.older === undefined) this.#oldest = entry.newer
    else entry.older.newer = entry.newer
    if (entry.newer === undefined) this.#newest = entry.older
    else entry.newer.older = entry.older
    this.#bytes -= entry.bytes
    if (this.#oldest === undefined) this.#rest()
    entry.stream.dropFirst()
  }

  /** One deadline, for the oldest; whoever is the oldest by then decides about the next one. */
  #wait(): void {
    if (this.#isWaiting || this.#oldest === undefined) return
    this.#isWaiting = true
    const ageMs = this.#clock.now() - this.#oldest.at
    this.#deadlines.start(this.#aged, Math.max(0, this.#options.maxAgeMs - ageMs))
  }

  #rest(): void {
    this.#isWaiting = false
    this.#deadlines.stop(this.#aged)
  }

  #expire(): void {
    this.#isWaiting = false
    const limit = this.#clock.now() - this.#options.maxAgeMs
    while (this.#oldest !== undefined && this.#oldest.at <= limit) this.#drop(this.#oldest)
    this.#wait()
  }
}

interface Keeper {
  keep(stream: StreamLog, sequence: number, data: string): void
  drop(entry: Entry): void
}

/** What an event costs beside its text. */
const OVERHEAD = 200
const wide = /[^\0-\xff]/

class Entry implements KeptEvent {
  readonly stream: StreamLog
  readonly sequence: number
  readonly data: string
  readonly at: number
  readonly bytes: number
  /** Its neighbours among all, and the next one of its stream. */
  older: Entry | undefined
  newer: Entry | undefined
  next: Entry | undefined

  constructor(stream: StreamLog, sequence: number, data: string, at: number) {
    this.stream = stream
    this.sequence = sequence
    this.data = data
    this.at = at
    this.bytes = (wide.test(data) ? data.length * 2 : data.length) + OVERHEAD
  }
}

/** The events of one stream, numbered, as far as they are still there. */
export class StreamLog {
  readonly #keeper: Keeper
  readonly #onEmpty: () => void
  #first: Entry | undefined
  #newest: Entry | undefined
  #size = 0
  #bytes = 0
  #last = 0
  #gone = 0

  constructor(keeper: Keeper, onEmpty: () => void) {
    this.#keeper = keeper
    this.#onEmpty = onEmpty
  }

  /** How many events are there. */
  get size(): number {
    return this.#size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The oldest that is there. */
  get first(): Entry | undefined {
    return this.#first
  }

  /** The number of the latest event that is not there any more; 0 while all of them are. */
  get gone(): number {
    return this.#gone
  }

  /** Keeps an event, if there is room for it at all, and gives its number. */
  add(data: string): number {
    const sequence = this.#last + 1
    this.#last = sequence
    this.#keeper.keep(this, sequence, data)
    return sequence
  }

  /** Whether this number has been given, or is 0, and every event after it is still there. */
  reaches(sequence: number): boolean {
    return sequence >= this.#gone && sequence <= this.#last
  }

  /** The events after the one of this number, as far as they are still there. */
  after(sequence: number): readonly KeptEvent[] {
    const found: KeptEvent[] = []
    for (let entry = this.#first; entry !== undefined; entry = entry.next) {
      if (entry.sequence > sequence) found.push(entry)
    }
    return found
  }

  /** Drops everything. */
  clear(): void {
    while (this.#first !== undefined) this.#keeper.drop(this.#first)
  }

  /** For the log alone: one more is there. */
  append(entry: Entry): void {
    if (this.#newest === undefined) this.#first = entry
    else this.#newest.next = entry
    this.#newest = entry
    this.#size++
    this.#bytes += entry.bytes
  }

  /** For the log alone: the first one is not there any more. */
  dropFirst(): void {
    const entry = this.#first
    if (entry === undefined) return
    this.#first = entry.next
    if (this.#first === undefined) this.#newest = undefined
    this.#gone = entry.sequence
    this.#size--
    this.#bytes -= entry.bytes
    if (this.#size === 0) this.#onEmpty()
  }
}
