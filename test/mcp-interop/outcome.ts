import { isBefore, type McpDriver, Refused, type Revision, type Side } from './driver.ts'

/** The outcome of a step: a value, or a refusal with its code and the side that refused. */
export type Outcome =
  | { readonly answered: unknown }
  | { readonly refused: { readonly by: Side; readonly code: number | string } }

/** The outcome from a revision on. The first row of a step starts with the oldest revision. */
export interface Row {
  readonly from: Revision
  readonly outcome: Outcome
}

/** One action on a connection, and its expected outcome in each revision. */
export interface Step {
  /** A sentence; exceptions refer to the step by it. */
  readonly name: string
  /** Runs the step. The returned value may have more members than the expected one, but no other values. */
  run(driver: McpDriver): Promise<unknown>
  readonly expected: readonly Row[]
  /** The client sends something wrong on purpose, which may violate the schema. */
  readonly misuse?: true
}

/** The step returns a value that contains at least this. */
export const answered = (value: unknown): Outcome => ({ answered: value })

/** The step is refused with this code. */
export const refused = (code: number | string, by: Side = 'server'): Outcome => ({
  refused: { by, code },
})

/** One outcome for every revision. */
export const always = (outcome: Outcome): readonly Row[] => [{ from: '2024-11-05', outcome }]

/** One outcome before a revision and another from it on. */
export const changing = (before: Outcome, from: Revision, after: Outcome): readonly Row[] => [
  { from: '2024-11-05', outcome: before },
  { from, outcome: after },
]

/** The outcome that the specification requires of a step in a revision. */
export function ruleFor(step: Step, revision: Revision): Outcome {
  const row = step.expected.findLast(({ from }) => !isBefore(revision, from))
  if (row === undefined) throw new Error(`"${step.name}" says nothing about ${revision}`)
  return row.outcome
}

/** Runs a step and returns its outcome. Only refusals are outcomes; other errors are thrown. */
export async function outcomeOf(step: Step, driver: McpDriver): Promise<Outcome> {
  try {
    return answered(await step.run(driver))
  } catch (error) {
    if (error instanceof Refused) return refused(error.code, error.by)
    throw error
  }
}
