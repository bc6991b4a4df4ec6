/**
 * Entries by key, in the order of their positions, which the writer chooses: its epoch and a count from 1. An
 * entry behind the last one is accepted; so a node that lost its ownership cannot append any more.
 */
export interface SharedLog {
  /**
   * Appends entries, all or none. Rejects with `fenced` if a greater position is stored. Entries that are
   * stored already, with the same position and fields, are ignored.
   */
  append(key: string, entries: readonly LogEntry[], retention: LogRetention): Promise<void>
  /** Returns at most `max` entries behind a position, or from the start. */
  readAfter(key: string, position: LogPosition | undefined, max: number): Promise<LogPage>
  /** Deletes a log. */
  delete(key: string): Promise<void>
}

/** A position in a log: the epoch of the writer, then a count from 1. */
export interface LogPosition {
  /** The epoch of the writer. */
  readonly epoch: number
  /** The count within the epoch, from 1. */
  readonly n: number
}

/** An entry of a log. */
export interface LogEntry extends LogPosition {
  /** The contents: texts by name. */
  readonly fields: Readonly<Record<string, string>>
}

/** What a log keeps. */
export interface LogRetention {
  /** The time after the last append for which the log is kept. */
  readonly ttlMs: number
  /** The number of newest entries that are kept at least. Older ones are removed, soon but not at once. */
  readonly max: number
}

/** Entries of a log. */
export interface LogPage {
  /** The entries, in order. */
  readonly entries: readonly LogEntry[]
  /** Whether no entry behind the given position has been removed. */
  readonly isComplete: boolean
}
