import { peerTable } from '../jsonrpc/option-table.ts'
import type { CacheHints } from '../mcp/types/base.ts'
import type { OptionTableOf } from '../util/options.ts'
import type { ServerCache } from './core/cache-hints.ts'
import type { PromptDefinition } from './features/prompts.ts'
import type { ResourceDefinition } from './features/resources.ts'
import type { SkillDefinition } from './features/skill-entry.ts'
import type { ToolDefinition } from './features/tools.ts'
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

const hints: OptionTableOf<CacheHints> = { ttlMs: 'number', cacheScope: 'string' }

const cache: OptionTableOf<ServerCache> = {
  ...hints,
  discover: hints,
  tools: hints,
  resources: hints,
  resourceTemplates: hints,
  prompts: hints,
  skills: hints,
  contents: hints,
}

const common = { title: 'string', description: 'string', icons: 'array', meta: 'object' } as const

/** The members of a tool definition, for validation. A schema can be an object or a function. */
export const toolTable: OptionTableOf<ToolDefinition> = {
  ...common,
  input: 'any',
  output: 'any',
  annotations: 'object',
  task: ['forbidden', 'optional', 'required'],
  taskStart: ['at-once', 'in-handler'],
}

/** The members of a prompt definition, for validation. */
export const promptTable: OptionTableOf<PromptDefinition> = {
  ...common,
  args: 'any',
  complete: { '*': 'any' },
}

/** The members of a resource definition, for validation. */
export const resourceTable: OptionTableOf<ResourceDefinition> = {
  ...common,
  mimeType: 'string',
  size: 'number',
  annotations: 'object',
  cache: hints,
  complete: { '*': 'any' },
}

/** The members of a skill definition, for validation. */
export const skillTable: OptionTableOf<SkillDefinition> = {
  description: 'string',
  frontmatter: 'object',
  files: 'object',
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
