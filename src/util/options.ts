import { nearest } from './nearest.ts'
import { isRecord } from './record.ts'
import { longestDelayMs } from './time/clock.ts'

/** What an option may hold; `'any'` is looked at by whoever uses it. Undefined is as good as left out. */
export type OptionKind = 'any' | keyof typeof kinds

/**
 * Every option there is, by name, with what it may hold; of one that is an object of options, those in
 * it. `*` stands for all names that the table does not have, where the caller chooses them.
 */
export interface OptionTable {
  readonly [name: string]: OptionKind | OptionTable
}

/** A table with every option of `T` and no other. */
export type OptionTableOf<T> = Readonly<Record<keyof T, OptionKind | OptionTable>>

/**
 * Throws a TypeError for a name that no option has, which names the one that was probably meant or else
 * all there are, and for a value that means nothing. `whose` begins its message, where there are several
 * whose options these could be.
 */
export function checkOptions(options: unknown, table: OptionTable, whose = ''): void {
  if (!isRecord(options))
    throw new TypeError(`${whose}options are an object, not ${shown(options)}`)
  checkMembers(options, table, '', whose)
}

/** Any value in an error message, in few characters. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'an array'
  return isRecord(value) ? 'an object' : String(value)
}

/** What `false` leaves out. */
const mayBeOff = new Set(['restart', 'cors', 'sse', 'breaker'])

function checkMembers(options: object, table: OptionTable, prefix: string, whose: string): void {
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(table, name) ? table[name] : table['*']
    const path = `${prefix}${name}`
    if (kind === undefined) throw new TypeError(`${whose}${unknownName(name, table, prefix)}`)
    if (value === undefined || kind === 'any') continue
    if (typeof kind === 'string') {
      const { words, fits } = kinds[kind]
      if (fits(value)) continue
      throw new TypeError(`${whose}the option "${path}" is ${words}, not ${shown(value)}`)
    }
    if (isRecord(value)) {
      checkMembers(value, kind, `${path}.`, whose)
      continue
    }
    if (value === false && mayBeOff.has(name)) continue
    const what = `an object of options${mayBeOff.has(name) ? ' or false' : ''}`
    throw new TypeError(`${whose}the option "${path}" is ${what}, not ${shown(value)}`)
  }
}

function unknownName(name: string, table: OptionTable, prefix: string): string {
  const known = Object.keys(table)
  const meant = nearest(name, known)
  const hint =
    meant === undefined ? `there are ${known.join(', ')}` : `did you mean "${prefix}${meant}"?`
  return `there is no option "${prefix}${name}"; ${hint}`
}

interface Kind {
  /** What such an option is, after "is". */
  readonly words: string
  readonly fits: (value: unknown) => boolean
}

const kinds = {
  text: { words: 'a text', fits: value => typeof value === 'string' },
  texts: {
    words: 'a list of texts',
    fits: value => Array.isArray(value) && value.every(item => typeof item === 'string'),
  },
  list: { words: 'a list', fits: value => Array.isArray(value) },
  object: { words: 'an object', fits: isRecord },
  flag: { words: 'true or false', fits: value => typeof value === 'boolean' },
  function: { words: 'a function', fits: value => typeof value === 'function' },
  number: { words: 'a number', fits: value => typeof value === 'number' && !Number.isNaN(value) },
  /** A number of things that may be none. */
  count: range(0, Number.POSITIVE_INFINITY),
  /** The most of something; none at all would be a mistake. */
  most: range(1, Number.POSITIVE_INFINITY),
  /** A time in milliseconds that a timer can take. */
  ms: range(0, longestDelayMs),
  /** The longest of several times, which is not none. */
  longestMs: range(1, longestDelayMs),
} satisfies Record<string, Kind>

function range(least: number, most: number): Kind {
  return {
    words: `a number from ${least} to ${most}`,
    fits: value => typeof value === 'number' && value >= least && value <= most,
  }
}
