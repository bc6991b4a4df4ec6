/** The revisions of the protocol, oldest first. */
export const every = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

export type Revision = (typeof every)[number]

/** The revisions with sessions. */
export const sessions = every.slice(0, 4)
/** The revisions without sessions. */
export const stateless = every.slice(4)
export const sinceMarch2025 = every.slice(1)
export const sinceJune2025 = every.slice(2)
export const sinceNovember2025 = every.slice(3)
export const untilMarch2025 = every.slice(0, 2)
export const juneAndNovember2025 = every.slice(2, 4)
export const march2025 = every.slice(1, 2)
export const june2025 = every.slice(2, 3)
export const november2025 = every.slice(3, 4)

/** One requirement of the specification, small enough for one test. */
export interface Requirement<Id extends string = string> {
  /** A letter for the topic and a number; closely related requirements differ in a letter suffix. */
  readonly id: Id
  readonly level: 'MUST' | 'SHOULD'
  /** The revisions that require it. */
  readonly revisions: readonly Revision[]
  /** The page of the specification, as the newest of these revisions names it, and the heading. */
  readonly section: string
  /** The requirement, paraphrased. */
  readonly says: string
  /** The side that it applies to. */
  readonly side: 'server' | 'client' | 'both'
  /** Why no test of this package can show it, if so. */
  readonly beyond?: string
}

/**
 * A reason why no test can show it: the user interface and the meaning of data are up to the
 * application.
 */
export const application = 'only the application can do so'
/** A reason why no test can show it. */
export const design = 'it applies to future revisions'

/** Creates the requirements of one section, which apply to the same revisions. */
export function under<const Id extends string>(
  section: string,
  revisions: readonly Revision[],
  rows: readonly Omit<Requirement<Id>, 'section' | 'revisions'>[],
): readonly Requirement<Id>[] {
  return rows.map(row => ({ ...row, section, revisions }))
}
