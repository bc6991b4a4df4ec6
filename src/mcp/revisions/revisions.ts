import type { Revision } from './revision.ts'
import { sessionRevisions } from './session.ts'
import { statelessRevisions } from './stateless.ts'

export type { Features, Revision } from './revision.ts'

/** Every revision, oldest first. */
export const revisions: readonly Revision[] = [...sessionRevisions, ...statelessRevisions]

const byName = new Map(revisions.map(revision => [revision.name, revision]))

/** Returns the revision with this date; undefined for any other string. */
export function revisionNamed(name: string): Revision | undefined {
  return byName.get(name)
}

/** The revision of an HTTP client that sends no version header: the newest one without that header. */
export const withoutHeader: Revision | undefined = revisions.find(({ batches }) => batches)

/** The revisions of an era among some, in the same order; all of them for `'auto'`. */
export function revisionsOf(
  era: Revision['era'] | 'auto',
  among: readonly Revision[] = revisions,
): Revision[] {
  return among.filter(revision => era === 'auto' || revision.era === era)
}

/** The newest revision of an era among some, which are listed oldest first. */
export function newest(
  era: Revision['era'],
  among: readonly Revision[] = revisions,
): Revision | undefined {
  return among.findLast(revision => revision.era === era)
}

/** The revision with this date, if it belongs to the era and is among some; undefined otherwise. */
export function revisionOf(
  era: Revision['era'],
  name: string,
  among: readonly Revision[] = revisions,
): Revision | undefined {
  return among.find(revision => revision.name === name && revision.era === era)
}

/**
 * Returns the revision that a server selects in response to `initialize`: the requested one, if it has
 * sessions and is supported, else the newest supported one with sessions. Undefined if none has
 * sessions.
 */
export function negotiate(
  requested: string,
  supported: readonly Revision[] = revisions,
): Revision | undefined {
  return revisionOf('session', requested, supported) ?? newest('session', supported)
}
