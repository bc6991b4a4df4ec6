/** The result of checking a name: valid, valid with a warning for its author, or invalid. */
export type NameCheck =
  | { readonly status: 'ok' }
  | { readonly status: 'warning'; readonly reason: string }
  | { readonly status: 'invalid'; readonly reason: string }

/** The maximum length of the name of a tool or prompt. */
export const maxNameLength = 128

/**
 * Checks the name of a tool or prompt.
 *
 * Valid are 1 to 128 ASCII letters, digits and `_ - .`, as revision 2025-11-25 recommends, and `/`,
 * because names such as `git/commit` are common. Other visible characters give a warning: the
 * recommendation is not a prohibition, but some clients reject them. Invalid are names that are empty,
 * too long, or contain invisible characters, because two names that look the same must be the same.
 */
export function validateName(name: unknown): NameCheck {
  if (typeof name !== 'string') return invalid('is not a string')
  if (name === '') return invalid('is empty')
  if (name.length > maxNameLength) return invalid(`is longer than ${maxNameLength} characters`)
  if (recommended.test(name)) return { status: 'ok' }
  const hidden = invisible.exec(name)
  if (hidden !== null) return invalid(`contains ${describe(hidden[0])}`)
  const other = notRecommended.exec(name)?.[0] ?? ''
  return {
    status: 'warning',
    reason: `contains "${other}": clients can rely only on letters, digits, "_", "-", "." and "/"`,
  }
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

/** Returns the name that erlmcp uses for a notification; names without one are returned unchanged. */
export function erlmcpNotification(method: string): string {
  return erlmcp.get(method) ?? method
}

const recommended = /^[\w./-]+$/

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
  ...['resources', 'tools', 'prompts', 'roots'].map(
    list =>
      [
        `notifications/${list}/list_changed`,
        `${list}/list_changed`,
        `${list}/listChanged`,
        `notifications/${list}/listChanged`,
      ] as const,
  ),
]

const canonical = new Map(
  spellings.flatMap(([name, ...others]) => others.map(other => [other, name] as const)),
)

const erlmcp = new Map(spellings.map(([name, first]) => [name, first] as const))

function invalid(reason: string): NameCheck {
  return { status: 'invalid', reason }
}

/** Describes a character by its code point, because an invisible one cannot be shown. */
function describe(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `the invisible character U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
