import { expect } from 'vitest'
import { expectedOf } from './capabilities.ts'
import { isBefore, stateless } from './driver.ts'
import { answered, type Outcome, refused, ruleFor, type Step } from './outcome.ts'
import type { RoutedCell } from './routed.ts'

/** Where it shows that there is a router in between. */
interface Exception {
  readonly step: string
  isFor(cell: RoutedCell): boolean
  outcome(step: Step, cell: RoutedCell): Outcome
  /** Why, in words. */
  readonly because: string
}

const exceptions: readonly Exception[] = [
  {
    step: 'wrong arguments are refused, and later told to the model',
    isFor: ({ revision, behind }) => isBefore(revision, behind),
    outcome: (step, { behind }) => ruleFor(step, behind),
    because: 'it is the server that looks at them, by its own revision',
  },
  {
    step: 'an argument is completed by what is known of the others',
    isFor: ({ revision, behind }) => isBefore(revision, behind),
    outcome: (step, { behind }) => ruleFor(step, behind),
    because: 'what a client says beyond its revision is passed on, and the server knows it',
  },
  {
    step: 'calls at the same time ask their own questions',
    isFor: isAnonymous,
    outcome: () => answered(['accept: Ada, 36', 'decline', 'cancel'].map(ownOrRefused)),
    because:
      'on one pipe a session does not say whose call it asks for, and callers here have none: where each call waits for an answer, it never becomes clear whose is whose',
  },
  {
    step: 'a method that does not exist is refused',
    isFor: ({ driver, revision, front }) =>
      driver === 'sdk2' && revision === stateless && front !== 'stdio',
    outcome: () => refused('CLIENT_HTTP_NOT_IMPLEMENTED', 'client'),
    because:
      'the package reads what went wrong out of answers with the status 400, and of no others',
  },
]

const givenUp: ReadonlySet<string> = new Set([
  'a call is given up',
  'a call that is given up stops the tool',
])

/**
 * The steps of a client without sessions before a server with them that is asked over a pipe: calls that
 * are given up come last. The server never answers them, and may still ask for them; to a router each
 * stateless call is that of somebody else, so what is asked after that is put to nobody for a while.
 */
export function givenUpLast(steps: readonly Step[]): readonly Step[] {
  const isLast = ({ name }: Step) => givenUp.has(name)
  return [...steps.filter(step => !isLast(step)), ...steps.filter(isLast)]
}

/** Whether nothing tells whose a question is: neither the pipe nor a session of the caller. */
export function isAnonymous({ revision, behind, back }: RoutedCell): boolean {
  return revision === stateless && behind !== stateless && back === 'stdio'
}

/** What a call may come to that asks beside others: what its own caller has answered, and no other's. */
function ownOrRefused(own: string): unknown {
  return expect.toBeOneOf([own, expect.objectContaining({ isError: true })])
}

/** What must come of a step through a router: the same as of our server, or what is excepted above. */
export function expectedThrough(step: Step, cell: RoutedCell): Outcome {
  const { driver, revision } = cell
  const exception = exceptions.find(one => one.step === step.name && one.isFor(cell))
  if (exception !== undefined) return exception.outcome(step, cell)
  return expectedOf(step, { driver, server: 'ours', revision })
}
