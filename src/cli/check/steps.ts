import { errorWords } from '../../util/error-words.ts'
import { cancellation, errors, ids, malformed, ping } from './behavior.ts'
import { reach, tls } from './connectivity.ts'
import type { Probe } from './context.ts'
import { capabilities, lists } from './features.ts'
import { type Finding, fail, none, type Verdict, worst } from './finding.ts'
import { handshake, revision } from './handshake.ts'
import { door } from './http-rules.ts'
import { shutdown, stderr, stdout } from './process.ts'
import { schemas } from './schemas.ts'

/** One step of a check. */
export interface Step {
  readonly name: string
  /** What it finds out. */
  readonly question: string
  /** Whether it makes sense where earlier steps found that nothing works. */
  readonly always?: boolean
  readonly run: (probe: Probe) => Promise<readonly Finding[]>
}

/** What became of a step. */
export interface StepReport {
  readonly step: string
  readonly verdict: Verdict
  /** Whether it was taken at all; earlier steps may have found that there is no use. */
  readonly tried: boolean
  readonly findings: readonly Finding[]
}

/** The steps in their order; each may rely on what those before it have learnt. */
export const steps: readonly Step[] = [
  { name: 'reach', question: 'Is there anything at all?', run: reach },
  { name: 'tls', question: 'Is the certificate good?', run: tls },
  {
    name: 'http',
    question: 'Does it behave as a server of HTTP, and keep strangers out?',
    run: door,
  },
  {
    name: 'handshake',
    question: 'Does it answer `initialize` or `server/discover`?',
    run: handshake,
  },
  { name: 'revision', question: 'Are versions negotiated?', run: revision },
  { name: 'capabilities', question: 'Does what is declared work?', run: capabilities },
  { name: 'lists', question: 'Can every list be read to its end?', run: lists },
  { name: 'schemas', question: 'Are tools and prompts well described?', run: schemas },
  { name: 'errors', question: 'Are mistakes answered as mistakes?', run: errors },
  { name: 'malformed', question: 'Does it survive what is no message?', run: malformed },
  { name: 'ids', question: 'Do replies carry the ids of their requests?', run: ids },
  {
    name: 'cancellation',
    question: 'Are notifications heeded and not answered?',
    run: cancellation,
  },
  { name: 'ping', question: 'Does it give signs of life?', run: ping },
  {
    name: 'stdout',
    question: 'Is there nothing but messages on stdout?',
    always: true,
    run: stdout,
  },
  { name: 'stderr', question: 'What does it say besides?', always: true, run: stderr },
  { name: 'shutdown', question: 'Does the program leave when its input ends?', run: shutdown },
]

/** Takes the steps one after the other, and tells of each as it is done. */
export async function takeSteps(
  probe: Probe,
  wanted: readonly Step[],
  onDone: (report: StepReport) => void,
): Promise<readonly StepReport[]> {
  const reports: StepReport[] = []
  for (const step of wanted) {
    probe.signal.throwIfAborted()
    const { blocked } = probe
    const tried = blocked === undefined || step.always === true
    const findings = tried ? await findingsOf(probe, step) : [none(`not tried: ${blocked}`)]
    const report = { step: step.name, verdict: worst(findings), tried, findings }
    reports.push(report)
    onDone(report)
    probe.forgetLost()
  }
  return reports
}

async function findingsOf(probe: Probe, { run }: Step): Promise<readonly Finding[]> {
  try {
    return await run(probe)
  } catch (error) {
    probe.signal.throwIfAborted()
    const why = errorWords(error)
    const advice = 'The connection failed in the middle. Look at the log of the server.'
    return [fail(`the step could not be finished: ${why}`, advice)]
  }
}
