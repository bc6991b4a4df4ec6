import { MiB } from '../../util/limits/limit.ts'
import { limits } from '../../util/limits/limits.ts'
import type { SqlDatabase } from './node-sqlite.ts'

/** The version of the tables, which a newer version of Trunkline may change. */
const version = 1

/** The size to which the journal is cut. The reserve for a full disk must be twice as large. */
const journalBytes = 8 * MiB

/** Sets up a database: its modes, and its tables if they are missing. Throws if a newer version made the file. */
export function prepareDatabase(database: SqlDatabase, isPowerSafe: boolean): void {
  database.exec(`
    PRAGMA busy_timeout = ${limits.sqliteBusyMs.default};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${isPowerSafe ? 'FULL' : 'NORMAL'};
    PRAGMA journal_size_limit = ${journalBytes};
  `)
  const found = database.prepare('PRAGMA user_version').get()?.user_version
  if (typeof found === 'number' && found > version) {
    throw new TypeError(
      `the file was written by a newer version of Trunkline (tables ${found}, this version knows ${version})`,
    )
  }
  database.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS records (
      key BLOB PRIMARY KEY, value BLOB, node TEXT, epoch INTEGER NOT NULL,
      final INTEGER NOT NULL, deleted INTEGER NOT NULL, until REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS records_until ON records (until);
    CREATE TABLE IF NOT EXISTS names (
      list BLOB NOT NULL, name BLOB NOT NULL, until REAL NOT NULL, PRIMARY KEY (list, name)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS names_order ON names (list, until, name);
    CREATE INDEX IF NOT EXISTS names_until ON names (until);
    CREATE TABLE IF NOT EXISTS logs (
      key BLOB PRIMARY KEY, epoch INTEGER NOT NULL, n INTEGER NOT NULL,
      removed_epoch INTEGER, removed_n INTEGER, until REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS logs_until ON logs (until);
    CREATE TABLE IF NOT EXISTS entries (
      key BLOB NOT NULL, epoch INTEGER NOT NULL, n INTEGER NOT NULL, fields BLOB NOT NULL,
      PRIMARY KEY (key, epoch, n)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS messages (
      id INTEGER PRIMARY KEY AUTOINCREMENT, sender TEXT NOT NULL, channel BLOB NOT NULL,
      text BLOB, until REAL NOT NULL
    );
    PRAGMA user_version = ${version};
    COMMIT;
  `)
}
