import type { Meta, Result } from './base.ts'

/** A directory or file that the server may work in. */
export interface Root {
  /** Starts with `file://`. */
  readonly uri: string
  readonly name?: string
  readonly _meta?: Meta
}

/** The result of `roots/list`. */
export interface ListRootsResult extends Result {
  readonly roots: readonly Root[]
}
