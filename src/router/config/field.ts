/** A JSON value. */
export type ConfigJson =
  | null
  | boolean
  | number
  | string
  | readonly ConfigJson[]
  | { readonly [name: string]: ConfigJson }

/** The purpose of an address: to serve there, to connect to, or to serve metrics at. */
export type AddressUse = 'listen' | 'connect' | 'metrics'

/** What the keys of a map denote, which determines their syntax. */
export type KeyKind = 'server' | 'view' | 'variable' | 'header' | 'tool' | 'claim'

/** The type of a field. */
export type FieldType =
  | { readonly kind: 'string'; readonly rule?: StringRule }
  | { readonly kind: 'address'; readonly use: AddressUse }
  | {
      readonly kind: 'number'
      readonly min: number
      readonly max: number
      readonly integer: boolean
    }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'false' }
  | {
      readonly kind: 'enum'
      readonly values: readonly string[]
      /** Alternative spellings in the files of other hosts. */
      readonly aliases?: ReadonlyMap<string, string>
    }
  | { readonly kind: 'list'; readonly of: FieldType; readonly minItems?: number }
  | { readonly kind: 'map'; readonly keys: KeyKind; readonly of: FieldType }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'union'; readonly of: readonly FieldType[] }
  /** Shorthand for an object with this one member, as in the files of other hosts. */
  | { readonly kind: 'member'; readonly name: string; readonly of: FieldType }
  | { readonly kind: 'ignored' }

/** The syntax of a string; NUL is never allowed. */
export type StringRule = 'web' | 'not-empty' | 'line' | 'variable' | 'header' | 'prefix'

/** One field of the configuration: its type, meaning, default and example. */
export interface Field {
  readonly type: FieldType
  /** Description for authors of the file. */
  readonly meaning: string
  /** The default: a value, or a description in parentheses if there is no single value. */
  readonly default?: ConfigJson
  readonly example: ConfigJson
  /** For fields of a server: whether a change requires a new connection or process. */
  readonly reconnects?: true
}

/** A table of fields, by name. */
export interface Group {
  /** Heading of the table of this group in the documentation. */
  readonly title: string
  readonly fields: ReadonlyMap<string, Field>
}

/** Any string. */
export const string: FieldType = { kind: 'string' }
/** A string that is not blank. */
export const nonEmpty: FieldType = { kind: 'string', rule: 'not-empty' }
export const boolean: FieldType = { kind: 'boolean' }

/** An integer in a range. */
export function integer(min: number, max: number): FieldType {
  return { kind: 'number', min, max, integer: true }
}

/** Any number in a range. */
export function number(min: number, max: number): FieldType {
  return { kind: 'number', min, max, integer: false }
}

/** A duration in milliseconds, by default at most a day. JavaScript timers support at most 2^31-1 ms. */
export function ms(min = 1, max = 86_400_000): FieldType {
  return { kind: 'number', min, max, integer: true }
}

/** One of these strings. */
export function enumeration(...values: readonly string[]): FieldType {
  return { kind: 'enum', values }
}

/** An array of values of one type. */
export function list(of: FieldType, minItems?: number): FieldType {
  return { kind: 'list', of, ...(minItems !== undefined && { minItems }) }
}

/** An object whose keys the author of the file chooses. */
export function map(keys: KeyKind, of: FieldType): FieldType {
  return { kind: 'map', keys, of }
}

/** An object with the fields of a group of the table. */
export function group(named: string): FieldType {
  return { kind: 'group', group: named }
}

/** A value of one of several types; the first that accepts its JSON type applies. */
export function union(...of: readonly FieldType[]): FieldType {
  return { kind: 'union', of }
}

/** A shorthand value for an object with one member. */
export function member(called: string, of: FieldType): FieldType {
  return { kind: 'member', name: called, of }
}

/** An address for the given use. */
export function address(use: AddressUse): FieldType {
  return { kind: 'address', use }
}

/** Describes a field type for messages and documentation: `an array of strings`. */
export function describeType(type: FieldType): string {
  switch (type.kind) {
    case 'string':
      return 'a string'
    case 'address':
      return 'an address'
    case 'number':
      return `${type.integer ? 'an integer' : 'a number'} from ${grouped(type.min)} to ${grouped(type.max)}`
    case 'boolean':
      return 'true or false'
    case 'false':
      return 'false'
    case 'enum':
      return type.values
        .map(value => `"${value}"`)
        .join(', ')
        .replace(/, ([^,]*)$/, ' or $1')
    case 'list':
      return `an array of ${plural(type.of)}`
    case 'map':
      return `an object of ${plural(type.of)}`
    case 'group':
      return 'an object'
    case 'union':
      return type.of.map(describeType).join(', or ')
    case 'member':
      return describeType(type.of)
    case 'ignored':
      return 'any value'
  }
}

function plural(type: FieldType): string {
  switch (type.kind) {
    case 'string':
      return 'strings'
    case 'address':
      return 'addresses'
    case 'union':
      return type.of.map(plural).join(' or ')
    default:
      return 'objects'
  }
}

/** Formats a number with digit groups: 86 400 000. */
function grouped(value: number): string {
  return `${value}`.replace(/(?<=\d)(?=(\d{3})+$)/g, ' ')
}
