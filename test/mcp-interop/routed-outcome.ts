import { expect } from 'vitest'
import { expectedOf } from './capabilities.ts'
import { isBefore, stateless } from './driver.ts'
import { answered, type Outcome, refused, ruleFor, type Step } from './outcome.ts'
import type { RoutedCell } from './routed.ts'

/** A deviation that a router in between causes. */
interface Exception {
  readonly step: string
  isFor(cell: RoutedCell): boolean
  outcome(step: Step, cell: RoutedCell): Outcome
  /** The reason. */
  readonly because: string
}

const exceptions: readonly Exception[] = [
  {
    step: 'wrong arguments are refused, in later revisions as a tool error',
    isFor: ({ revision, behind }) => isBefore(revision, behind),
    outcome: (step, { behind }) => ruleFor(step, behind),
    because: 'the server validates them, by its own revision',
  },
  {
    step: 'an argument is completed in the context of the others',
    isFor: ({ revision, behind }) => isBefore(revision, behind),
    outcome: (step, { behind }) => ruleFor(step, behind),
    because: 'members beyond the revision of the client are forwarded, and the server knows them',
  },
  {
    step: 'concurrent calls elicit separately',
    isFor: isAnonymous,
    outcome: () => answered(['accept: Ada, 36', 'decline', 'cancel'].map(ownOrRefused)),
    because:
      'on one pipe a session does not name the call of a server request, and callers here have no session: while each call waits for a response, no request can be attributed',
  },
  {
    step: 'a method that does not exist is refused',
    isFor: ({ driver, revision, front }) =>
      driver === 'sdk2' && revision === stateless && front !== 'stdio',
    outcome: () => refused('CLIENT_HTTP_NOT_IMPLEMENTED', 'client'),
    because: 'the package parses the error only in responses with the status 400',
  },
]

const cancelling: ReadonlySet<string> = new Set([
  'a call is cancelled',
  'a cancelled call stops the tool',
])

/**
 * The steps of a stateless client before a session server over a pipe, with cancelled calls last. The
 * server never answers these, and may still send requests for them. To a router each stateless call has
 * its own caller, so for a while afterwards server requests are ambiguous and sent to no caller.
 */
export function cancellingLast(steps: readonly Step[]): readonly Step[] {
  const isLast = ({ name }: Step) => cancelling.has(name)
  return [...steps.filter(step => !isLast(step)), ...steps.filter(isLast)]
}

/** Whether neither the pipe nor a session of the caller attributes a server request. */
export function isAnonymous({ revision, behind, back }: RoutedCell): boolean {
  return revision === stateless && behind !== stateless && back === 'stdio'
}

/** The outcomes of a call that elicits beside others: the response of its own caller, or a refusal. */
function ownOrRefused(own: string): unknown {
  return expect.toBeOneOf([own, expect.objectContaining({ isError: true })])
}

/** The expected outcome of a step through a router: that of our server, or an exception from above. */
export function expectedThrough(step: Step, cell: RoutedCell): Outcome {
  const { driver, revision } = cell
  const exception = exceptions.find(one => one.step === step.name && one.isFor(cell))
  if (exception !== undefined) return exception.outcome(step, cell)
  return expectedOf(step, { driver, server: 'ours', revision })
}
