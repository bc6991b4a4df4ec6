import { longestDelayMs } from './clock.ts'
import { nearest } from './nearest.ts'
import { isRecord } from './record.ts'

/**
 * The options that are objects of options, by name. Only these are looked into: other objects, such as
 * headers, have members with names of the caller's choice.
 */
export interface OptionGroups {
  readonly [name: string]: OptionGroups
}

/** Every option there is, by name; of one that is an object of options, those in it, if they are known. */
export interface OptionNames {
  readonly [name: string]: OptionNames | true
}

/**
 * Throws a TypeError for options whose values mean nothing: limits and times out of range, and groups
 * that are none. What the names in `groups` stand for is looked into. The message has the whole name.
 */
export function checkValues(options: unknown, groups: OptionGroups): void {
  if (!isRecord(options)) throw new TypeError(`options are an object, not ${shown(options)}`)
  checkNumbers(options)
  checkGroups(options, groups)
}

/** Throws a TypeError for a name that no option has, and names the one that was probably meant. */
export function checkNames(options: object, names: OptionNames, prefix = ''): void {
  for (const [name, value] of Object.entries(options)) {
    const further = Object.hasOwn(names, name) ? names[name] : undefined
    if (further === undefined) {
      const meant = nearest(name, Object.keys(names))
      const known = Object.keys(names).join(', ')
      const hint = meant === undefined ? `there are ${known}` : `did you mean "${prefix}${meant}"?`
      throw new TypeError(`there is no option "${prefix}${name}"; ${hint}`)
    }
    if (further !== true && isRecord(value)) checkNames(value, further, `${prefix}${name}.`)
  }
}

/** Any value in an error message, in few characters. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'an array'
  return isRecord(value) ? 'an object' : String(value)
}

/** What `false` leaves out. */
const mayBeOff = new Set(['restart', 'cors', 'sse'])

function checkGroups(options: object, inside: OptionGroups, prefix = ''): void {
  for (const [name, further] of Object.entries(inside)) {
    const members: unknown = Reflect.get(options, name)
    if (members === undefined || (members === false && mayBeOff.has(name))) continue
    const path = `${prefix}${name}`
    if (!isRecord(members)) {
      const else_ = mayBeOff.has(name) ? ' or false' : ''
      throw new TypeError(
        `the option "${path}" is an object of options${else_}, not ${shown(members)}`,
      )
    }
    checkNumbers(members, `${path}.`)
    checkGroups(members, further, `${path}.`)
  }
}

const isLimit = /^max(?!Id$)|(?:Ms|Bytes|Lines)$|^attempts$/
/** Where none at all is a choice; a maximum of nothing is else a mistake. */
const mayBeNone = new Set(['maxQueued', 'maxPendingCalls', 'maxAgeSeconds'])

function checkNumbers(options: object, prefix = ''): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || !isLimit.test(name)) continue
    const least = name.startsWith('max') && !mayBeNone.has(name) ? 1 : 0
    const most = name.endsWith('Ms') ? longestDelayMs : Number.POSITIVE_INFINITY
    if (typeof value === 'number' && value >= least && value <= most) continue
    const range = `from ${least} to ${most}`
    throw new TypeError(`the option "${prefix}${name}" is a number ${range}, not ${shown(value)}`)
  }
}
