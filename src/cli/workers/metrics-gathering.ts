import { limits } from '../../util/limits/limits.ts'
import type { ToWorker, WorkerTexts } from './messages.ts'

/** A worker that can be asked for its metrics. */
export interface MeasuredWorker {
  readonly number: number
  send(message: ToWorker): void
}

interface Gathering {
  readonly missing: Set<number>
  readonly texts: (readonly [worker: number, text: string])[]
  readonly done: (texts: WorkerTexts) => void
  readonly timer: NodeJS.Timeout
}

/** Asks all workers for their metrics. */
export class MetricsGathering {
  readonly #workers: () => readonly MeasuredWorker[]
  readonly #gatherings = new Map<number, Gathering>()
  #count = 0

  constructor(workers: () => readonly MeasuredWorker[]) {
    this.#workers = workers
  }

  /** Calls back with the texts of all workers, in their order; after `workerMetricsMs` without those that are missing. */
  start(done: (texts: WorkerTexts) => void): void {
    const id = ++this.#count
    const workers = this.#workers()
    const timer = setTimeout(() => this.#end(id), limits.workerMetricsMs.default)
    const missing = new Set(workers.map(({ number }) => number))
    this.#gatherings.set(id, { missing, texts: [], done, timer })
    for (const worker of workers) worker.send({ type: 'worker send metrics', id })
    if (missing.size === 0) this.#end(id)
  }

  /** Adds the text of a worker. */
  add(worker: number, id: number, text: string): void {
    const gathering = this.#gatherings.get(id)
    if (gathering?.missing.delete(worker) !== true) return
    gathering.texts.push([worker, text])
    if (gathering.missing.size === 0) this.#end(id)
  }

  #end(id: number): void {
    const gathering = this.#gatherings.get(id)
    if (gathering === undefined) return
    clearTimeout(gathering.timer)
    this.#gatherings.delete(id)
    gathering.done(gathering.texts.sort(([one], [other]) => one - other))
  }
}
