import { isAfter } from '../input-checks.ts'
import type { LogHead, LogTable, RecordTable, SetRow, SetTable, Tables } from '../local/tables.ts'
import type { LogEntry, LogPosition } from '../log.ts'
import type { RecordRow } from '../rules/records.ts'

/** The least number of calls of `sweep` between two that look at everything. */
const sweepEvery = 1024

/** Creates tables in memory. */
export function memoryTables(): Tables {
  const records = new Map<string, RecordRow>()
  const sets = new Map<string, Map<string, number>>()
  const logs = new Map<string, MemoryLog>()
  let calls = 0
  const sweep = (now: number) => {
    // Looking at everything costs a constant amount for each write, because it waits for as many writes.
    if (++calls < Math.max(sweepEvery, records.size + sets.size + logs.size)) return
    calls = 0
    for (const [key, row] of records) if (row.until <= now) records.delete(key)
    for (const [key, { head }] of logs) if (head.until <= now) logs.delete(key)
    for (const [key, names] of sets) {
      for (const [name, until] of names) if (until <= now) names.delete(name)
      if (names.size === 0) sets.delete(key)
    }
  }
  return { records: recordTable(records), sets: setTable(sets), logs: logTable(logs), sweep }
}

interface MemoryLog {
  head: LogHead
  entries: LogEntry[]
}

function recordTable(records: Map<string, RecordRow>): RecordTable {
  return {
    get: key => records.get(key),
    set: (key, row) => void records.set(key, row),
    delete: key => void records.delete(key),
  }
}

function setTable(sets: Map<string, Map<string, number>>): SetTable {
  const living = (set: string, now: number): SetRow[] =>
    Array.from(sets.get(set) ?? [], ([name, until]) => ({ name, until })).filter(
      row => row.until > now,
    )
  return {
    get: (set, name) => sets.get(set)?.get(name),
    set: (set, name, until) => {
      const names = sets.get(set) ?? new Map<string, number>()
      sets.set(set, names.set(name, until))
    },
    delete: (set, name) => {
      const names = sets.get(set)
      if (names?.delete(name) === true && names.size === 0) sets.delete(set)
    },
    count: (set, now) => living(set, now).length,
    page: (set, behind, max, now) => {
      const rows = living(set, now).sort(inOrder)
      const start = behind === undefined ? 0 : rows.findIndex(row => inOrder(row, behind) > 0)
      return start === -1 ? [] : rows.slice(start, start + max)
    },
  }
}

function inOrder(one: SetRow, other: SetRow): number {
  if (one.until !== other.until) return one.until - other.until
  if (one.name === other.name) return 0
  return one.name < other.name ? -1 : 1
}

function logTable(logs: Map<string, MemoryLog>): LogTable {
  return {
    head: key => logs.get(key)?.head,
    setHead: (key, head) => {
      const log = logs.get(key)
      if (log === undefined) logs.set(key, { head, entries: [] })
      else log.head = head
    },
    entry: (key, position) => {
      const { epoch, n } = position
      return logs.get(key)?.entries.findLast(entry => entry.epoch === epoch && entry.n === n)
    },
    insert: (key, entry) => {
      const log = logs.get(key)
      const { epoch, n, fields } = entry
      const own = { epoch, n, fields: { ...fields } }
      if (log !== undefined) log.entries.push(own)
      else {
        // The head that follows replaces this one.
        const head = { last: entry, removed: undefined, until: Number.POSITIVE_INFINITY }
        logs.set(key, { head, entries: [own] })
      }
    },
    range: (key, behind, max) => {
      const entries = logs.get(key)?.entries ?? []
      const start = behind === undefined ? 0 : entries.findIndex(entry => isAfter(entry, behind))
      return start === -1 ? [] : entries.slice(start, start + max)
    },
    trim: (key, keep): LogPosition | undefined => {
      const log = logs.get(key)
      // In steps, because moving all entries for each new one would be slow.
      if (log === undefined || log.entries.length < keep + Math.min(keep, 100)) return undefined
      return log.entries.splice(0, log.entries.length - keep).at(-1)
    },
    delete: key => void logs.delete(key),
  }
}
