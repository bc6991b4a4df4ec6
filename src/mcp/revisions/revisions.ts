import type { Revision } from './revision.ts'
import { sessionRevisions } from './session.ts'
import { statelessRevisions } from './stateless.ts'

export type { Features, Revision } from './revision.ts'

/** Every revision there is, oldest first. */
export const revisions: readonly Revision[] = [...sessionRevisions, ...statelessRevisions]

const byName = new Map(revisions.map(revision => [revision.name, revision]))

/** The revision with this date; undefined for any other text. */
export function revisionNamed(name: string): Revision | undefined {
  return byName.get(name)
}

/** What is spoken over HTTP by who names no revision: the one that had no header for it. */
export const withoutHeader: Revision | undefined = revisions.find(({ batches }) => batches)

/** The newest of some revisions that belongs to an era. */
export function newest(
  era: Revision['era'],
  among: readonly Revision[] = revisions,
): Revision | undefined {
  return among.findLast(revision => revision.era === era)
}

/**
 * What `initialize` is answered with: the revision that was asked for, if it is one with sessions and
 * among the supported ones, else the newest of those. Undefined when none has sessions.
 */
export function negotiate(
  requested: string,
  supported: readonly Revision[] = revisions,
): Revision | undefined {
  const same = supported.find(({ name, era }) => name === requested && era === 'session')
  return same ?? newest('session', supported)
}
