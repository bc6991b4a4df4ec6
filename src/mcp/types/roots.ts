import type { Meta, Result } from './base.ts'

/** A place the server may work in. */
export interface Root {
  /** Begins with `file://`. */
  readonly uri: string
  readonly name?: string
  readonly _meta?: Meta
}

/** The answer to `roots/list`. */
export interface ListRootsResult extends Result {
  readonly roots: readonly Root[]
}
