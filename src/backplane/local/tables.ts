import type { LogEntry, LogPosition } from '../log.ts'
import type { RecordRow } from '../rules/records.ts'

/** What a local engine stores: synchronous tables in memory or in a file. They know no rules, not even expiry. */
export interface Tables {
  readonly records: RecordTable
  readonly sets: SetTable
  readonly logs: LogTable
  /** Removes what expired before a time. Called often; may do nothing most of the time. */
  sweep(now: number): void
}

/** Records by key. */
export interface RecordTable {
  get(key: string): RecordRow | undefined
  set(key: string, row: RecordRow): void
  delete(key: string): void
}

/** Names in sets, each with the time when it ends. */
export interface SetTable {
  get(set: string, name: string): number | undefined
  set(set: string, name: string, until: number): void
  delete(set: string, name: string): void
  /** Counts the names that end after a time. */
  count(set: string, now: number): number
  /** Returns names that end after a time, in the order of (until, name), behind a given one. */
  page(set: string, behind: SetRow | undefined, max: number, now: number): readonly SetRow[]
}

/** A name in a set. */
export interface SetRow {
  readonly name: string
  readonly until: number
}

/** Logs by key: a head, and entries in the order of their positions. */
export interface LogTable {
  head(key: string): LogHead | undefined
  setHead(key: string, head: LogHead): void
  entry(key: string, position: LogPosition): LogEntry | undefined
  insert(key: string, entry: LogEntry): void
  /** Returns entries behind a position. */
  range(key: string, behind: LogPosition | undefined, max: number): readonly LogEntry[]
  /** Removes all but the newest entries; returns the position of the last one removed. */
  trim(key: string, keep: number): LogPosition | undefined
  /** Deletes the head and all entries. */
  delete(key: string): void
}

/** What is known of a log besides its entries. */
export interface LogHead {
  /** The greatest position, which need not have an entry: a claim only raises it. */
  readonly last: LogPosition
  /** The last position whose entry was removed. */
  readonly removed: LogPosition | undefined
  readonly until: number
}
