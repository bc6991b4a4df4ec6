import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessChannel } from '../../backplane/parent/process-channel.ts'
import { deferred } from '../../util/promises.ts'
import { randomHex } from '../../util/random.ts'
import { Interrupted } from '../exit.ts'
import { type FromWorker, isToWorker, type WorkerTexts } from './messages.ts'
import { mergedMetrics } from './metrics.ts'

/** The environment variable by which a process learns that it is a worker. */
export const workerVariable = 'TRUNKLINE_WORKER'

/** What a worker is told at its start. */
export interface WorkerSettings {
  /** Its number, from 1. The worker that replaces it has the same. */
  readonly number: number
  /** Whether no worker has served yet. */
  readonly isFirst: boolean
  /** Whether it prints what is served, once all workers serve it. */
  readonly announces: boolean
  /** The folder for the sockets of links between workers; undefined if links use TCP. */
  readonly folder: string | undefined
}

/** This process as one of several that `--workers` has started. */
export interface Worker extends WorkerSettings {
  /** The way to the process that has started this one, and holds the state. */
  readonly parent: ProcessChannel
  /** Aborted when this worker is to end. */
  readonly signal: AbortSignal
  /** Returns an address for the links of a node; undefined for the default. */
  linkAddress(): string | undefined
  /**
   * Reports that this worker serves. Resolves to whether it should print that: once, when all workers serve for the
   * first time.
   */
  ready(): Promise<boolean>
  /** Returns the metrics of all workers. */
  metrics(): Promise<string>
  /** Sets what the metrics of this worker are. */
  setMetrics(text: () => string): void
  /** Lets the process exit once it has nothing to do. */
  end(): void
}

let isWorker = false

/** Returns the number of the process that a user has started, and may send signals: of a worker its parent. */
export function commandPid(): number {
  return isWorker ? process.ppid : process.pid
}

/** Returns this process as a worker; undefined if it is none. Call it once. */
export function thisWorker(env: Readonly<Record<string, string | undefined>>): Worker | undefined {
  const text = env[workerVariable]
  if (text === undefined || process.send === undefined) return undefined
  // Programs that this worker starts are none.
  delete process.env[workerVariable]
  isWorker = true
  // The check: `WorkerPool` has written it.
  const settings = JSON.parse(text) as WorkerSettings
  const { folder } = settings
  const stop = new AbortController()
  const announced = deferred<boolean>()
  const wanted = new Map<number, (texts: WorkerTexts) => void>()
  let own = (): string => ''
  let count = 0
  const send = (message: FromWorker): void => void process.send?.(message, ignored)
  process.on('message', (message: unknown) => {
    if (!isToWorker(message)) return
    if (message.type === 'worker announce') announced.resolve(true)
    else if (message.type === 'worker reload') process.emit('SIGHUP', 'SIGHUP')
    else if (message.type === 'worker send metrics') {
      send({ type: 'worker metrics', id: message.id, text: own() })
    } else if (message.type === 'worker all metrics') {
      wanted.get(message.id)?.(message.texts)
      wanted.delete(message.id)
    } else {
      announced.resolve(false)
      stop.abort(new Interrupted())
    }
  })
  process.once('exit', () => {
    // The parent, which would remove it, was killed.
    if (folder !== undefined && !process.connected) rmSync(folder, { recursive: true, force: true })
  })
  return {
    ...settings,
    parent: process,
    signal: stop.signal,
    linkAddress: () => (folder === undefined ? undefined : `unix:${join(folder, randomHex(4))}`),
    ready: async () => {
      send({ type: 'worker ready' })
      return settings.announces && announced.promise
    },
    metrics: async () => {
      const all = deferred<WorkerTexts>()
      const id = ++count
      wanted.set(id, all.resolve)
      send({ type: 'worker wants metrics', id })
      return mergedMetrics(await all.promise)
    },
    setMetrics: text => {
      own = text
    },
    end: () => process.channel?.unref(),
  }
}

/** An error means that the parent has ended. Then this process ends, too. */
function ignored(): void {}
