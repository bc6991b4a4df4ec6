import type { DriverOptions, McpDriver, Revision } from './driver.ts'
import { type Outcome, outcomeOf, type Step } from './outcome.ts'
import { Conversation } from './schema-check.ts'

/** The messages on a connection while it runs its steps. */
export interface Traffic {
  /** The outcome of each step, by its name. */
  readonly outcomes: ReadonlyMap<string, Outcome>
  /** The problems that the schema of the revision finds in the messages, each once. */
  readonly problems: readonly string[]
  readonly messages: number
}

/**
 * Runs the steps one after the other on a connection of its own, and checks every message. What a
 * client sends wrong on purpose is no problem; the response of the server to it may be one.
 */
export async function recordTraffic(
  revision: Revision,
  steps: readonly Step[],
  connect: (onMessage: DriverOptions['onMessage']) => Promise<McpDriver>,
  options?: { readonly strict?: boolean },
): Promise<Traffic> {
  const conversation = new Conversation(revision, options)
  const outcomes = new Map<string, Outcome>()
  const problems = new Set<string>()
  let messages = 0
  let isMisuse = false
  const driver = await connect((from, message) => {
    messages++
    const found = conversation.sent(from, message)
    if (from === 'client' && isMisuse) return
    for (const problem of found) problems.add(problem)
  })
  try {
    for (const step of steps) {
      isMisuse = step.misuse === true
      outcomes.set(step.name, await outcomeOf(step, driver))
    }
  } finally {
    await driver.close()
  }
  return { outcomes, problems: [...problems], messages }
}
