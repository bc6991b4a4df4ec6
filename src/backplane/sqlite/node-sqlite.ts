/** A value that SQLite stores; text is stored as bytes, because it may contain NUL. */
export type SqlValue = number | Uint8Array | string | null

/** The part of a prepared statement of `node:sqlite` that is used here. */
export interface SqlStatement {
  run(...values: SqlValue[]): unknown
  get(...values: SqlValue[]): Record<string, unknown> | undefined
  all(...values: SqlValue[]): Record<string, unknown>[]
}

/** The part of a database of `node:sqlite` that is used here. */
export interface SqlDatabase {
  exec(sql: string): void
  prepare(sql: string): SqlStatement
  close(): void
}

/**
 * Returns a function that opens databases with `node:sqlite`. Throws a TypeError on a version of Node that does not
 * have it.
 */
export function loadSqlite(): (path: string) => SqlDatabase {
  // `builtin` does not exist on other runtimes. The check below is for what it returns.
  const builtin = process.getBuiltinModule as ((id: string) => unknown) | undefined
  const module = builtin?.('node:sqlite') as SqliteModule | undefined
  if (module === undefined) {
    throw new TypeError(
      `the store "sqlite:" needs Node 22.13 or newer (this is Node ${process.versions.node})`,
    )
  }
  const { DatabaseSync } = module
  return path => new DatabaseSync(path)
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqlDatabase
}

/** Returns the number of an SQLite error, such as 5 for "busy"; undefined for any other error. */
export function sqliteErrorNumber(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  const { errcode } = error
  // The lowest byte is the kind of error; the others give details.
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}
