import { type FileHandle, open } from 'node:fs/promises'
import { withLock } from '../../util/files/file-lock.ts'
import { limits } from '../../util/limits/limits.ts'
import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { nextLine } from './chain.ts'
import type { AuditRecord, AuditSink } from './record.ts'
import { readTail, type Tail } from './tail.ts'

/** Options of {@link openAuditLog}. */
export interface AuditLogOptions {
  /**
   * What happens while the queue is full, because the disk is slow or full: calls wait (`'block'`), or are not
   * recorded but counted (`'drop'`). By default `'block'`.
   */
  readonly onFull?: 'block' | 'drop'
  /** The number of records that may wait to be written. */
  readonly queue?: number
  /** Called with what is wrong with the file, such as a full disk; the records are kept, and written later. */
  readonly onError?: (error: Error) => void
}

const optionTable: OptionTableOf<AuditLogOptions> = {
  onFull: ['block', 'drop'],
  queue: 'number',
  onError: 'function',
}

/**
 * Opens an audit log: a file with one line of JSON per decision. Each line has the SHA-256 digest of the line
 * before it, so that no line can be changed or removed unnoticed. An existing log is continued. Several processes
 * may write to one file.
 * A new file can be read only by its owner. Rejects if the file cannot be opened or is not an audit log. The
 * caller closes the log.
 */
export async function openAuditLog(path: string, options: AuditLogOptions = {}): Promise<AuditLog> {
  checkOptions(options, optionTable, 'audit: ')
  const file = await open(path, 'a+', 0o600)
  try {
    const tail = await readTail(file)
    const log = new AuditLog(path, file, options)
    if (tail.tornBytes > 0) {
      options.onError?.(
        new Error(`audit log ${path}: its last line was not written completely; it is removed`),
      )
    }
    return log
  } catch (error) {
    await file.close()
    throw new Error(`audit log ${path}: ${errorMessage(error)}`, { cause: error })
  }
}

interface Queued {
  readonly time: string
  readonly record: object
}

/** Writes decisions to a file. Made by {@link openAuditLog}. */
export class AuditLog implements AuditSink, AsyncDisposable {
  readonly #path: string
  readonly #file: FileHandle
  readonly #onFull: 'block' | 'drop'
  readonly #max: number
  readonly #onError: (error: Error) => void
  #queue: Queued[] = []
  /** What was written last; undefined if the file must be read first. */
  #tail: Tail | undefined
  #writing: Promise<void> | undefined
  /** Resolves the calls that wait for room. */
  #waiting: (() => void)[] = []
  #dropped = 0
  #unreported = 0
  #retry: NodeJS.Timeout | undefined
  #sync: NodeJS.Timeout | undefined
  #hasFailed = false
  #isClosed = false

  /** @internal */
  constructor(path: string, file: FileHandle, options: AuditLogOptions) {
    this.#path = path
    this.#file = file
    this.#onFull = options.onFull ?? 'block'
    this.#max = options.queue ?? limits.auditQueue.default
    this.#onError = options.onError ?? (error => console.error('trunkline:', error.message))
  }

  /** How many records were dropped because the queue was full. */
  get dropped(): number {
    return this.#dropped
  }

  /** Records a decision. With `onFull: 'block'` returns a promise if the queue is full. */
  record(record: AuditRecord): void | Promise<void> {
    if (this.#isClosed) return
    if (this.#queue.length < this.#max) {
      this.#add(record)
      return
    }
    if (this.#onFull === 'block') return this.#addLater(record)
    this.#dropped++
    this.#unreported++
  }

  /** Writes what is queued, and closes the file. Records after that are ignored. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#retry)
    await this.#writing
    if (this.#queue.length > 0) await this.#write()
    clearTimeout(this.#sync)
    this.#release()
    const lost = this.#queue.length
    if (lost > 0) this.#onError(new Error(`audit log ${this.#path}: ${lost} records are lost`))
    await this.#file.sync().catch(() => {})
    await this.#file.close().catch(() => {})
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #add(record: AuditRecord): void {
    const time = new Date().toISOString()
    if (this.#unreported > 0) {
      this.#queue.push({ time, record: { event: 'dropped', count: this.#unreported } })
      this.#unreported = 0
    }
    this.#queue.push({ time, record: shortened(record) })
    if (this.#writing === undefined && this.#retry === undefined) this.#start()
  }

  async #addLater(record: AuditRecord): Promise<void> {
    while (this.#queue.length >= this.#max && !this.#isClosed) {
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
    if (!this.#isClosed) this.#add(record)
  }

  #start(): void {
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined
      if (this.#queue.length === 0 || this.#isClosed) return
      if (!this.#hasFailed) this.#start()
      else {
        this.#retry = setTimeout(() => {
          this.#retry = undefined
          this.#start()
        }, limits.auditSyncMs.default)
      }
    })
  }

  /** Writes what is queued. If that fails, it stays in the queue. Never rejects. */
  async #write(): Promise<void> {
    try {
      const lockMs = limits.auditLockMs.default
      await withLock(`${this.#path}.lock`, lockMs, () => this.#append())
      this.#hasFailed = false
      this.#sync ??= setTimeout(() => {
        this.#sync = undefined
        this.#file.sync().then(undefined, error => this.#report(error))
      }, limits.auditSyncMs.default)
      this.#release()
    } catch (error) {
      this.#tail = undefined
      this.#report(error)
    }
  }

  async #append(): Promise<void> {
    const tail = await this.#currentTail()
    const batch = this.#queue.slice(0)
    let { end } = tail
    let text = ''
    const add = (time: string, record: object): void => {
      const next = nextLine(end, time, record)
      end = next.end
      text += `${next.line}\n`
    }
    if (tail.tornBytes > 0) {
      await this.#file.truncate(tail.size)
      add(new Date().toISOString(), { event: 'recovered', tornBytes: tail.tornBytes })
    }
    for (const { time, record } of batch) add(time, record)
    try {
      await this.#file.appendFile(text)
    } catch (error) {
      // Else these lines would be there twice once the queue is written again.
      await this.#file.truncate(tail.size).catch(() => {})
      throw error
    }
    this.#queue = this.#queue.slice(batch.length)
    this.#tail = { size: tail.size + Buffer.byteLength(text), end, tornBytes: 0 }
  }

  /** Returns the end of the file: as it was written last, unless another process has written since. */
  async #currentTail(): Promise<Tail> {
    const { size } = await this.#file.stat()
    return this.#tail?.size === size ? this.#tail : readTail(this.#file)
  }

  #release(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  #report(error: unknown): void {
    // Once, and not for every attempt.
    if (!this.#hasFailed) {
      this.#onError(new Error(`audit log ${this.#path}: ${errorMessage(error)}`, { cause: error }))
    }
    this.#hasFailed = true
  }
}

/** Returns a record whose texts are short enough for a line. */
function shortened(record: AuditRecord): object {
  const max = limits.auditTextLength.default
  const entries = Object.entries(record).map(([name, value]) => {
    const isLong = typeof value === 'string' && value.length > max
    return [name, isLong ? `${value.slice(0, max)}…` : value] as const
  })
  return Object.fromEntries(entries)
}
