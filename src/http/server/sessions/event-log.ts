import { limits } from '../../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../../util/time/clock.ts'
import { Deadlines, timed } from '../../../util/time/deadline.ts'

/**
 * How many events are kept for clients that reconnect. A limit that is left out has the default of
 * `docs/limits.md`.
 */
export interface EventLogOptions {
  /** Maximum number of events kept for one stream; 1000 by default. */
  readonly maxStreamEvents?: number
  /** Maximum size of the events kept for one stream, in bytes; 1 MiB by default. */
  readonly maxStreamBytes?: number
  /** Maximum size of all streams together. */
  readonly maxBytes?: number
  /** How long an event is kept, in milliseconds; five minutes by default. */
  readonly maxAgeMs?: number
}

/** One kept event. */
export interface KeptEvent {
  /** The position of the event in its stream, counted from 1. */
  readonly sequence: number
  readonly data: string
}

/**
 * Keeps the events of all streams of one service for clients that reconnect. Number, size and age are
 * limited; the oldest events are dropped first.
 */
export class EventLog {
  readonly #options: Required<EventLogOptions>
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  readonly #aged = timed(() => this.#expire())
  /** Ends of the list of all events, in the order in which they were added. */
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

  /** Approximate size of all kept events in memory, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Makes the log of one stream. `onEmpty` is called whenever the last of its events has been dropped.
   */
  stream(onEmpty: () => void = () => {}): StreamLog {
    return new StreamLog(this.#host, onEmpty)
  }

  readonly #host: LogHost = {
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

  /**
   * Starts one deadline, for the oldest event. When it expires, the oldest event at that time sets the
   * next one.
   */
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

interface LogHost {
  keep(stream: StreamLog, sequence: number, data: string): void
  drop(entry: Entry): void
}

/** Memory of an event in addition to its text, in bytes. */
const OVERHEAD = 200
const wide = /[^\0-\xff]/

class Entry implements KeptEvent {
  readonly stream: StreamLog
  readonly sequence: number
  readonly data: string
  readonly at: number
  readonly bytes: number
  /** Neighbors in the list of all events, and the next event of the same stream. */
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

/** The kept events of one stream, numbered. */
export class StreamLog {
  readonly #host: LogHost
  readonly #onEmpty: () => void
  #first: Entry | undefined
  #newest: Entry | undefined
  #size = 0
  #bytes = 0
  #last = 0
  #lastDropped = 0

  constructor(host: LogHost, onEmpty: () => void) {
    this.#host = host
    this.#onEmpty = onEmpty
  }

  /** Number of kept events. */
  get size(): number {
    return this.#size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The oldest kept event. */
  get first(): Entry | undefined {
    return this.#first
  }

  /** The number of the latest dropped event; 0 while no event has been dropped. */
  get lastDropped(): number {
    return this.#lastDropped
  }

  /** Keeps an event and returns its number. An event larger than the limits is dropped at once. */
  add(data: string): number {
    const sequence = this.#last + 1
    this.#last = sequence
    this.#host.keep(this, sequence, data)
    return sequence
  }

  /**
   * Keeps an event that another process has added, under its number. `before` is the number of the event that the
   * process has reported before it: if this is the first event here, that one and all earlier ones count as dropped.
   */
  restore(sequence: number, data: string, before: number): void {
    if (this.#last === 0) this.#lastDropped = before
    this.#last = sequence
    this.#host.keep(this, sequence, data)
  }

  /** The number of the latest event; 0 before the first. */
  get last(): number {
    return this.#last
  }

  /** Whether this number is 0 or was assigned, and every event after it is still kept. */
  canReplayFrom(sequence: number): boolean {
    return sequence >= this.#lastDropped && sequence <= this.#last
  }

  /** Returns the kept events after the one with this number. */
  after(sequence: number): readonly KeptEvent[] {
    const found: KeptEvent[] = []
    for (let entry = this.#first; entry !== undefined; entry = entry.next) {
      if (entry.sequence > sequence) found.push(entry)
    }
    return found
  }

  /** Drops all events of the stream. */
  clear(): void {
    while (this.#first !== undefined) this.#host.drop(this.#first)
  }

  /** Called by the log only, after it has added an event. */
  append(entry: Entry): void {
    if (this.#newest === undefined) this.#first = entry
    else this.#newest.next = entry
    this.#newest = entry
    this.#size++
    this.#bytes += entry.bytes
  }

  /** Called by the log only, after it has dropped the first event. */
  dropFirst(): void {
    const entry = this.#first
    if (entry === undefined) return
    this.#first = entry.next
    if (this.#first === undefined) this.#newest = undefined
    this.#lastDropped = entry.sequence
    this.#size--
    this.#bytes -= entry.bytes
    if (this.#size === 0) this.#onEmpty()
  }
}
