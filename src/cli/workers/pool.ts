import cluster, { type Worker } from 'node:cluster'
import type { Backplane } from '../../backplane/backplane.ts'
import { serveBackplane } from '../../backplane/parent/state-server.ts'
import { limits } from '../../util/limits/limits.ts'
import { deferred } from '../../util/promises.ts'
import { backoffMs } from '../../util/time/backoff.ts'
import { systemClock } from '../../util/time/clock.ts'
import { exitCodes } from '../exit.ts'
import { isFromWorker, type ToWorker } from './messages.ts'
import { MetricsGathering } from './metrics-gathering.ts'
import { type WorkerSettings, workerVariable } from './worker.ts'

/** What a pool needs. */
export interface WorkerPoolOptions {
  readonly count: number
  /** The state that the workers share. */
  readonly state: Backplane
  readonly folder: string | undefined
  /** Returns the arguments of a worker. */
  argsOf(worker: number): readonly string[]
  /** Tells the user what has happened. */
  note(text: string): void
  /** Tells the user why all workers are stopped. */
  error(text: string): void
}

/** A worker, or the place of one that is to be started again. */
interface Slot {
  readonly number: number
  worker: Worker | undefined
  /** Whether the present worker serves. */
  isReady: boolean
  startedAt: number
  /** How often in a row workers ended before they served. */
  failedStarts: number
  /** How often workers were replaced since one was stable. */
  replaced: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Processes that run the same command and share their addresses. The first one starts alone, so that what is wrong with
 * the command is reported once. A worker that ends is replaced.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #slots: readonly Slot[]
  readonly #metrics: MetricsGathering
  readonly #ended = deferred<number>()
  readonly #umask = process.umask()
  /** Whether a worker has served, so that the others were started. */
  #hasServed = false
  #isAnnounced = false
  /** The exit code, once all workers are to end. */
  #code: number | undefined

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#slots = Array.from({ length: options.count }, (_, at) => ({
      number: at + 1,
      worker: undefined,
      isReady: false,
      startedAt: 0,
      failedStarts: 0,
      replaced: 0,
      timer: undefined,
    }))
    this.#metrics = new MetricsGathering(() =>
      this.#slots.flatMap(({ number, worker, isReady }) =>
        worker !== undefined && isReady
          ? [{ number, send: (message: ToWorker) => send(worker, message) }]
          : [],
      ),
    )
  }

  /** Runs the workers. Resolves to the exit code when all have ended: after `stop`, or if they cannot be started. */
  run(): Promise<number> {
    const [first] = this.#slots
    if (first !== undefined) this.#start(first)
    return this.#ended.promise
  }

  /** Lets all workers reload what they have read. */
  reload(): void {
    this.#sendAll({ type: 'worker reload' })
  }

  /** Lets all workers complete their calls in flight, and end. */
  stop(code: number = exitCodes.ok): void {
    this.#code ??= code
    for (const { timer } of this.#slots) clearTimeout(timer)
    this.#sendAll({ type: 'worker stop' })
    this.#endIfEmpty()
  }

  /** Kills all workers at once. */
  kill(): void {
    for (const { worker } of this.#slots) worker?.process.kill('SIGKILL')
  }

  #start(slot: Slot): void {
    const { folder, argsOf, state } = this.#options
    const { number } = slot
    const settings: WorkerSettings = {
      number,
      folder,
      isFirst: !this.#hasServed,
      announces: number === 1 && !this.#isAnnounced,
    }
    cluster.setupPrimary({ args: [...argsOf(number)], serialization: 'advanced' })
    const worker = this.#forked({ [workerVariable]: JSON.stringify(settings) })
    slot.worker = worker
    slot.isReady = false
    slot.startedAt = systemClock.now()
    const endState = serveBackplane(state, worker)
    let hasEnded = false
    const onEnd = (code: number | null, why: string): void => {
      if (hasEnded) return
      hasEnded = true
      endState()
      this.#onEnd(slot, code, why)
    }
    worker.on('exit', (code: number | null, signal: string | null) => {
      onEnd(code, signal === null ? `exited with code ${code}` : `was killed by ${signal}`)
    })
    worker.on('error', error => {
      if (worker.process.pid === undefined) onEnd(null, `could not be started: ${error.message}`)
    })
    worker.on('message', message => {
      if (!isFromWorker(message)) return
      if (message.type === 'worker ready') this.#onReady(slot)
      else if (message.type === 'worker metrics') {
        this.#metrics.add(number, message.id, message.text)
      } else {
        const { id } = message
        this.#metrics.start(texts => send(worker, { type: 'worker all metrics', id, texts }))
      }
    })
  }

  /** This process creates the socket files of workers, and does so for its user alone. Workers keep their umask. */
  #forked(env: Readonly<Record<string, string>>): Worker {
    process.umask(this.#umask)
    try {
      return cluster.fork(env)
    } finally {
      process.umask(0o077)
    }
  }

  #onReady(slot: Slot): void {
    slot.isReady = true
    slot.failedStarts = 0
    // It may have missed that while it started.
    if (this.#code !== undefined) {
      this.#sendAll({ type: 'worker stop' })
      return
    }
    if (!this.#hasServed) {
      this.#hasServed = true
      for (const other of this.#slots) if (other !== slot) this.#start(other)
    }
    if (this.#isAnnounced || !this.#slots.every(({ isReady }) => isReady)) return
    this.#isAnnounced = true
    this.#sendAll({ type: 'worker announce' })
  }

  #onEnd(slot: Slot, code: number | null, why: string): void {
    const { worker, number, isReady } = slot
    slot.worker = undefined
    slot.isReady = false
    if (this.#code !== undefined) this.#endIfEmpty()
    else if (!this.#hasServed) {
      // The worker has printed what is wrong, unless it was killed.
      if (code === null) this.#options.error(`the first worker ${why}`)
      this.stop(code ?? exitCodes.failed)
    } else if (!isReady && ++slot.failedStarts >= limits.workerStarts.default) {
      this.#options.error(
        `worker ${number} ended ${slot.failedStarts} times in a row before it served, so all workers are stopped; the last one ${why}`,
      )
      this.stop(exitCodes.failed)
    } else {
      this.#options.note(`worker ${number} (process ${worker?.process.pid}) ${why}; it is replaced`)
      this.#startLater(slot)
    }
  }

  #startLater(slot: Slot): void {
    const isStable = systemClock.now() - slot.startedAt >= limits.workerStableMs.default
    slot.replaced = isStable ? 0 : slot.replaced + 1
    const pauseMs = backoffMs(slot.replaced, {
      baseMs: 100,
      maxMs: limits.workerRestartMs.default,
      jitter: 0.5,
    })
    slot.timer = setTimeout(() => this.#start(slot), pauseMs)
  }

  #sendAll(message: ToWorker): void {
    for (const { worker } of this.#slots) if (worker !== undefined) send(worker, message)
  }

  #endIfEmpty(): void {
    if (this.#slots.some(({ worker }) => worker !== undefined)) return
    this.#ended.resolve(this.#code ?? exitCodes.ok)
  }
}

function send(worker: Worker, message: ToWorker): void {
  // An error means that the worker is about to end.
  worker.send(message, () => {})
}
