import { isRecord } from '../../util/objects.ts'

/** What a worker tells the process that has started it. */
export type FromWorker =
  /** It serves. */
  | { readonly type: 'worker ready' }
  /** It wants the metrics of all workers. */
  | { readonly type: 'worker wants metrics'; readonly id: number }
  /** Its own metrics, as they were asked for. */
  | { readonly type: 'worker metrics'; readonly id: number; readonly text: string }

/** What a worker is told. */
export type ToWorker =
  /** Print what is served, because all workers serve it. */
  | { readonly type: 'worker announce' }
  /** Complete the calls in flight, and end. */
  | { readonly type: 'worker stop' }
  /** Reload, as for SIGHUP. */
  | { readonly type: 'worker reload' }
  /** Send your metrics. */
  | { readonly type: 'worker send metrics'; readonly id: number }
  /** The metrics of all workers, as they were wanted. */
  | { readonly type: 'worker all metrics'; readonly id: number; readonly texts: WorkerTexts }

/** Texts of workers, by the number of the worker. */
export type WorkerTexts = readonly (readonly [worker: number, text: string])[]

/** Whether a message is one of a worker. Others on the same channel are for the state that workers share. */
export function isFromWorker(message: unknown): message is FromWorker {
  return isWorkerMessage(message)
}

/** Whether a message is one to a worker. */
export function isToWorker(message: unknown): message is ToWorker {
  return isWorkerMessage(message)
}

function isWorkerMessage(message: unknown): boolean {
  return isRecord(message) && String(message.type).startsWith('worker ')
}
