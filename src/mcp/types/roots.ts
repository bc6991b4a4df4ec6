import type { Meta, Result } from './base.ts'

/** A directory or file that the server may work in. */
export interface Root {
  /** Starts with `file://`. */
  readonly uri: string
  /** The display name. */
  readonly name?: string
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** The result of `roots/list`. */
export interface ListRootsResult extends Result {
  /** The roots of the client. */
  readonly roots: readonly Root[]
}
