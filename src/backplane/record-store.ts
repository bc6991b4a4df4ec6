/**
 * Small texts by key, each with a time to live. An operation on one key is atomic; there is none on two.
 *
 * A record may have an owner: a node and the epoch (fencing token) that its claim got. A greater epoch always
 * wins, so a node that lost a record without noticing cannot change it any more.
 */
export interface RecordStore {
  /** Returns a record; undefined if there is none. */
  get(key: string): Promise<StoredRecord | undefined>
  /** Returns the records of several keys, in their order. */
  getAll(keys: readonly string[]): Promise<readonly (StoredRecord | undefined)[]>
  /**
   * Makes `node` the owner if the owner is `from`, or if there is no owner. Its epoch is greater than any epoch
   * before, and from then on the log of the same key refuses entries of smaller epochs. `write` replaces the
   * value; without it the value and its time to live stay, and only an existing record can be claimed.
   * Rejects with `final` for a final record.
   */
  claim(
    key: string,
    from: string | undefined,
    node: string,
    write?: RecordWrite,
  ): Promise<ClaimResult>
  /**
   * Writes a record for its owner. Rejects with `fenced` if a greater epoch is stored, and with `final` if
   * another final value is stored. If a smaller epoch or nothing is stored, the record is written: this restores
   * what an engine has lost.
   */
  put(key: string, write: OwnedWrite, owner: RecordOwner): Promise<void>
  /**
   * Writes a record without an owner if its text is still `before` (undefined: there is no record). Rejects
   * with `fenced` if the record has an owner.
   */
  swap(key: string, before: string | undefined, write: RecordWrite): Promise<SwapResult>
  /**
   * Deletes a record; resolves to whether there was one. With an owner it rejects as `put` does, except for
   * final records, and the epoch stays known for `tombstoneMs`, so that no late `put` restores the record. Without
   * an owner it rejects with `fenced` if the record has one.
   */
  delete(key: string, owner?: RecordOwner): Promise<boolean>
  /** Extends the life of records to `ttlMs` from now. Never shortens it; ignores missing keys. */
  touch(keys: readonly string[], ttlMs: number): Promise<void>
  /**
   * Adds a name with a time to live to a set, or extends it there. Rejects with `full` if the set has `max` other
   * names.
   */
  add(set: string, name: string, ttlMs: number, max?: number): Promise<void>
  /** Removes a name from a set. */
  remove(set: string, name: string): Promise<void>
  /**
   * Iterates over the names of a set in the order of their expiry, in pages of at most `clusterPage`. A name
   * that is added, extended or removed meanwhile may be missing or come twice; no other name is missing.
   */
  names(set: string): AsyncIterable<readonly string[]>
}

/** The owner of a record: a node, and the epoch that its claim got. */
export interface RecordOwner {
  /** The id of the node. */
  readonly node: string
  /** The fencing token; a greater one wins. */
  readonly epoch: number
}

/** A record as it is stored. */
export interface StoredRecord {
  /** The stored text. */
  readonly value: string
  /** Undefined if the record was written by `swap`. */
  readonly owner?: RecordOwner
  /** Whether the value cannot change any more. */
  readonly isFinal: boolean
}

/** A value to store. */
export interface RecordWrite {
  /** The text to store. */
  readonly value: string
  /** The time to live in milliseconds. A record never ends before. */
  readonly ttlMs: number
  /** Whether this is the last value of the record. */
  readonly isFinal?: boolean
}

/** A value to store for an owner. */
export interface OwnedWrite extends RecordWrite {
  /** Whether to reject with `fenced` if nothing is stored. */
  readonly mustExist?: boolean
}

/**
 * The result of a claim. After a claim with the outcome `unknown`, a repeated one is refused with this node as
 * the owner: then the first was executed, and the epoch is that of `owner`.
 */
export type ClaimResult =
  | {
      readonly isOwner: true
      /** The fencing token of the new owner, for its writes. */
      readonly epoch: number
      /** The record before the claim. */
      readonly previous?: StoredRecord
    }
  | {
      readonly isOwner: false
      /** The present owner; undefined if there is no record to claim. */
      readonly owner?: RecordOwner
    }

/** The result of a swap. */
export interface SwapResult {
  /** Whether the text was still the expected one, so that the new one was written. */
  readonly isDone: boolean
  /** The text that is stored now; undefined if there is no record. */
  readonly now?: string
}
