import { peerTable } from '../jsonrpc/option-table.ts'
import type { CacheHints } from '../mcp/types/base.ts'
import type { OptionTableOf } from '../util/options.ts'
import type { ServerCache } from './core/cache-hints.ts'
import type { ServerOptions } from './options.ts'
import type { TaskOptions } from './tasks/registry.ts'

/** The option `tasks`, for validation. */
export const tasksTable: OptionTableOf<TaskOptions> = {
  store: 'object',
  // `Tasks` checks the numbers.
  max: 'any',
  maxPerCaller: 'any',
  clock: 'object',
  ttlMs: 'any',
  maxTtlMs: 'any',
  pollMs: 'any',
}

const hints: OptionTableOf<CacheHints> = { ttlMs: 'number', cacheScope: 'string' }

const cache: OptionTableOf<ServerCache> = {
  ...hints,
  discover: hints,
  tools: hints,
  resources: hints,
  resourceTemplates: hints,
  prompts: hints,
  contents: hints,
}

/** The options of a server, for validation. */
export const serverTable: OptionTableOf<ServerOptions> = {
  profile: 'any',
  revisions: 'strings',
  pageSize: 'number',
  cache,
  extensions: 'object',
  experimental: 'object',
  keys: 'array',
  tasks: tasksTable,
  onError: 'function',
  peer: peerTable,
}
