import type { AddressUse } from './address.ts'

/** A value as JSON has it. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json }

/** What the names in a map are, which decides what they may look like. */
export type KeyKind = 'server' | 'variable' | 'header' | 'tool'

/** What a field may hold. */
export type FieldType =
  | { readonly kind: 'text'; readonly rule?: TextRule }
  | { readonly kind: 'address'; readonly use: AddressUse }
  | { readonly kind: 'number'; readonly min: number; readonly max: number; readonly whole: boolean }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'false' }
  | {
      readonly kind: 'word'
      readonly words: readonly string[]
      /** Other spellings, as other programs' files have them. */
      readonly also?: ReadonlyMap<string, string>
    }
  | { readonly kind: 'list'; readonly of: FieldType; readonly atLeast?: number }
  | { readonly kind: 'map'; readonly keys: KeyKind; readonly of: FieldType }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'either'; readonly of: readonly FieldType[] }
  /** Stands for an object with this one member, as other programs' files have it. */
  | { readonly kind: 'member'; readonly name: string; readonly of: FieldType }
  | { readonly kind: 'ignored' }

/** What a text may be, besides free of NUL. */
export type TextRule = 'not-empty' | 'line' | 'variable' | 'header' | 'prefix'

/** One field of the configuration: what it may hold, what it means, and what holds without it. */
export interface Field {
  readonly type: FieldType
  /** In words for people who write the file. */
  readonly meaning: string
  /** What holds without it: a value, or words in parentheses where no single value does. */
  readonly default?: Json
  readonly example: Json
  /** For fields of a server: whether a change of it needs a connection of its own, or a new process. */
  readonly reconnects?: true
}

/** A table of fields, by name. */
export interface Group {
  /** What an object of this group is, for the heading of its table. */
  readonly title: string
  readonly fields: ReadonlyMap<string, Field>
}

export const text: FieldType = { kind: 'text' }
export const name: FieldType = { kind: 'text', rule: 'not-empty' }
export const flag: FieldType = { kind: 'boolean' }

/** A whole number of things. */
export function count(min: number, max: number): FieldType {
  return { kind: 'number', min, max, whole: true }
}

/** Any number in a range. */
export function number(min: number, max: number): FieldType {
  return { kind: 'number', min, max, whole: false }
}

/** A time in milliseconds. Timers of JavaScript end at 2^31-1; a day is far below that. */
export function ms(min = 1, max = 86_400_000): FieldType {
  return { kind: 'number', min, max, whole: true }
}

export function words(...list: readonly string[]): FieldType {
  return { kind: 'word', words: list }
}

export function list(of: FieldType, atLeast?: number): FieldType {
  return { kind: 'list', of, ...(atLeast !== undefined && { atLeast }) }
}

export function map(keys: KeyKind, of: FieldType): FieldType {
  return { kind: 'map', keys, of }
}

export function group(named: string): FieldType {
  return { kind: 'group', group: named }
}

export function either(...of: readonly FieldType[]): FieldType {
  return { kind: 'either', of }
}

export function member(called: string, of: FieldType): FieldType {
  return { kind: 'member', name: called, of }
}

export function address(use: AddressUse): FieldType {
  return { kind: 'address', use }
}

/** What a field may hold, in a few words: `a list of texts`. */
export function typeWords(type: FieldType): string {
  switch (type.kind) {
    case 'text':
      return 'a text'
    case 'address':
      return 'an address'
    case 'number':
      return `a ${type.whole ? 'whole ' : ''}number from ${grouped(type.min)} to ${grouped(type.max)}`
    case 'boolean':
      return 'true or false'
    case 'false':
      return 'false'
    case 'word':
      return type.words
        .map(word => `"${word}"`)
        .join(', ')
        .replace(/, ([^,]*)$/, ' or $1')
    case 'list':
      return `a list of ${plural(type.of)}`
    case 'map':
      return `an object of ${plural(type.of)} by name`
    case 'group':
      return 'an object'
    case 'either':
      return type.of.map(typeWords).join(', or ')
    case 'member':
      return typeWords(type.of)
    case 'ignored':
      return 'anything'
  }
}

function plural(type: FieldType): string {
  switch (type.kind) {
    case 'text':
      return 'texts'
    case 'address':
      return 'addresses'
    case 'either':
      return type.of.map(plural).join(' or ')
    default:
      return 'objects'
  }
}

/** 86 400 000 rather than 86400000. */
function grouped(value: number): string {
  return `${value}`.replace(/(?<=\d)(?=(\d{3})+$)/g, ' ')
}
