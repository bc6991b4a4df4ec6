import { nearest } from './nearest.ts'
import { isRecord } from './objects.ts'
import { longestDelayMs } from './time/clock.ts'

/**
 * The kinds of value an option can have; an array holds the words that it can be. `'any'` is not checked
 * here but by the code that uses it.
 */
export type OptionKind = 'any' | keyof typeof kinds | readonly string[]

/**
 * The options that exist, by name, each with the kind of value it takes; for a group of options, the
 * table of that group. The name `*` stands for every name that is not in the table, where the caller
 * chooses the names.
 */
export interface OptionTable {
  readonly [name: string]: OptionKind | OptionTable
}

/** An OptionTable with every option of `T` and no other. */
export type OptionTableOf<T> = Readonly<Record<keyof T, OptionKind | OptionTable>>

/**
 * Throws a TypeError for an unknown option, with the closest known name or else all known names, and
 * for a value of the wrong kind. An option that is undefined counts as left out. `prefix` is put before
 * the message, where options of several owners are checked.
 */
export function checkOptions(options: unknown, table: OptionTable, prefix = ''): void {
  if (!isRecord(options))
    throw new TypeError(`${prefix}options must be an object (got ${formatValue(options)})`)
  checkMembers(options, table, '', prefix)
}

/** Formats any value for an error message, in at most about 100 characters. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'an array'
  return isRecord(value) ? 'an object' : String(value)
}

/** Groups of options that `false` switches off. */
const canBeOff = new Set(['restart', 'reconnect', 'cors', 'sse', 'breaker', 'toolSearch'])

function checkMembers(options: object, table: OptionTable, group: string, prefix: string): void {
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(table, name) ? table[name] : table['*']
    const path = `${group}${name}`
    if (kind === undefined) throw new TypeError(`${prefix}${unknownOption(name, table, group)}`)
    if (value === undefined || kind === 'any') continue
    if (typeof kind === 'string') {
      const { expected, fits } = kinds[kind]
      if (fits(value)) continue
      throw new TypeError(
        `${prefix}option "${path}" must be ${expected} (got ${formatValue(value)})`,
      )
    }
    if (isWords(kind)) {
      if (typeof value === 'string' && kind.includes(value)) continue
      throw new TypeError(`${prefix}option "${path}" must be ${wordsText(kind, value)}`)
    }
    if (isRecord(value)) {
      checkMembers(value, kind, `${path}.`, prefix)
      continue
    }
    if (value === false && canBeOff.has(name)) continue
    const expected = `an object of options${canBeOff.has(name) ? ' or false' : ''}`
    throw new TypeError(`${prefix}option "${path}" must be ${expected} (got ${formatValue(value)})`)
  }
}

function unknownOption(name: string, table: OptionTable, group: string): string {
  const known = Object.keys(table)
  const meant = nearest(name, known)
  const hint =
    meant === undefined ? `known options: ${known.join(', ')}` : `did you mean "${group}${meant}"?`
  return `unknown option "${group}${name}"; ${hint}`
}

function isWords(kind: OptionKind | OptionTable): kind is readonly string[] {
  return Array.isArray(kind)
}

function wordsText(words: readonly string[], value: unknown): string {
  const meant = typeof value === 'string' ? nearest(value, words) : undefined
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
  return `one of ${words.map(word => `"${word}"`).join(', ')} (got ${formatValue(value)})${hint}`
}

interface Kind {
  /** The words that follow "must be" in an error message. */
  readonly expected: string
  readonly fits: (value: unknown) => boolean
}

const kinds = {
  string: { expected: 'a string', fits: value => typeof value === 'string' },
  strings: {
    expected: 'an array of strings',
    fits: value => Array.isArray(value) && value.every(item => typeof item === 'string'),
  },
  array: { expected: 'an array', fits: value => Array.isArray(value) },
  object: { expected: 'an object', fits: isRecord },
  boolean: { expected: 'true or false', fits: value => typeof value === 'boolean' },
  function: { expected: 'a function', fits: value => typeof value === 'function' },
  number: {
    expected: 'a number',
    fits: value => typeof value === 'number' && !Number.isNaN(value),
  },
  /** A count, which can be 0. */
  count: range(0),
  /** An upper limit, where 0 would allow nothing and is a mistake. */
  max: range(1),
  /** A delay in milliseconds that a timer accepts. */
  ms: range(0, longestDelayMs),
  /** The longest of several delays in milliseconds, which cannot be 0. */
  maxMs: range(1, longestDelayMs),
} satisfies Record<string, Kind>

function range(min: number, max = Number.POSITIVE_INFINITY): Kind {
  return {
    expected:
      max === Number.POSITIVE_INFINITY ? `a number ≥ ${min}` : `a number from ${min} to ${max}`,
    fits: value => typeof value === 'number' && value >= min && value <= max,
  }
}
