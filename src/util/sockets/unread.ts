import { limits } from '../limits/limits.ts'
import { type Deadlines, systemDeadlines, type Timed, timed } from '../time/deadline.ts'
import type { HeldBytes, Holding } from './held-bytes.ts'
import { type ServerSocket, sentBytes } from './socket.ts'

/** Options of an UnreadOutput. */
export interface UnreadOptions {
  /** Milliseconds for which a peer may read nothing. */
  readonly stallMs?: number
  /** Counts what is unread; beyond its budget, peers are disconnected that have read nothing for longest. */
  readonly held?: HeldBytes
  readonly deadlines?: Deadlines
}

/**
 * Watches the output of sockets that the system did not accept at once, and destroys a socket whose
 * peer reads nothing for `stallMs`, also after `end()`. A peer that reads slowly is left alone.
 *
 * The owner of a socket calls `written` after each write that leaves bytes in it.
 */
export class UnreadOutput {
  readonly #stallMs: number
  readonly #held: HeldBytes | undefined
  readonly #deadlines: Deadlines
  readonly #waiting = new Map<ServerSocket, Waiting>()

  constructor(options: UnreadOptions = {}) {
    this.#stallMs = options.stallMs ?? limits.stallMs.default
    this.#held = options.held
    this.#deadlines = options.deadlines ?? systemDeadlines
  }

  /** The number of sockets with unread output. */
  get size(): number {
    return this.#waiting.size
  }

  /** Watches a socket until everything written to it was sent. */
  written(socket: ServerSocket): void {
    if (socket.destroyed || socket.writableLength === 0) return
    const waiting = this.#waiting.get(socket) ?? this.#watch(socket)
    waiting.holding?.set(socket.writableLength)
  }

  #watch(socket: ServerSocket): Waiting {
    const done = (): void => this.#forget(socket)
    const check = timed(() => this.#check(socket))
    const sent = sentBytes(socket)
    const holding = this.#held?.hold(() => this.#cut(socket))
    const waiting = { check, done, holding, sent, stalls: 0 }
    this.#waiting.set(socket, waiting)
    this.#deadlines.start(check, this.#stallMs / checks)
    socket.on('drain', done)
    socket.on('close', done)
    return waiting
  }

  #check(socket: ServerSocket): void {
    const waiting = this.#waiting.get(socket)
    if (waiting === undefined) return
    if (socket.writableLength === 0) {
      this.#forget(socket)
      return
    }
    const sent = sentBytes(socket)
    if (sent > waiting.sent) {
      waiting.stalls = 0
      waiting.sent = sent
      waiting.holding?.progressed()
      waiting.holding?.set(socket.writableLength)
    } else waiting.stalls++
    if (waiting.stalls >= checks) this.#cut(socket)
    else this.#deadlines.start(waiting.check, this.#stallMs / checks)
  }

  #cut(socket: ServerSocket): void {
    this.#forget(socket)
    socket.destroy()
  }

  #forget(socket: ServerSocket): void {
    const waiting = this.#waiting.get(socket)
    if (waiting === undefined) return
    this.#waiting.delete(socket)
    waiting.holding?.set(0)
    this.#deadlines.stop(waiting.check)
    socket.off('drain', waiting.done)
    socket.off('close', waiting.done)
  }
}

interface Waiting {
  readonly check: Timed
  readonly done: () => void
  readonly holding: Holding | undefined
  sent: number
  /** The number of checks in a row that found no progress. */
  stalls: number
}

/** The number of checks in one stall time. */
const checks = 4
