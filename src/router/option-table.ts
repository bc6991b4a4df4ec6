import { tasksTable } from '../server/option-table.ts'
import {
  checkOptions,
  type OptionKind,
  type OptionTable,
  type OptionTableOf,
} from '../util/options.ts'
import type { FieldType } from './config/field.ts'
import { fieldsOf } from './config/schema.ts'
import type { ServerField } from './config/schema-server.ts'
import type { RouterOptions, UpstreamOptions } from './options.ts'

/** Options of a server that only code can set, not a configuration file. */
const codeOnly: OptionTableOf<Omit<UpstreamOptions, ServerField>> = {
  server: 'object',
  use: 'array',
  configError: 'string',
}

/** Option table of {@link UpstreamOptions}, for `checkOptions`. */
export const upstreamTable: OptionTable = { ...tableOf('server'), ...codeOnly }

/** Option table of one entry of `urls`, for `checkOptions`. */
export const instanceUrlTable: OptionTable = tableOf('instance')

/** Option table of one entry of `priorities`. */
const priorityTable: OptionTable = tableOf('priorities')

/** Option table of one entry of `callers` of a view. */
const callerTable: OptionTable = tableOf('callers')

const { listen: _listen, ...viewTable } = tableOf('view')

/** Option table of {@link RouterOptions}. The registry checks each entry of `servers`. */
const routerTable: OptionTableOf<RouterOptions> = {
  servers: 'object',
  name: 'string',
  version: 'string',
  title: 'string',
  icons: 'array',
  instructions: 'string',
  pageSize: 'number',
  // An array, or a ring of keys; checked where they are imported.
  keys: 'any',
  tasks: tasksTable,
  limits: tableOf('routerLimits'),
  sharedRates: 'object',
  outbound: 'array',
  toolSearch: tableOf('toolSearch'),
  // Checked where it is compiled.
  policy: 'object',
  audit: 'object',
  views: { '*': viewTable },
  remembered: 'object',
  onRemembered: 'function',
  concurrentStarts: 'number',
  startWaitMs: 'ms',
  parkedMs: 'ms',
  attributionTimeoutMs: 'ms',
  priorities: 'array',
  deadLetters: tableOf('deadLetters'),
  pins: 'object',
  onPinned: 'function',
  clock: 'object',
  onError: 'function',
}

/** Throws a TypeError for unknown or invalid options of a router. */
export function checkRouterOptions(options: RouterOptions): void {
  checkOptions(options, routerTable)
  for (const rule of options.priorities ?? []) checkOptions(rule, priorityTable, '"priorities": ')
  for (const { callers = [] } of Object.values(options.views ?? {})) {
    for (const rule of callers) checkOptions(rule, callerTable, '"callers": ')
  }
}

/** Converts a group of configuration fields to an option table; names are the same in both. */
function tableOf(group: string): OptionTable {
  return Object.fromEntries(
    Array.from(fieldsOf(group), ([name, { type }]) => [name, kindOf(type)] as const),
  )
}

// Ranges are checked where a number is used, because code may set values that a file may not.
function kindOf(type: FieldType): OptionKind | OptionTable {
  switch (type.kind) {
    case 'string':
    case 'address':
      return 'string'
    case 'enum':
      return [...type.values, ...(type.aliases?.keys() ?? [])]
    case 'number':
      return 'number'
    case 'boolean':
    case 'false':
      return 'boolean'
    case 'list':
      return type.of.kind === 'string' ? 'strings' : 'array'
    case 'map':
      return type.of.kind === 'group' ? { '*': tableOf(type.of.group) } : 'object'
    case 'group':
      return tableOf(type.group)
    case 'union':
      return unionOf(type.of)
    case 'member':
      return kindOf(type.of)
    case 'ignored':
      return 'any'
  }
}

/**
 * Returns the table of the group in a union of a group with `false` or a shorthand. The members of any
 * other union are checked where the option is used.
 */
function unionOf(types: readonly FieldType[]): OptionKind | OptionTable {
  const group = types.find(({ kind }) => kind === 'group')
  const isOther = types.some(({ kind }) => !['group', 'false', 'member'].includes(kind))
  return group === undefined || isOther ? 'any' : kindOf(group)
}
