import { fencedError } from '../backplane-error.ts'
import { isAfter } from '../input-checks.ts'
import type { LogEntry, LogPosition, LogRetention } from '../log.ts'
import type { Moment } from '../rules/moment.ts'
import { type Document, type DocumentChange, jsonTexts } from './documents.ts'

/**
 * A message of a log: the entries of one append, or several, and what is known of the log up to them. A claim stores
 * one without entries.
 */
export interface LogBatch {
  /** The greatest position, which need not have an entry: a claim only raises it. */
  readonly last: LogPosition
  /** The position of the last entry, in this message or before. */
  readonly lastEntry?: LogPosition
  /** The position of the last entry before this message. If this is the first message, it was removed. */
  readonly before?: LogPosition
  /** The number of the first message of this log; 0 if this is it. */
  readonly start: number
  /** How many entries the log has had, including these. */
  readonly total: number
  readonly entries: readonly LogEntry[]
}

/** A message of a log as text. */
export const logTexts = jsonTexts<LogBatch>()

/** What is known of the entries that a log has stored. */
export type FindEntry = (position: LogPosition) => 'unknown' | 'removed' | LogEntry | undefined

/** How many entries a log has had before an append and after it; undefined if older entries must be known. */
export type AppendResult = { readonly before: number; readonly after: number } | undefined

/** Appends entries to a log. */
export function appended(
  key: string,
  document: Document<LogBatch> | undefined,
  entries: readonly LogEntry[],
  { ttlMs }: LogRetention,
  find: FindEntry,
  { most }: Moment,
): DocumentChange<LogBatch, AppendResult> {
  const head = document?.value
  const fresh: LogEntry[] = []
  for (const entry of entries) {
    if (head === undefined || isAfter(entry, head.last)) {
      fresh.push(entry)
      continue
    }
    const stored = head.entries.find(each => isSame(each, entry)) ?? find(entry)
    if (stored === 'unknown') return { result: undefined }
    const wasRemoved = stored === 'removed' && head.last.epoch === entry.epoch
    const isStored = typeof stored === 'object' && hasSameFields(stored, entry)
    if (!wasRemoved && !isStored) throw fencedError(key, undefined)
  }
  const before = head?.total ?? 0
  const result = { before, after: before + fresh.length }
  const until = Math.max(most + ttlMs, document?.until ?? 0)
  return { result, next: { value: nextMessage(document, fresh, fresh.at(-1)), until } }
}

/** Raises the greatest position of a log to the start of an epoch. Returns the epoch of the greatest position. */
export function fenced(
  document: Document<LogBatch> | undefined,
  { epoch, until }: { readonly epoch: number; readonly until: number },
): DocumentChange<LogBatch, number> {
  const head = document?.value
  if (head !== undefined && head.last.epoch >= epoch) return { result: head.last.epoch }
  const value = nextMessage(document, [], { epoch, n: 0 })
  return { result: epoch, next: { value, until: Math.max(until, document?.until ?? 0) } }
}

/** Returns the next message. If the last one is not stored yet, the next one takes its place. */
function nextMessage(
  document: Document<LogBatch> | undefined,
  fresh: readonly LogEntry[],
  last: LogPosition | undefined,
): LogBatch {
  if (document === undefined) {
    const lastEntry = fresh.at(-1)
    return {
      last: positionOf(last ?? { epoch: 0, n: 0 }),
      ...(lastEntry === undefined ? {} : { lastEntry: positionOf(lastEntry) }),
      start: 0,
      total: fresh.length,
      entries: fresh,
    }
  }
  const { value: head, sequence } = document
  const isPending = sequence === 0
  const lastEntry = fresh.at(-1) ?? head.lastEntry
  const before = isPending ? head.before : head.lastEntry
  return {
    last: positionOf(last ?? head.last),
    ...(lastEntry === undefined ? {} : { lastEntry: positionOf(lastEntry) }),
    ...(before === undefined ? {} : { before }),
    start: head.start === 0 ? sequence : head.start,
    total: head.total + fresh.length,
    entries: isPending ? [...head.entries, ...fresh] : fresh,
  }
}

function positionOf({ epoch, n }: LogPosition): LogPosition {
  return { epoch, n }
}

function isSame(one: LogPosition, other: LogPosition): boolean {
  return one.epoch === other.epoch && one.n === other.n
}

function hasSameFields(one: LogEntry, other: LogEntry): boolean {
  const names = Object.keys(one.fields)
  const isEqual = names.every(name => one.fields[name] === other.fields[name])
  return isEqual && names.length === Object.keys(other.fields).length
}
