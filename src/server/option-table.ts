import { peerTable } from '../jsonrpc/option-table.ts'
import type { OptionTableOf } from '../util/options.ts'
import type { ServerCache } from './core/cache-hints.ts'
import { hintsTable } from './features/definition-members.ts'
import type { ServerOptions } from './options.ts'
import type { TaskOptions } from './tasks/registry.ts'

/** The option `tasks`, for validation. */
export const tasksTable: OptionTableOf<TaskOptions> = {
  store: 'object',
  // `Tasks` checks the numbers.
  max: 'any',
  maxPerCaller: 'any',
  maxFinished: 'any',
  maxFinishedPerCaller: 'any',
  maxArgumentBytes: 'any',
  maxFinishedBytes: 'any',
  leaseMs: 'any',
  clock: 'object',
  ttlMs: 'any',
  maxTtlMs: 'any',
  pollMs: 'any',
}

const cache: OptionTableOf<ServerCache> = {
  ...hintsTable,
  discover: hintsTable,
  tools: hintsTable,
  resources: hintsTable,
  resourceTemplates: hintsTable,
  prompts: hintsTable,
  skills: hintsTable,
  contents: hintsTable,
}

/** The options of a server, for validation. */
export const serverTable: OptionTableOf<ServerOptions> = {
  profile: 'any',
  revisions: 'strings',
  pageSize: 'number',
  cache,
  extensions: 'object',
  experimental: 'object',
  // An array, or a ring of keys; checked where they are imported.
  keys: 'any',
  tasks: tasksTable,
  context: 'function',
  onError: 'function',
  peer: peerTable,
}
