import { type ConnectOptions, connect } from '../../connect.ts'
import { revisionNamed, unknownRevision } from '../../mcp/revisions/revisions.ts'
import { didYouMean } from '../../util/nearest.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import type { FramingName } from '../../wire/frame.ts'
import { parseDuration } from '../arguments.ts'
import { CheckContext } from '../check/context.ts'
import { type Finding, type FindingStatus, fail, ok } from '../check/finding.ts'
import { foldHabits } from '../check/habits.ts'
import { StepPrinter } from '../check/step-printer.ts'
import { runSteps, type Step, type StepReport, steps } from '../check/steps.ts'
import { checkTargetOf } from '../check/target.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { argumentsOf } from '../input/tool-arguments.ts'
import type { Invocation, Run } from '../invocation.ts'
import { withStoredHeaders } from '../target/authorization.ts'
import { lookUpServers } from '../target/config-servers.ts'
import { connectOptionsOf } from '../target/connect.ts'
import { type CommandTarget, resolveTarget } from '../target/target.ts'
import { oneLine, type Terminal } from '../terminal.ts'

/** `trunkline check`: checks step by step whether a server follows the protocol. */
export const run: Run = async invocation => {
  const { input, terminal } = invocation
  const { target: named, operands } = await resolveTarget(invocation.input, lookUpServers)
  const target = await withStoredHeaders(named, input)
  if (operands.length > 0) throw new UsageError(`unexpected argument "${operands[0]}"`)
  if (input.has('args') && !input.has('call')) throw new UsageError('--args requires --call')
  const selected = input.has('call') ? [...steps, await callStep(target, invocation)] : steps
  const ignored = ignoredSteps(input.values('ignore'), selected)
  const context = contextOf(target, invocation)
  const isJson = input.has('json')
  const printer = new StepPrinter(terminal, { isVerbose: input.has('verbose'), ignored })
  let all: readonly StepReport[]
  try {
    all = await runSteps(context, selected, report => {
      if (!isJson) printer.add(report)
    })
  } finally {
    await context.close()
  }
  const { reports, folded } = foldHabits(all)
  const count = countOf(reports.filter(({ step }) => !ignored.has(step)))
  const passed = count.fail === 0
  if (isJson) {
    const more = { officialSdkHabits: folded, ignored: [...ignored] }
    terminal.json({ target: target.name, passed, count, ...more, steps: reports })
  } else printer.end(folded, summary(count, terminal))
  return passed ? exitCodes.ok : exitCodes.checkFailed
}

/** Returns the names of the steps that do not count. Throws a UsageError for an unknown name. */
function ignoredSteps(names: readonly string[], selected: readonly Step[]): ReadonlySet<string> {
  const known = selected.map(({ name }) => name)
  for (const name of names) {
    if (known.includes(name)) continue
    const meant = didYouMean(name, known) || `; the steps are ${known.join(', ')}`
    throw new UsageError(`--ignore: there is no step "${name}"${meant}`)
  }
  return new Set(names)
}

function contextOf(target: CommandTarget, { input, signal }: Invocation): CheckContext {
  const timeout = input.value('timeout')
  const revisions = input.values('revision').map(name => {
    const revision = revisionNamed(name)
    if (revision === undefined) throw new UsageError(`--revision: ${unknownRevision(name).message}`)
    return revision
  })
  return new CheckContext({
    where: checkTargetOf(target),
    headers: target.headers,
    signal,
    // The check: the parser accepts no other values.
    era: input.value('era') as ConnectOptions['era'],
    framing: input.value('framing') as FramingName | undefined,
    timeoutMs: timeout === undefined ? undefined : parseDuration('timeout', timeout),
    revisions: revisions.length === 0 ? undefined : revisions,
  })
}

/** Builds a step that calls a tool as a client does. */
async function callStep(target: CommandTarget, invocation: Invocation): Promise<Step> {
  const { input, stdin, signal } = invocation
  const name = input.value('call') ?? ''
  const args = await argumentsOf({ operands: [], args: input.value('args'), stdin })
  const call = async (): Promise<readonly Finding[]> => {
    const client = await connect(target.where, connectOptionsOf(invocation, target))
    try {
      for await (const _ of client.tools({ signal })) {
        // Reading the list lets the client validate the result against the tool's outputSchema.
      }
      const answer = await client.call(name, args, { signal })
      const text = oneLine(answer.text, 120)
      if (!answer.isError) return [ok(`${name} returns ${text === '' ? 'a result' : `"${text}"`}`)]
      return [
        fail(`${name} fails: ${text}`, 'Check the arguments, and read the log of the server.'),
      ]
    } catch (error) {
      signal.throwIfAborted()
      const reason = errorMessage(error)
      return [
        fail(
          `${name}: ${oneLine(reason, 300)}`,
          'Compare the result with the outputSchema, and the arguments with the inputSchema.',
        ),
      ]
    } finally {
      await client.close()
    }
  }
  return { name: 'call', question: 'Does the tool work?', run: call }
}

type Count = Readonly<Record<'ok' | 'warn' | 'fail' | 'notApplicable', number>>

function countOf(reports: readonly StepReport[]): Count {
  const of = (status: FindingStatus): number =>
    reports.filter(report => report.status === status).length
  return { ok: of('ok'), warn: of('warn'), fail: of('fail'), notApplicable: of('not applicable') }
}

function summary({ ok: good, warn, fail: bad, notApplicable }: Count, terminal: Terminal): string {
  const result =
    bad > 0
      ? terminal.style('Check failed', 'red', 'bold')
      : terminal.style('Check passed', 'green', 'bold')
  return `${result}: ${good} ok, ${warn} with warnings, ${bad} failed, ${notApplicable} not applicable.`
}
