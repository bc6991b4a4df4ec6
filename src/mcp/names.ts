/** What is to be thought of a name: nothing, a remark for its author, or that it must not be used. */
export type NameVerdict =
  | { readonly verdict: 'ok' }
  | { readonly verdict: 'warning'; readonly reason: string }
  | { readonly verdict: 'refusal'; readonly reason: string }

/** The most characters that the name of a tool or prompt may have. */
export const maxNameLength = 128

/**
 * Judges the name of a tool or prompt.
 *
 * Fine are 1 to 128 letters, digits and `_ - .` of ASCII, as revision 2025-11-25 recommends, and `/`,
 * which names such as `git/commit` have always had. Other visible characters get a warning: the
 * recommendation is no prohibition, but not every client takes them. Refused are names that are
 * empty, too long, or hold what cannot be seen: two names that look the same must be the same.
 */
export function judgeName(name: unknown): NameVerdict {
  if (typeof name !== 'string') return refusal('is not a string')
  if (name === '') return refusal('is empty')
  if (name.length > maxNameLength) return refusal(`is longer than ${maxNameLength} characters`)
  if (usual.test(name)) return { verdict: 'ok' }
  const hidden = invisible.exec(name)
  if (hidden !== null) return refusal(`holds ${describe(hidden[0])}`)
  const other = unusual.exec(name)?.[0] ?? ''
  return {
    verdict: 'warning',
    reason: `holds "${other}": clients can rely on letters, digits, "_", "-", "." and "/" only`,
  }
}

/**
 * Why a name must not be used, as a sentence about the `what` that it was meant for; undefined for a
 * name that may be used.
 */
export function checkName(name: unknown, what = 'feature'): string | undefined {
  const judged = judgeName(name)
  return judged.verdict === 'refusal' ? `the name of this ${what} ${judged.reason}` : undefined
}

/**
 * The name of a notification as the specification writes it, for any spelling that peers use:
 * `message`, `logging/message` and `notifications/message` are one. Other names come back unchanged.
 */
export function canonicalNotification(method: string): string {
  return canonical.get(method) ?? method
}

/** The name of a notification as erlmcp writes it, for its canonical one; others come back unchanged. */
export function seedNotification(method: string): string {
  return seed.get(method) ?? method
}

const usual = /^[\w./-]+$/

/**
 * One character that cannot be seen: controls, lone surrogates, direction marks, unassigned characters;
 * those that programs are told not to draw, such as fillers and variation selectors; spaces beside the
 * plain one; the blank of Braille.
 */
export const invisible = /(?! )[\p{C}\p{Default_Ignorable_Code_Point}\p{White_Space}\u2800]/u

const unusual = /[^\w./-]/u

/**
 * Spellings by canonical name. The first is the one that erlmcp sends. It has none of its own for
 * `notifications/initialized`, for which its client waits, and for `notifications/cancelled`.
 */
const spellings: readonly (readonly [canonical: string, seed: string, ...others: string[]])[] = [
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

const seed = new Map(spellings.map(([name, first]) => [name, first] as const))

function refusal(reason: string): NameVerdict {
  return { verdict: 'refusal', reason }
}

/** By its number, because showing it is what must not happen. */
function describe(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `the invisible character U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
