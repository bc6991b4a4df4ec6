import { mcpMethods } from './methods.ts'

/** The result of checking a name: valid, valid with a warning for its author, or invalid. */
export type NameCheck =
  | { readonly status: 'ok' }
  | { readonly status: 'warning'; readonly reason: string }
  | { readonly status: 'invalid'; readonly reason: string }

/** The longest name of a tool or prompt that gets no warning. */
export const maxNameLength = 128

/**
 * Checks the name of a tool or prompt.
 *
 * Valid are 1 to 128 ASCII letters, digits and `_ - .`, as revision 2025-11-25 recommends, and `/`,
 * because names such as `git/commit` are common. Other visible characters and longer names give a
 * warning: the recommendation is not a prohibition, but some clients reject them. Invalid are names that
 * are empty or contain invisible characters, because two names that look the same must be the same.
 */
export function validateName(name: unknown): NameCheck {
  if (typeof name !== 'string') return invalid('is not a string')
  if (name === '') return invalid('is empty')
  const hidden = invisible.exec(name)
  if (hidden !== null) return invalid(`contains ${describe(hidden[0])}`)
  if (name.length > maxNameLength) return warning(`is longer than ${maxNameLength} characters`)
  const other = notRecommended.exec(name)?.[0]
  if (other === undefined) return { status: 'ok' }
  return warning(
    `contains "${other}": clients can rely only on letters, digits, "_", "-", "." and "/"`,
  )
}

/** What to do about a tool whose name is not recommended. */
export const nameAdvice = 'Use 1 to 128 letters, digits, "_", "-" and ".".'

/** Says what is wrong with the name of a tool. `shown` is the name as it may be printed. */
export function nameProblem(shown: string, reason: string): string {
  return `the name of the tool "${shown}" ${reason}`
}

/** Returns the warning for the author of a tool with a valid name that is not recommended. */
export function nameWarning(name: string): string | undefined {
  const checked = validateName(name)
  if (checked.status !== 'warning') return undefined
  const shown = name.length > 100 ? `${name.slice(0, 99)}…` : name
  return `${nameProblem(shown, checked.reason)}. ${nameAdvice}`
}

/** Returns why a name is invalid, as a sentence about the `what` it names; undefined for a valid name. */
export function checkName(name: unknown, what = 'feature'): string | undefined {
  const checked = validateName(name)
  return checked.status === 'invalid' ? `the name of this ${what} ${checked.reason}` : undefined
}

/**
 * Returns the specified name of a notification for any spelling that peers use: `message`,
 * `logging/message` and `notifications/message` are one. Other names are returned unchanged.
 */
export function canonicalNotification(method: string): string {
  return canonical.get(method) ?? method
}

/** Returns the specified name of a request for one that erlmcp uses; others are returned unchanged. */
export function canonicalRequest(method: string): string {
  return requestAliases.get(method) ?? method
}

const requestAliases = new Map([
  ['tool/execute', 'tools/call'],
  ['resources/get', 'resources/read'],
])

/** Returns the name that erlmcp uses for a notification; names without one are returned unchanged. */
export function erlmcpNotification(method: string): string {
  return erlmcp.get(method) ?? method
}

/**
 * Matches one invisible character: controls, lone surrogates, direction marks and unassigned
 * characters; default-ignorable ones, such as fillers and variation selectors; spaces other than
 * U+0020; the blank Braille pattern.
 */
export const invisible = /(?! )[\p{C}\p{Default_Ignorable_Code_Point}\p{White_Space}\u2800]/u

const notRecommended = /[^\w./-]/u

/**
 * The spellings of each notification: the specified name, the one that erlmcp sends, and others. erlmcp
 * has no name of its own for `notifications/initialized`, which its client waits for, and for
 * `notifications/cancelled`.
 */
const spellings: readonly (readonly [canonical: string, erlmcp: string, ...others: string[]])[] = [
  ['notifications/initialized', 'notifications/initialized', 'initialized'],
  ['notifications/cancelled', 'notifications/cancelled', 'cancelled'],
  ['notifications/message', 'message', 'logging/message'],
  ['notifications/progress', 'progress', 'tool/progress'],
  ['notifications/resources/updated', 'resources/updated'],
  ...Object.keys(mcpMethods).flatMap(method => {
    const [, list] = /^notifications\/(\w+)\/list_changed$/.exec(method) ?? []
    if (list === undefined) return []
    const others = [`${list}/listChanged`, `notifications/${list}/listChanged`]
    return [[method, `${list}/list_changed`, ...others] as const]
  }),
]

const canonical = new Map(
  spellings.flatMap(([name, ...others]) => others.map(other => [other, name] as const)),
)

const erlmcp = new Map(spellings.map(([name, first]) => [name, first] as const))

function warning(reason: string): NameCheck {
  return { status: 'warning', reason }
}

function invalid(reason: string): NameCheck {
  return { status: 'invalid', reason }
}

/** Describes a character by its code point, because an invisible one cannot be shown. */
function describe(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `the invisible character U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
