import type { Tables } from './tables.ts'

/** An engine inside this process: tables, a clock, and a way to run operations on them. */
export interface LocalEngine {
  readonly tables: Tables
  /** Milliseconds since 1970. */
  now(): number
  /**
   * Runs an operation atomically. Rejects with what it throws; an operation that throws must not have changed
   * anything.
   */
  run<T>(operation: () => T): Promise<T>
  /** Does the same for an operation that stores more data. Rejects with `full` while there is no room for it. */
  runGrowing<T>(operation: () => T): Promise<T>
}
