import { parseAddress } from '../../address.ts'
import { type ConnectOptions, connect } from '../../connect.ts'
import { revisionNamed } from '../../mcp/revisions/revisions.ts'
import { errorMessage } from '../../util/error-message.ts'
import type { FramingName } from '../../wire/frame.ts'
import { parseDuration } from '../arguments.ts'
import { CheckContext, type CheckTarget } from '../check/context.ts'
import { type Finding, type FindingStatus, fail, ok } from '../check/finding.ts'
import { runSteps, type Step, type StepReport, steps } from '../check/steps.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { argumentsOf } from '../input/tool-arguments.ts'
import type { Invocation, Run } from '../invocation.ts'
import { lookUpServers } from '../target/config-servers.ts'
import { connectOptionsOf } from '../target/connect.ts'
import { resolveTarget, type Target } from '../target/target.ts'
import { oneLine, type Style, type Terminal } from '../terminal.ts'

/** `trunkline check`: checks step by step whether a server follows the protocol. */
export const run: Run = async invocation => {
  const { input, terminal } = invocation
  const { target, operands } = await resolveTarget(invocation.input, lookUpServers)
  if (operands.length > 0) throw new UsageError(`unexpected argument "${operands[0]}"`)
  if (input.has('args') && !input.has('call')) throw new UsageError('--args requires --call')
  const selected = input.has('call') ? [...steps, await callStep(target, invocation)] : steps
  const context = contextOf(target, invocation)
  const isJson = input.has('json')
  let reports: readonly StepReport[]
  try {
    let hasSkipped = false
    reports = await runSteps(context, selected, report => {
      // One line for all skipped steps: the reason is the same.
      if (isJson || (!report.tried && hasSkipped)) return
      hasSkipped ||= !report.tried
      show(report, terminal, input.has('verbose'))
    })
  } finally {
    await context.close()
  }
  const count = countOf(reports)
  if (isJson)
    terminal.json({ target: target.name, passed: count.fail === 0, count, steps: reports })
  else terminal.line(`\n${summary(count, terminal)}`)
  return count.fail > 0 ? exitCodes.checkFailed : exitCodes.ok
}

function contextOf(target: Target, { input, signal }: Invocation): CheckContext {
  const timeout = input.value('timeout')
  const revisions = input.values('revision').map(name => {
    const revision = revisionNamed(name)
    if (revision === undefined) throw new UsageError(`unknown revision "${name}"`)
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

function checkTargetOf({ where }: Target): CheckTarget {
  if (typeof where !== 'string') return { kind: 'child', command: where }
  return parseAddress(where)
}

/** Builds a step that calls a tool as a client does. */
async function callStep(target: Target, invocation: Invocation): Promise<Step> {
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

const marks: Readonly<Record<FindingStatus, readonly [word: string, style: Style]>> = {
  ok: ['ok', 'green'],
  warn: ['warn', 'yellow'],
  fail: ['fail', 'red'],
  'not applicable': ['n/a', 'dim'],
}

function show(
  { step, status, tried, findings }: StepReport,
  terminal: Terminal,
  isVerbose: boolean,
): void {
  const [word, style] = marks[status]
  const mark = terminal.style(word.padEnd(4), style, 'bold')
  // A passing step needs one line; otherwise show the findings that need attention.
  const isShown = (one: FindingStatus): boolean =>
    one === status || (status === 'fail' && one === 'warn')
  const shown = isVerbose ? findings : findings.filter(finding => isShown(finding.status))
  const [first, ...rest] = shown
  const name = tried ? step : '(others)'
  terminal.line(`${mark}  ${name.padEnd(13)} ${first?.message ?? ''}`)
  const indent = ' '.repeat(20)
  if (first?.advice !== undefined)
    terminal.line(`${indent}${terminal.style(`→ ${first.advice}`, 'cyan')}`)
  for (const { message, advice, status: one } of rest) {
    terminal.line(`${indent}${isVerbose || one !== status ? `${marks[one][0]}: ` : ''}${message}`)
    if (advice !== undefined) terminal.line(`${indent}${terminal.style(`→ ${advice}`, 'cyan')}`)
  }
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
