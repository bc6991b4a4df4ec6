import { type CallFinished, type CallStarted, events } from '../../observe/events.ts'
import { limits } from '../../util/limits/limits.ts'
import type { CallRow, LeftOut } from '../wire.ts'
import { type CallPart, type CallProgress, callRow, type RowOptions } from './call-rows.ts'
import { Ring } from './ring.ts'

/** The calls of one frame. */
export interface CallFrame {
  /** The calls that finished and were chosen, and calls that are in flight for a while, in the order of their start. */
  readonly rows: readonly CallRow[]
  /** The calls that finished and were not chosen. */
  readonly left: readonly LeftOut[]
  readonly inFlight: number
}

/** A finished call that may become a row. */
interface Candidate {
  readonly call: CallFinished
  readonly parts: readonly CallPart[] | undefined
}

/**
 * Collects calls while they are looked at. The listeners only keep references: what is shown is chosen by counts,
 * and rows are made for the chosen calls alone, once per frame. While nobody looks, nothing is subscribed.
 */
export class CallFeed {
  readonly #rowOptions: RowOptions
  readonly #ring = new Ring<CallRow>(limits.consoleCalls.default)
  readonly #inFlight = new Map<CallStarted, CallPart[] | undefined>()
  /** The numbers of calls that were shown while they were in flight. */
  #shown = new WeakMap<CallStarted, number>()
  /** Only the newest of each call: a server may report any number. */
  #progress = new WeakMap<CallStarted, CallProgress>()
  #notable: Candidate[] = []
  #others: Candidate[] = []
  #otherCount = 0
  #counts = new Map<string, Map<CallFinished['outcome'], number>>()
  #ends: readonly (() => void)[] = []
  #nextSeq: () => number

  constructor(rowOptions: RowOptions, nextSeq: () => number) {
    this.#rowOptions = rowOptions
    this.#nextSeq = nextSeq
  }

  /** Whether calls are being collected. */
  get isCollecting(): boolean {
    return this.#ends.length > 0
  }

  get count(): number {
    return this.#ring.count
  }

  list(): readonly CallRow[] {
    return this.#ring.list()
  }

  /** Returns the number of a call; undefined if it was not shown. */
  seqOf(call: CallStarted): number | undefined {
    return this.#shown.get(call)
  }

  /** Starts collecting. Idempotent. */
  start(): void {
    if (this.isCollecting) return
    this.#ends = [
      events.callStarted.subscribe(call => {
        if (this.#inFlight.size < limits.consoleInFlight.default) {
          this.#inFlight.set(call, undefined)
        }
      }),
      events.callFinished.subscribe(call => this.#finished(call)),
      events.callAttempted.subscribe(event => this.#part(event.call, { type: 'attempt', event })),
      events.callWaited.subscribe(event => this.#part(event.call, { type: 'wait', event })),
      events.callProgressed.subscribe(event => {
        if (!this.#inFlight.has(event.call)) return
        const reports = (this.#progress.get(event.call)?.reports ?? 0) + 1
        this.#progress.set(event.call, { event, atMs: performance.now(), reports })
      }),
      events.serverRequestSent.subscribe(({ call, method }) => {
        if (call === undefined) return
        this.#part(call, { type: 'question', method, atMs: performance.now() })
      }),
    ]
  }

  /** Stops collecting and forgets the calls in flight. The rows so far are kept. Idempotent. */
  stop(): void {
    for (const end of this.#ends) end()
    this.#ends = []
    this.#inFlight.clear()
    this.#shown = new WeakMap()
    this.#progress = new WeakMap()
    this.#reset()
  }

  /** Returns the calls since the last frame. */
  frame(): CallFrame {
    const chosen = this.#chosen()
    const left = this.#left(chosen)
    const finished = chosen.map(({ call, parts }) => this.#row(call, parts))
    for (const row of finished) this.#ring.push(row)
    this.#reset()
    const rows = [...finished, ...this.#runningRows()].sort((a, b) => a.at - b.at)
    return { rows, left, inFlight: this.#inFlight.size }
  }

  #part(call: CallStarted, part: CallPart): void {
    const parts = this.#inFlight.get(call)
    if (parts === undefined) {
      if (this.#inFlight.has(call)) this.#inFlight.set(call, [part])
    } else if (parts.length < limits.consoleSpans.default) parts.push(part)
  }

  #finished(call: CallFinished): void {
    const parts = this.#inFlight.get(call)
    this.#inFlight.delete(call)
    this.#countOne(call)
    const most = limits.consoleFrameCalls.default
    if (isNotable(call, parts) || this.#shown.has(call)) {
      if (this.#notable.length < most) this.#notable.push({ call, parts })
      return
    }
    // Reservoir sampling: every other call of the frame is chosen with the same probability.
    this.#otherCount++
    if (this.#others.length < most) {
      this.#others.push({ call, parts })
      return
    }
    const at = Math.floor(Math.random() * this.#otherCount)
    if (at < most) this.#others[at] = { call, parts }
  }

  #countOne({ server = '', outcome }: CallFinished): void {
    let outcomes = this.#counts.get(server)
    if (outcomes === undefined) {
      outcomes = new Map()
      this.#counts.set(server, outcomes)
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }

  #chosen(): readonly Candidate[] {
    const room = limits.consoleFrameCalls.default - this.#notable.length
    return [...this.#notable, ...this.#others.slice(0, room)].sort(
      (a, b) => a.call.startedMs - b.call.startedMs,
    )
  }

  /** Returns how many of the counted calls are not among the chosen ones. */
  #left(chosen: readonly Candidate[]): readonly LeftOut[] {
    for (const { call } of chosen) {
      const outcomes = this.#counts.get(call.server ?? '')
      outcomes?.set(call.outcome, (outcomes.get(call.outcome) ?? 0) - 1)
    }
    return Array.from(this.#counts, ([server, outcomes]) =>
      Array.from(outcomes, ([outcome, count]) => ({ server, outcome, count })),
    )
      .flat()
      .filter(({ count }) => count > 0)
  }

  /** Returns rows of calls that are in flight for longer than a frame, the oldest first. */
  #runningRows(): readonly CallRow[] {
    const rows: CallRow[] = []
    const before = performance.now() - limits.consoleFrameMs.default
    for (const [call, parts] of this.#inFlight) {
      // In the order of their start: all later ones are newer.
      if (call.startedMs > before || rows.length >= limits.consoleFrameCalls.default) break
      rows.push(this.#row(call, parts))
    }
    return rows
  }

  #row(call: CallStarted & Partial<CallFinished>, parts: readonly CallPart[] | undefined): CallRow {
    const known = this.#shown.get(call)
    const seq = known ?? this.#nextSeq()
    if (known === undefined) this.#shown.set(call, seq)
    return callRow(seq, call, parts, this.#rowOptions, this.#progress.get(call))
  }

  #reset(): void {
    this.#notable = []
    this.#others = []
    this.#otherCount = 0
    this.#counts = new Map()
  }
}

/** Whether a call is shown before others. */
function isNotable(call: CallFinished, parts: readonly CallPart[] | undefined): boolean {
  if (call.outcome !== 'ok' || (call.retries ?? 0) > 0) return true
  if (call.durationMs >= limits.slowCallMs.default) return true
  // One attempt is what every call has.
  return parts?.some(({ type }) => type !== 'attempt') === true
}
