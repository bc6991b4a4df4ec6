import type { CacheHints } from '../../mcp/types/base.ts'
import type { OptionTableOf } from '../../util/options.ts'
import { accessTable } from './access.ts'

/** The members of cache hints, for validation. */
export const hintsTable: OptionTableOf<CacheHints> = { ttlMs: 'number', cacheScope: 'string' }

/** The members that definitions of tools, resources and prompts have in common, for validation. */
export const commonMembers = {
  // A text, or its translations.
  title: 'any',
  description: 'any',
  icons: 'array',
  meta: 'object',
  visible: 'function',
  auth: accessTable,
} as const

/** A definition that the compiler refuses: `Fault` says what is wrong with the member `Name`. */
export type FaultyDefinition<Name extends string, Fault> = {
  readonly [N in Name]: Fault
} & Readonly<Record<string, unknown>>
