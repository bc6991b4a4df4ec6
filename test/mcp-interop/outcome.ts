import { isBefore, type McpDriver, Refused, type Revision, type Side } from './driver.ts'

/** What became of a step: an answer, or a refusal with its code and who refused. */
export type Outcome =
  | { readonly answered: unknown }
  | { readonly refused: { readonly by: Side; readonly code: number | string } }

/** An outcome from a revision on. The first row of a step begins with the oldest revision. */
export interface Row {
  readonly from: Revision
  readonly outcome: Outcome
}

/** One thing to do with a connection, and what must come of it in each revision. */
export interface Step {
  /** A sentence; with it, exceptions name the step. */
  readonly name: string
  /** Does it. The value is compared with the one expected: extra members are allowed, others not. */
  run(driver: McpDriver): Promise<unknown>
  readonly expected: readonly Row[]
  /** The client sends something wrong on purpose, which the schema may well have something against. */
  readonly misuse?: true
}

/** The step gives a value with at least this in it. */
export const answered = (value: unknown): Outcome => ({ answered: value })

/** The step is refused with this code. */
export const refused = (code: number | string, by: Side = 'server'): Outcome => ({
  refused: { by, code },
})

/** The same in every revision. */
export const always = (outcome: Outcome): readonly Row[] => [{ from: '2024-11-05', outcome }]

/** One outcome before a revision and another from it on. */
export const changing = (before: Outcome, from: Revision, after: Outcome): readonly Row[] => [
  { from: '2024-11-05', outcome: before },
  { from, outcome: after },
]

/** What the specification wants of a step in a revision. */
export function ruleFor(step: Step, revision: Revision): Outcome {
  const row = step.expected.findLast(({ from }) => !isBefore(revision, from))
  if (row === undefined) throw new Error(`"${step.name}" says nothing about ${revision}`)
  return row.outcome
}

/** Does a step and says what became of it. Only refusals are outcomes; other errors pass through. */
export async function outcomeOf(step: Step, driver: McpDriver): Promise<Outcome> {
  try {
    return answered(await step.run(driver))
  } catch (error) {
    if (error instanceof Refused) return refused(error.code, error.by)
    throw error
  }
}
