import { BackplaneError } from '../backplane-error.ts'
import { type SqlDatabase, sqliteErrorNumber } from './node-sqlite.ts'

const busy = 5
const full = 13

/** An operation that waits for the next transaction. */
interface Waiting {
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
  #waiting: Waiting[] = []

  constructor(database: SqlDatabase, name: string) {
    this.#database = database
    this.#name = name
  }

  /** Runs an operation in the next transaction. An operation that throws must not have changed anything. */
  run<T>(operation: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      // The cast is safe: `resolve` gets the result of `operation`.
      this.#waiting.push({ run: operation, resolve: resolve as (result: unknown) => void, reject })
      if (this.#waiting.length === 1) queueMicrotask(() => this.flush())
    })
  }

  /** Runs all operations that wait. */
  flush(): void {
    const all = this.#waiting
    this.#waiting = []
    if (all.length === 0) return
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
      const failure = this.#failure(error)
      for (const { reject } of all) reject(failure)
      return
    }
    for (const each of settle) each()
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
    const text = error instanceof Error ? error.message : String(error)
    if (number === busy) {
      const message = `another process keeps ${this.#name} busy; nothing was written`
      return new BackplaneError('down', message, { cause: error })
    }
    if (number === full) {
      const message = `the disk of ${this.#name} is full; nothing was written`
      return new BackplaneError('full', message, { cause: error })
    }
    return new BackplaneError('unknown', `${this.#name} failed: ${text}`, { cause: error })
  }
}
