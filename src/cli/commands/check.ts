import { parseAddress } from '../../address.ts'
import { type ConnectOptions, connect } from '../../connect.ts'
import { revisionNamed } from '../../mcp/revisions/revisions.ts'
import { errorWords } from '../../util/error-words.ts'
import type { FramingName } from '../../wire/frame.ts'
import { timeOf } from '../arguments.ts'
import { Probe, type Where } from '../check/context.ts'
import { type Finding, fail, ok, type Verdict } from '../check/finding.ts'
import { type Step, type StepReport, steps, takeSteps } from '../check/steps.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { argumentsOf } from '../input/tool-arguments.ts'
import type { Invocation, Run } from '../invocation.ts'
import { lookUpServers } from '../target/config-servers.ts'
import { optionsOf } from '../target/connect.ts'
import { resolveTarget, type Target } from '../target/target.ts'
import { oneLine, type Style, type Terminal } from '../terminal.ts'

/** Finds out whether a server is right, step by step. */
export const run: Run = async invocation => {
  const { input, terminal } = invocation
  const { target, operands } = await resolveTarget(invocation.input, lookUpServers)
  if (operands.length > 0) throw new UsageError(`"${operands[0]}" means nothing here`)
  if (input.has('args') && !input.has('call')) throw new UsageError('--args belongs to --call')
  const wanted = input.has('call') ? [...steps, await callStep(target, invocation)] : steps
  const probe = probeOf(target, invocation)
  const isJson = input.has('json')
  let reports: readonly StepReport[]
  try {
    let hasSkipped = false
    reports = await takeSteps(probe, wanted, report => {
      // Why the rest is not tried needs to be said but once.
      if (isJson || (!report.tried && hasSkipped)) return
      hasSkipped ||= !report.tried
      show(report, terminal, input.has('verbose'))
    })
  } finally {
    await probe.close()
  }
  const count = countOf(reports)
  if (isJson)
    terminal.json({ target: target.name, passed: count.fail === 0, count, steps: reports })
  else terminal.line(`\n${summary(count, terminal)}`)
  return count.fail > 0 ? exitCodes.checkFailed : exitCodes.ok
}

function probeOf(target: Target, { input, signal }: Invocation): Probe {
  const timeout = input.value('timeout')
  const revisions = input.values('revision').map(name => {
    const revision = revisionNamed(name)
    if (revision === undefined) throw new UsageError(`there is no revision "${name}"`)
    return revision
  })
  return new Probe({
    where: whereOf(target),
    headers: target.headers,
    signal,
    // The check: the parser lets no other value through.
    era: input.value('era') as ConnectOptions['era'],
    framing: input.value('framing') as FramingName | undefined,
    timeoutMs: timeout === undefined ? undefined : timeOf('timeout', timeout),
    revisions: revisions.length === 0 ? undefined : revisions,
  })
}

function whereOf({ where }: Target): Where {
  if (typeof where !== 'string') return { kind: 'child', command: where }
  return parseAddress(where)
}

/** Calls the tool that was named, as any client would. */
async function callStep(target: Target, invocation: Invocation): Promise<Step> {
  const { input, stdin, signal } = invocation
  const name = input.value('call') ?? ''
  const args = await argumentsOf({ operands: [], args: input.value('args'), stdin })
  const call = async (): Promise<readonly Finding[]> => {
    const client = await connect(target.where, optionsOf(invocation, target))
    try {
      for await (const _ of client.tools({ signal })) {
        // Listed so that the answer is checked against what the tool promises.
      }
      const answer = await client.call(name, args, { signal })
      const words = oneLine(answer.text, 120)
      if (!answer.isError) return [ok(`${name} gives ${words === '' ? 'an answer' : `"${words}"`}`)]
      return [fail(`${name} fails: ${words}`, 'Look at the arguments, or at what the tool does.')]
    } catch (error) {
      signal.throwIfAborted()
      const why = errorWords(error)
      return [
        fail(
          `${name}: ${oneLine(why, 300)}`,
          'Compare the answer with the outputSchema, and the arguments with the inputSchema.',
        ),
      ]
    } finally {
      await client.close()
    }
  }
  return { name: 'call', question: 'Does the tool work?', run: call }
}

const marks: Readonly<Record<Verdict, readonly [word: string, style: Style]>> = {
  ok: ['ok', 'green'],
  warn: ['warn', 'yellow'],
  fail: ['fail', 'red'],
  'not applicable': ['n/a', 'dim'],
}

function show(
  { step, verdict, tried, findings }: StepReport,
  terminal: Terminal,
  isVerbose: boolean,
): void {
  const [word, style] = marks[verdict]
  const mark = terminal.paint(word.padEnd(4), style, 'bold')
  // What is well needs one line; the rest is what somebody came for.
  const isShown = (one: Verdict): boolean =>
    one === verdict || (verdict === 'fail' && one === 'warn')
  const shown = isVerbose ? findings : findings.filter(finding => isShown(finding.verdict))
  const [first, ...rest] = shown
  const name = tried ? step : 'and others'
  terminal.line(`${mark}  ${name.padEnd(13)} ${first?.saw ?? ''}`)
  const indent = ' '.repeat(20)
  if (first?.advice !== undefined)
    terminal.line(`${indent}${terminal.paint(`→ ${first.advice}`, 'cyan')}`)
  for (const { saw, advice, verdict: one } of rest) {
    terminal.line(`${indent}${isVerbose || one !== verdict ? `${marks[one][0]}: ` : ''}${saw}`)
    if (advice !== undefined) terminal.line(`${indent}${terminal.paint(`→ ${advice}`, 'cyan')}`)
  }
}

type Count = Readonly<Record<'ok' | 'warn' | 'fail' | 'notApplicable', number>>

function countOf(reports: readonly StepReport[]): Count {
  const of = (verdict: Verdict): number =>
    reports.filter(report => report.verdict === verdict).length
  return { ok: of('ok'), warn: of('warn'), fail: of('fail'), notApplicable: of('not applicable') }
}

function summary({ ok: good, warn, fail: bad, notApplicable }: Count, terminal: Terminal): string {
  const words =
    bad > 0
      ? terminal.paint('The server is not right', 'red', 'bold')
      : terminal.paint('The server is right', 'green', 'bold')
  return `${words}: ${good} ok, ${warn} with warnings, ${bad} failed, ${notApplicable} not applicable.`
}
