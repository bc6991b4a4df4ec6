import { limits } from '../../util/limits/limits.ts'
import { checkOptions, formatValue, type OptionTableOf } from '../../util/options.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Backplane } from '../backplane.ts'
import { BackplaneError } from '../backplane-error.ts'
import { checkCluster } from '../input-checks.ts'
import { localBackplane } from '../local/backplane.ts'
import type { LocalEngine } from '../local/engine.ts'
import { SqliteBus } from './bus.ts'
import { DiskRoom } from './disk-room.ts'
import { reserveFile } from './node-reserve.ts'
import { loadSqlite, type SqlDatabase, sqliteErrorNumber } from './node-sqlite.ts'
import { prepareDatabase } from './schema.ts'
import { sqliteTables } from './tables.ts'
import { Transactions } from './transactions.ts'

/** Options of `sqlite`. */
export interface SqliteOptions {
  /** The name of the cluster; several clusters can share a file. `trunkline` by default. */
  readonly cluster?: string
  /**
   * What acknowledged writes survive: `process` (default) a killed process, `power` also a power failure, at the cost
   * of waiting for the disk with each commit.
   */
  readonly durability?: 'process' | 'power'
  /** Called when the disk is full, and nothing more is stored until there is room; ignored by default. */
  readonly onWarning?: (warning: Error) => void
  /** The clock that looks for messages of other processes; the system's by default. */
  readonly clock?: Clock
}

const sqliteOptionTable: OptionTableOf<SqliteOptions> = {
  cluster: 'string',
  durability: ['process', 'power'],
  onWarning: 'function',
  clock: 'object',
}

/**
 * Creates a backplane in an SQLite file, which the processes of one machine can share and which survives restarts.
 * Opens the file at once, and creates it if it is missing. `FILE-reserve` beside it keeps space for a full disk. Throws
 * a TypeError on Node older than 22.13, which has no `node:sqlite`, and a `BackplaneError` with `down` if the file cannot
 * be used.
 */
export function sqlite(path: string, options: SqliteOptions = {}): Backplane {
  checkOptions(options, sqliteOptionTable)
  if (typeof path !== 'string' || path === '') {
    throw new TypeError(`the path of an SQLite file must be a text (got ${formatValue(path)})`)
  }
  if (path === ':memory:') {
    throw new TypeError('a backplane in SQLite needs a file; for memory, use memory()')
  }
  const { cluster = 'trunkline', durability = 'process', clock = systemClock } = options
  const { onWarning = () => {} } = options
  checkCluster(cluster)
  const name = `sqlite:${path}`
  const prefix = `${cluster}:`
  const database = openDatabase(path, durability === 'power')
  const reserve = reserveFile(`${path}-reserve`, limits.sqliteReserveBytes.default)
  const room = new DiskRoom({ name, reserve, clock, onWarning })
  const transactions = new Transactions(database, name, room)
  return localBackplane(checkUsable => {
    const engine: LocalEngine = {
      tables: sqliteTables(database, prefix),
      // The clock of the machine, because processes that started at other times must agree on it.
      now: () => Date.now(),
      run: operation => transactions.run(operation),
      runGrowing: operation => transactions.runGrowing(operation),
    }
    const { now } = engine
    const bus = new SqliteBus({ database, transactions, clock, now, prefix, checkUsable })
    const close = () => {
      bus.close()
      transactions.flush()
      database.close()
    }
    return { name, isShared: true, engine, bus, close }
  })
}

function openDatabase(path: string, isPowerSafe: boolean): SqlDatabase {
  const open = loadSqlite()
  let database: SqlDatabase | undefined
  try {
    database = open(path)
    prepareDatabase(database, isPowerSafe)
    return database
  } catch (error) {
    database?.close()
    if (sqliteErrorNumber(error) === undefined) throw error
    const text = error instanceof Error ? error.message : String(error)
    throw new BackplaneError('down', `the file ${path} cannot be used: ${text}`, { cause: error })
  }
}
