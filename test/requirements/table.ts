/** The revisions of the protocol, oldest first. */
export const every = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

export type Revision = (typeof every)[number]

/** Those that open a session. */
export const sessions = every.slice(0, 4)
/** Those that do not. */
export const stateless = every.slice(4)
export const sinceMarch2025 = every.slice(1)
export const sinceJune2025 = every.slice(2)
export const sinceNovember2025 = every.slice(3)
export const untilMarch2025 = every.slice(0, 2)
export const juneAndNovember2025 = every.slice(2, 4)
export const march2025 = every.slice(1, 2)
export const june2025 = every.slice(2, 3)
export const november2025 = every.slice(3, 4)

/** One thing that the specification asks for, such that one test can show it. */
export interface Requirement<Id extends string = string> {
  /** A letter for the topic and a number; those that belong closely together differ in a last letter. */
  readonly id: Id
  readonly level: 'MUST' | 'SHOULD'
  /** The revisions that ask for it. */
  readonly revisions: readonly Revision[]
  /** The page of the specification, as the newest of these revisions names it, and the heading. */
  readonly section: string
  /** What it asks for, in our own words. */
  readonly says: string
  /** Who has to do it. */
  readonly side: 'server' | 'client' | 'both'
  /** Why no test of this package can show it, if so. */
  readonly beyond?: string
}

/** A reason why no test can show it: what people see and what data mean is not known here. */
export const application = 'only the program that is built on it can do so'
/** A reason why no test can show it. */
export const design = 'it speaks of revisions to come'

/** The requirements of one section, which are in the same revisions. */
export function under<const Id extends string>(
  section: string,
  revisions: readonly Revision[],
  rows: readonly Omit<Requirement<Id>, 'section' | 'revisions'>[],
): readonly Requirement<Id>[] {
  return rows.map(row => ({ ...row, section, revisions }))
}
