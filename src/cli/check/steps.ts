import { errorMessage } from '../../util/text/error-message.ts'
import { authorization } from './authorization.ts'
import { checkCancellation, checkErrors, checkIds, checkMalformed, checkPing } from './behavior.ts'
import { reach, tls } from './connectivity.ts'
import type { CheckContext } from './context.ts'
import { capabilities, lists } from './features.ts'
import { type Finding, type FindingStatus, fail, notApplicable, worst } from './finding.ts'
import { handshake, revision } from './handshake.ts'
import { httpRules } from './http-rules.ts'
import { shutdown, stderr, stdout } from './process.ts'
import { schemas } from './schemas.ts'

/** One step of a check. */
export interface Step {
  readonly name: string
  /** What the step finds out. */
  readonly question: string
  /** Whether the step also runs after an earlier step has blocked the rest. */
  readonly always?: boolean
  readonly run: (context: CheckContext) => Promise<readonly Finding[]>
}

/** The outcome of a step. */
export interface StepReport {
  readonly step: string
  readonly status: FindingStatus
  /** False if an earlier step has blocked this one. */
  readonly tried: boolean
  readonly findings: readonly Finding[]
}

/** The steps in order; each may use the state that earlier steps have left in the context. */
export const steps: readonly Step[] = [
  { name: 'reach', question: 'Can the server be reached or started?', run: reach },
  { name: 'tls', question: 'Is the certificate valid?', run: tls },
  {
    name: 'authorization',
    question: 'Can a client without a token find out how to get one?',
    run: authorization,
  },
  {
    name: 'http',
    question: 'Does it follow the HTTP rules, and reject requests of other origins?',
    run: httpRules,
  },
  {
    name: 'handshake',
    question: 'Does it answer `initialize` or `server/discover`?',
    run: handshake,
  },
  { name: 'revision', question: 'Does version negotiation work?', run: revision },
  { name: 'capabilities', question: 'Do the declared capabilities work?', run: capabilities },
  { name: 'lists', question: 'Can every list be read to its last page?', run: lists },
  {
    name: 'schemas',
    question: 'Do tools and prompts have valid names, descriptions and schemas?',
    run: schemas,
  },
  {
    name: 'errors',
    question: 'Are invalid requests rejected with the right errors?',
    run: checkErrors,
  },
  { name: 'malformed', question: 'Does it survive malformed input?', run: checkMalformed },
  { name: 'ids', question: 'Do responses carry the ids of their requests?', run: checkIds },
  {
    name: 'cancellation',
    question: 'Are notifications and cancelled requests left unanswered?',
    run: checkCancellation,
  },
  { name: 'ping', question: 'Does it respond to `ping`?', run: checkPing },
  {
    name: 'stdout',
    question: 'Does stdout have only messages?',
    always: true,
    run: stdout,
  },
  { name: 'stderr', question: 'What does it write to stderr?', always: true, run: stderr },
  { name: 'shutdown', question: 'Does the process exit when its stdin is closed?', run: shutdown },
]

/** Runs the steps one after the other, and reports each one when it is done. Rejects only if the check is aborted. */
export async function runSteps(
  context: CheckContext,
  selected: readonly Step[],
  onDone: (report: StepReport) => void,
): Promise<readonly StepReport[]> {
  const reports: StepReport[] = []
  for (const step of selected) {
    context.signal.throwIfAborted()
    const { blocked } = context
    const tried = blocked === undefined || step.always === true
    const findings = tried
      ? await findingsOf(context, step)
      : [notApplicable(`skipped: ${blocked}`)]
    const report = { step: step.name, status: worst(findings), tried, findings }
    reports.push(report)
    onDone(report)
    context.dropClosedEras()
  }
  return reports
}

async function findingsOf(context: CheckContext, { run }: Step): Promise<readonly Finding[]> {
  try {
    return await run(context)
  } catch (error) {
    context.signal.throwIfAborted()
    const reason = errorMessage(error)
    const advice = 'The connection failed during the step. Read the log of the server.'
    return [fail(`the step did not complete: ${reason}`, advice)]
  }
}
