import { limits } from '../../util/limits/limits.ts'
import { checkOptions, formatValue, type OptionTableOf } from '../../util/options.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Backplane, BackplaneState } from '../backplane.ts'
import { BackplaneError, closedError } from '../backplane-error.ts'
import type { LocalEngine } from '../local/engine.ts'
import { LocalLog } from '../local/log.ts'
import { LocalMembership } from '../local/membership.ts'
import { LocalRates } from '../local/rates.ts'
import { LocalStore } from '../local/store.ts'
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
 * Opens the file at once, and creates it if it is missing; beside it, `FILE-reserve` keeps space for a full disk. Throws a TypeError on Node older than 22.13, which has no
 * `node:sqlite`, and a `BackplaneError` with `down` if the file cannot be used.
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
  if (!/^[\w.-]{1,64}$/.test(cluster)) {
    throw new TypeError(
      `option "cluster" must be 1 to 64 letters, digits or "_.-" (got ${formatValue(cluster)})`,
    )
  }
  const name = `sqlite:${path}`
  const database = openDatabase(path, durability === 'power')
  const prefix = `${cluster}:`
  const { onWarning = () => {} } = options
  const reserve = reserveFile(`${path}-reserve`, limits.sqliteReserveBytes.default)
  const room = new DiskRoom({ name, reserve, clock, onWarning })
  const transactions = new Transactions(database, name, room)
  const listeners = new Set<(state: BackplaneState) => void>()
  let isOpen = true
  const checkUsable = () => {
    if (!isOpen) throw closedError(name)
  }
  const engine: LocalEngine = {
    tables: sqliteTables(database, prefix),
    // The clock of the machine, because processes that started at other times must agree on it.
    now: () => Date.now(),
    run: async operation => {
      checkUsable()
      return transactions.run(operation)
    },
    runGrowing: async operation => {
      checkUsable()
      return transactions.runGrowing(operation)
    },
  }
  const bus = new SqliteBus({
    database,
    transactions,
    clock,
    now: engine.now,
    prefix,
    checkUsable,
  })
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    bus.close()
    transactions.flush()
    database.close()
    for (const listener of listeners) listener({ isUp: false, wasEmptied: false })
    listeners.clear()
  }
  return {
    name,
    isShared: true,
    get isUp() {
      return isOpen
    },
    onStateChange: listener => {
      const own = (state: BackplaneState) => listener(state)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    open: async () => checkUsable(),
    close,
    [Symbol.asyncDispose]: close,
    membership: new LocalMembership(engine),
    store: new LocalStore(engine),
    log: new LocalLog(engine),
    bus,
    rates: new LocalRates(engine),
  }
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
