import { tasksTable } from '../server/option-table.ts'
import type { OptionKind, OptionTable, OptionTableOf } from '../util/options.ts'
import type { FieldType } from './config/field.ts'
import { fieldsOf } from './config/schema.ts'
import type { ServerField } from './config/schema-server.ts'
import type { RouterOptions, UpstreamOptions } from './options.ts'

/** What only a program can say of a server. */
const ofPrograms: OptionTableOf<Omit<UpstreamOptions, ServerField>> = {
  server: 'object',
  use: 'list',
}

/** The options of one server behind the router, to check what callers have written. */
export const upstreamTable: OptionTable = { ...tableOf('server'), ...ofPrograms }

/** The options of one address of several, to check what callers have written. */
export const placeTable: OptionTable = tableOf('instance')

/** The options of a router, to check what callers have written. Its servers are checked one by one. */
export const routerTable: OptionTableOf<RouterOptions> = {
  servers: 'object',
  name: 'text',
  version: 'text',
  title: 'text',
  icons: 'list',
  instructions: 'text',
  pageSize: 'number',
  keys: 'list',
  tasks: tasksTable,
  limits: tableOf('routerLimits'),
  out: 'list',
  heldMs: 'ms',
  doubtMs: 'ms',
  pins: 'object',
  onPinned: 'function',
  clock: 'object',
  onError: 'function',
}

/** A group of fields of the configuration file as options of a program, where the same names hold. */
function tableOf(group: string): OptionTable {
  return Object.fromEntries(
    Array.from(fieldsOf(group), ([name, { type }]) => [name, kindOf(type)] as const),
  )
}

// Ranges are left to whoever uses a number: what makes sense in a file is less than what is possible.
function kindOf(type: FieldType): OptionKind | OptionTable {
  switch (type.kind) {
    case 'text':
    case 'address':
    case 'word':
      return 'text'
    case 'number':
      return 'number'
    case 'boolean':
    case 'false':
      return 'flag'
    case 'list':
      return type.of.kind === 'text' ? 'texts' : 'list'
    case 'map':
      return type.of.kind === 'group' ? { '*': tableOf(type.of.group) } : 'object'
    case 'group':
      return tableOf(type.group)
    case 'either':
      return eitherOf(type.of)
    case 'member':
      return kindOf(type.of)
    case 'ignored':
      return 'any'
  }
}

/**
 * What can be switched off, or be written shorter in a file, is looked into; other choices are left to
 * whoever makes them.
 */
function eitherOf(types: readonly FieldType[]): OptionKind | OptionTable {
  const group = types.find(({ kind }) => kind === 'group')
  const isOther = types.some(({ kind }) => !['group', 'false', 'member'].includes(kind))
  return group === undefined || isOther ? 'any' : kindOf(group)
}
