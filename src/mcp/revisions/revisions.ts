import type { Revision, RevisionName } from './revision.ts'
import { sessionRevisions } from './session.ts'
import { statelessRevisions } from './stateless.ts'

export type { Features, Revision, RevisionName } from './revision.ts'

/** Every revision, oldest first. */
export const revisions: readonly Revision[] = [...sessionRevisions, ...statelessRevisions]

const byName = new Map<string, Revision>(revisions.map(revision => [revision.name, revision]))

/** Returns the revision with this date; undefined for any other string. */
export function revisionNamed(name: string): Revision | undefined {
  return byName.get(name)
}

/** Returns whether a string is the date of a revision. */
export function isRevisionName(name: string): name is RevisionName {
  return byName.has(name)
}

/** Creates the error for a name that is not a revision. It lists the known revisions. */
export function unknownRevision(name: string): TypeError {
  return new TypeError(`unknown revision "${name}"; the revisions are ${allNames()}`)
}

/** Creates the error for an empty list of revisions. It lists the known revisions. */
export function noRevision(): TypeError {
  return new TypeError(`option "revisions" is empty; the revisions are ${allNames()}`)
}

function allNames(): string {
  return revisions.map(revision => revision.name).join(', ')
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
