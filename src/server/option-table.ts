import { peerTable } from '../jsonrpc/option-table.ts'
import type { CacheHints } from '../mcp/types/base.ts'
import type { OptionTableOf } from '../util/options.ts'
import type { ServerCache } from './core/cache-hints.ts'
import type { ServerOptions } from './options.ts'
import type { TaskOptions } from './tasks/tasks.ts'

/** The options of keeping tasks, to check what callers have written. */
export const tasksTable: OptionTableOf<TaskOptions> = {
  store: 'object',
  // The numbers are checked by the tasks themselves.
  max: 'any',
  maxPerCaller: 'any',
  clock: 'object',
  ttlMs: 'any',
  maxTtlMs: 'any',
  pollMs: 'any',
}

const hints: OptionTableOf<CacheHints> = { ttlMs: 'number', cacheScope: 'text' }

const cache: OptionTableOf<ServerCache> = {
  ...hints,
  discover: hints,
  tools: hints,
  resources: hints,
  resourceTemplates: hints,
  prompts: hints,
  contents: hints,
}

/** The options of a server, to check what callers have written. */
export const serverTable: OptionTableOf<ServerOptions> = {
  profile: 'any',
  revisions: 'texts',
  pageSize: 'number',
  cache,
  extensions: 'object',
  experimental: 'object',
  keys: 'list',
  tasks: tasksTable,
  onError: 'function',
  peer: peerTable,
}
