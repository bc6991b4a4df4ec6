import type { LogTable, RecordTable, SetTable, Tables } from '../local/tables.ts'
import type { LogEntry, LogPosition } from '../log.ts'
import type { SqlDatabase } from './node-sqlite.ts'
import { countColumn, numberColumn, textColumn, toBytes } from './values.ts'

/** Every so many calls, `sweep` looks for what has expired. */
const sweepEvery = 256

/**
 * Creates tables in a database. `prefix` is put before all keys, so that several clusters can share a file.
 */
export function sqliteTables(database: SqlDatabase, prefix: string): Tables {
  const key = (name: string) => toBytes(prefix + name)
  const expired = [
    'DELETE FROM records WHERE until <= ?',
    'DELETE FROM names WHERE until <= ?',
    'DELETE FROM entries WHERE key IN (SELECT key FROM logs WHERE until <= ?)',
    'DELETE FROM logs WHERE until <= ?',
    'DELETE FROM messages WHERE until <= ?',
  ].map(sql => database.prepare(sql))
  let calls = 0
  return {
    records: recordTable(database, key),
    sets: setTable(database, key),
    logs: logTable(database, key),
    sweep: now => {
      if (++calls % sweepEvery !== 0) return
      for (const statement of expired) statement.run(now)
    },
  }
}

type KeyOf = (name: string) => Uint8Array

function recordTable(database: SqlDatabase, key: KeyOf): RecordTable {
  const find = database.prepare('SELECT * FROM records WHERE key = ?')
  const write = database.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?)')
  const remove = database.prepare('DELETE FROM records WHERE key = ?')
  return {
    get: name => {
      const row = find.get(key(name))
      if (row === undefined) return undefined
      return {
        value: textColumn(row.value),
        node: typeof row.node === 'string' ? row.node : undefined,
        epoch: countColumn(row.epoch),
        isFinal: row.final === 1,
        isDeleted: row.deleted === 1,
        until: numberColumn(row.until),
      }
    },
    set: (name, { value, node = null, epoch, isFinal, isDeleted, until }) => {
      const flags = [isFinal ? 1 : 0, isDeleted ? 1 : 0] as const
      write.run(key(name), toBytes(value), node, epoch, ...flags, until)
    },
    delete: name => void remove.run(key(name)),
  }
}

function setTable(database: SqlDatabase, key: KeyOf): SetTable {
  const find = database.prepare('SELECT until FROM names WHERE list = ? AND name = ?')
  const write = database.prepare('INSERT OR REPLACE INTO names VALUES (?, ?, ?)')
  const remove = database.prepare('DELETE FROM names WHERE list = ? AND name = ?')
  const total = database.prepare('SELECT count(*) AS total FROM names WHERE list = ? AND until > ?')
  const page = database.prepare(`
    SELECT name, until FROM names WHERE list = ? AND until > ? AND (until, name) > (?, ?)
    ORDER BY until, name LIMIT ?
  `)
  return {
    get: (set, name) => {
      const row = find.get(key(set), toBytes(name))
      return row === undefined ? undefined : numberColumn(row.until)
    },
    set: (set, name, until) => void write.run(key(set), toBytes(name), until),
    delete: (set, name) => void remove.run(key(set), toBytes(name)),
    count: (set, now) => countColumn(total.get(key(set), now)?.total),
    page: (set, behind, max, now) => {
      const rows = page.all(key(set), now, behind?.until ?? 0, toBytes(behind?.name ?? ''), max)
      return rows.map(row => ({ name: textColumn(row.name), until: numberColumn(row.until) }))
    },
  }
}

function logTable(database: SqlDatabase, key: KeyOf): LogTable {
  const findHead = database.prepare('SELECT * FROM logs WHERE key = ?')
  const writeHead = database.prepare('INSERT OR REPLACE INTO logs VALUES (?, ?, ?, ?, ?, ?)')
  const removeHead = database.prepare('DELETE FROM logs WHERE key = ?')
  const find = database.prepare('SELECT * FROM entries WHERE key = ? AND epoch = ? AND n = ?')
  const insert = database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?)')
  const range = database.prepare(`
    SELECT * FROM entries WHERE key = ? AND (epoch, n) > (?, ?) ORDER BY epoch, n LIMIT ?
  `)
  const oldest = database.prepare(`
    SELECT epoch, n FROM entries WHERE key = ? ORDER BY epoch DESC, n DESC LIMIT 1 OFFSET ?
  `)
  const trim = database.prepare('DELETE FROM entries WHERE key = ? AND (epoch, n) <= (?, ?)')
  const removeAll = database.prepare('DELETE FROM entries WHERE key = ?')
  return {
    head: name => {
      const row = findHead.get(key(name))
      if (row === undefined) return undefined
      const removed =
        row.removed_epoch === null
          ? undefined
          : { epoch: countColumn(row.removed_epoch), n: countColumn(row.removed_n) }
      return { last: positionOf(row), removed, until: numberColumn(row.until) }
    },
    setHead: (name, { last, removed, until }) => {
      const { epoch = null, n = null } = removed ?? {}
      writeHead.run(key(name), last.epoch, last.n, epoch, n, until)
    },
    entry: (name, { epoch, n }) => {
      const row = find.get(key(name), epoch, n)
      return row === undefined ? undefined : entryOf(row)
    },
    insert: (name, { epoch, n, fields }) => {
      insert.run(key(name), epoch, n, toBytes(JSON.stringify(fields)))
    },
    range: (name, behind, max) =>
      range.all(key(name), behind?.epoch ?? 0, behind?.n ?? 0, max).map(entryOf),
    trim: (name, keep) => {
      const row = oldest.get(key(name), keep)
      if (row === undefined) return undefined
      const last = positionOf(row)
      trim.run(key(name), last.epoch, last.n)
      return last
    },
    delete: name => {
      removeHead.run(key(name))
      removeAll.run(key(name))
    },
  }
}

function positionOf(row: Record<string, unknown>): LogPosition {
  return { epoch: countColumn(row.epoch), n: countColumn(row.n) }
}

function entryOf(row: Record<string, unknown>): LogEntry {
  // The check: only `insert` writes this column, as JSON of the fields.
  const fields = JSON.parse(textColumn(row.fields)) as Record<string, string>
  return { ...positionOf(row), fields }
}
