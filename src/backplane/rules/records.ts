import { limits } from '../../util/limits/limits.ts'
import { fencedError, finalError } from '../backplane-error.ts'
import type {
  ClaimResult,
  OwnedWrite,
  RecordOwner,
  RecordWrite,
  StoredRecord,
  SwapResult,
} from '../record-store.ts'
import { greaterThan, type Moment } from './moment.ts'

/** A record with its owner and the time when it ends. */
export interface RecordRow {
  readonly value: string
  /** The node that owns the record; undefined if it has no owner. */
  readonly node: string | undefined
  /** 0 without an owner. */
  readonly epoch: number
  readonly isFinal: boolean
  /** Whether the record was deleted, and only its epoch is remembered. */
  readonly isDeleted: boolean
  readonly until: number
}

/** What an operation returns, and the row to store; undefined if the stored one stays. */
export interface RecordChange<T> {
  readonly result: T
  readonly row?: RecordRow
}

/** Who claims a record from whom. */
export interface ClaimRequest {
  readonly key: string
  readonly from: string | undefined
  readonly node: string
  readonly write: RecordWrite | undefined
}

/** Claims a record, given its living row and the greatest epoch in the log of the same key. */
export function claimed(
  row: RecordRow | undefined,
  logEpoch: number,
  { key, from, node, write }: ClaimRequest,
  moment: Moment,
): RecordChange<ClaimResult> {
  const previous = shown(row)
  if (row !== undefined && previous !== undefined) {
    if (row.isFinal) throw finalError(key)
    const owner = ownerOf(row)
    if (owner !== undefined && owner.node !== from) return { result: { isOwner: false, owner } }
  }
  const epoch = greaterThan(moment, row?.epoch ?? 0, logEpoch)
  const result: ClaimResult =
    previous === undefined ? { isOwner: true, epoch } : { isOwner: true, epoch, previous }
  const owner = { node, epoch }
  if (write !== undefined) return { result, row: written(write, owner, moment) }
  if (row === undefined || previous === undefined) return { result: { isOwner: false } }
  return { result, row: { ...row, ...owner } }
}

/** Writes a record for its owner, given its living row. */
export function put(
  key: string,
  row: RecordRow | undefined,
  write: OwnedWrite,
  owner: RecordOwner,
  moment: Moment,
): RecordRow {
  if (row === undefined) {
    if (write.mustExist === true) throw fencedError(key, undefined)
  } else {
    if (row.isFinal && !isRepeated(row, write, owner)) throw finalError(key)
    fence(key, row, owner)
    if (row.isDeleted && row.epoch === owner.epoch) throw fencedError(key, ownerOf(row))
  }
  return written(write, owner, moment)
}

/** Writes a record without an owner, given its living row, if its text is the expected one. */
export function swapped(
  key: string,
  row: RecordRow | undefined,
  before: string | undefined,
  write: RecordWrite,
  moment: Moment,
): RecordChange<SwapResult> {
  const owner = row && ownerOf(row)
  if (owner !== undefined) throw fencedError(key, owner)
  if (row?.value !== before) {
    return { result: row === undefined ? { isDone: false } : { isDone: false, now: row.value } }
  }
  if (row?.isFinal) throw finalError(key)
  return { result: { isDone: true, now: write.value }, row: written(write, undefined, moment) }
}

/** Deletes a record, given its living row: returns whether there was one, and a row that may have ended already. */
export function deleted(
  key: string,
  row: RecordRow | undefined,
  owner: RecordOwner | undefined,
  moment: Moment,
): RecordChange<boolean> {
  const result = row !== undefined && !row.isDeleted
  if (owner === undefined) {
    const stored = row && ownerOf(row)
    if (stored !== undefined && result) throw fencedError(key, stored)
    return result ? { result, row: tombstone(undefined, moment.least) } : { result }
  }
  if (row !== undefined) fence(key, row, owner)
  return { result, row: tombstone(owner, moment.most + limits.tombstoneMs.default) }
}

/** Returns the row of a record whose life is extended; undefined if it lives as long already. */
export function touched(
  row: RecordRow | undefined,
  ttlMs: number,
  moment: Moment,
): RecordRow | undefined {
  const until = moment.most + ttlMs
  return row === undefined || row.isDeleted || row.until >= until ? undefined : { ...row, until }
}

/** Returns what a user sees of a row. */
export function shown(row: RecordRow | undefined): StoredRecord | undefined {
  if (row === undefined || row.isDeleted) return undefined
  const { value, isFinal } = row
  const owner = ownerOf(row)
  return owner === undefined ? { value, isFinal } : { value, owner, isFinal }
}

function ownerOf({ node, epoch }: RecordRow): RecordOwner | undefined {
  return node === undefined ? undefined : { node, epoch }
}

/** Throws if another owner has a greater epoch, or the same one and a greater name. */
function fence(key: string, row: RecordRow, { node, epoch }: RecordOwner): void {
  const isOlder =
    epoch === row.epoch ? row.node !== undefined && node < row.node : epoch < row.epoch
  if (isOlder) throw fencedError(key, ownerOf(row))
}

function isRepeated(row: RecordRow, write: OwnedWrite, { node, epoch }: RecordOwner): boolean {
  const isSame = row.value === write.value && write.isFinal === true
  return isSame && row.node === node && row.epoch === epoch
}

function written(
  { value, ttlMs, isFinal = false }: RecordWrite,
  owner: RecordOwner | undefined,
  { most }: Moment,
): RecordRow {
  const { node, epoch } = owner ?? { node: undefined, epoch: 0 }
  return { value, node, epoch, isFinal, isDeleted: false, until: most + ttlMs }
}

function tombstone(owner: RecordOwner | undefined, until: number): RecordRow {
  const { node, epoch } = owner ?? { node: undefined, epoch: 0 }
  return { value: '', node, epoch, isFinal: false, isDeleted: true, until }
}
