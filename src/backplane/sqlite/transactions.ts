import { BackplaneError } from '../backplane-error.ts'
import type { DiskRoom } from './disk-room.ts'
import { type SqlDatabase, sqliteErrorNumber } from './node-sqlite.ts'

const busy = 5
const full = 13

/** An operation that waits for the next transaction. */
interface Waiting {
  /** Whether the operation stores more data. */
  readonly isGrowing: boolean
  run(): unknown
  resolve(result: unknown): void
  reject(error: unknown): void
}

/**
 * Runs operations on a database. All operations of one turn of the event loop share a transaction, because a commit
 * costs more than most operations.
 */
export class Transactions {
  readonly #database: SqlDatabase
  readonly #name: string
  readonly #room: Pick<DiskRoom, 'isThere' | 'runOut'>
  #waiting: Waiting[] = []

  constructor(database: SqlDatabase, name: string, room: Pick<DiskRoom, 'isThere' | 'runOut'>) {
    this.#database = database
    this.#name = name
    this.#room = room
  }

  /** Runs an operation in the next transaction. An operation that throws must not have changed anything. */
  run<T>(operation: () => T): Promise<T> {
    return this.#enqueue(operation, false)
  }

  /** Does the same for an operation that stores more data. Rejects with `full` while there is no room for it. */
  runGrowing<T>(operation: () => T): Promise<T> {
    return this.#room.isThere
      ? this.#enqueue(operation, true)
      : Promise.reject(this.#fullError(undefined))
  }

  /** Runs all operations that wait. */
  flush(): void {
    const all = this.#waiting
    this.#waiting = []
    const error = this.#attempt(all)
    if (error === undefined) return
    if (sqliteErrorNumber(error) !== full) {
      rejectAll(all, this.#failure(error))
      return
    }
    this.#room.runOut()
    // The released reserve has room for those that store nothing more.
    rejectAll(
      all.filter(({ isGrowing }) => isGrowing),
      this.#fullError(error),
    )
    const others = all.filter(({ isGrowing }) => !isGrowing)
    const again = this.#attempt(others)
    if (again !== undefined) rejectAll(others, this.#failure(again))
  }

  #enqueue<T>(operation: () => T, isGrowing: boolean): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        isGrowing,
        run: operation,
        // The cast is safe: `resolve` gets the result of `operation`.
        resolve: resolve as (result: unknown) => void,
        reject,
      })
      if (this.#waiting.length === 1) queueMicrotask(() => this.flush())
    })
  }

  /** Runs operations in one transaction and settles them. Returns an error of the database, which settles none. */
  #attempt(all: readonly Waiting[]): unknown {
    if (all.length === 0) return undefined
    const settle: (() => void)[] = []
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      for (const { run, resolve, reject } of all) {
        try {
          const result = run()
          settle.push(() => resolve(result))
        } catch (error) {
          // An error of the database fails all, as none of them is committed.
          if (sqliteErrorNumber(error) !== undefined) throw error
          settle.push(() => reject(error))
        }
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#rollBack()
      return error
    }
    for (const each of settle) each()
    return undefined
  }

  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK')
    } catch {
      // There is no transaction: it did not begin, or the error ended it.
    }
  }

  #failure(error: unknown): unknown {
    const number = sqliteErrorNumber(error)
    if (number === undefined) return error
    if (number === full) return this.#fullError(error)
    const text = error instanceof Error ? error.message : String(error)
    if (number === busy) {
      const message = `another process keeps ${this.#name} busy; nothing was written`
      return new BackplaneError('down', message, { cause: error })
    }
    return new BackplaneError('unknown', `${this.#name} failed: ${text}`, { cause: error })
  }

  #fullError(cause: unknown): BackplaneError {
    const message = `the disk of ${this.#name} is full; nothing was written`
    return new BackplaneError('full', message, { cause })
  }
}

function rejectAll(all: readonly Waiting[], error: unknown): void {
  for (const { reject } of all) reject(error)
}
