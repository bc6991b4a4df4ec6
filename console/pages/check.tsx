import type { CheckReport, CheckStepRow, ChecksAnswer } from '../../src/console/wire.ts'
import { address } from '../data/address.ts'
import { clock, duration, visible } from '../data/format.ts'
import { usePolled } from '../data/polled.ts'
import { mayChange } from '../data/store.ts'
import { act, Copy, Empty, State, TableBox } from '../parts/basics.tsx'

/** Checks whether servers, and the router itself, follow the protocol. */
export function Check() {
  const { answer, load } = usePolled<ChecksAnswer>('checks')
  const { item } = address.value
  if (answer === undefined) return <h1>Check</h1>
  if (item !== undefined) return <OneTarget name={item} answer={answer} onChange={load} />
  return (
    <>
      <h1>Check</h1>
      <p class="muted">
        The steps of <code>trunkline check</code>: whether a server follows the protocol, and what
        to change. No tool is called. A server that is a program is started once more for the check.
      </p>
      {answer.targets.length === 0 ? (
        <Empty>
          <p>
            {answer.isAvailable
              ? 'There is no server with a program or an address to check.'
              : 'This console cannot run checks. Use the command line: trunkline check ADDRESS'}
          </p>
        </Empty>
      ) : (
        <Targets answer={answer} onChange={load} />
      )}
    </>
  )
}

function Targets({ answer, onChange }: { answer: ChecksAnswer; onChange: () => void }) {
  return (
    <TableBox label="What can be checked">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">server</th>
            <th scope="col">last check</th>
            <th scope="col">result</th>
            <th scope="col">
              <span class="hidden-text">actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {answer.targets.map(name => {
            const report = answer.reports.find(({ target }) => target === name)
            return (
              <tr key={name}>
                <td>
                  <a href={`#/check/${encodeURIComponent(name)}`}>{visible(name)}</a>
                </td>
                <td class="fit">{report === undefined ? 'never' : clock(report.startedAt)}</td>
                <td>{report === undefined ? '–' : <Result report={report} />}</td>
                <td class="fit">
                  <Run name={name} report={report} onChange={onChange} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </TableBox>
  )
}

function OneTarget({
  name,
  answer,
  onChange,
}: {
  name: string
  answer: ChecksAnswer
  onChange: () => void
}) {
  const report = answer.reports.find(({ target }) => target === name)
  const isKnown = answer.targets.includes(name)
  return (
    <>
      <div class="head">
        <h1>Check of {visible(name)}</h1>
        {report !== undefined && <Result report={report} />}
        <span class="spacer" />
        {report !== undefined && report.ms !== undefined && (
          <Copy text={markdown(report)} label="Copy as issue" />
        )}
        {isKnown && <Run name={name} report={report} onChange={onChange} />}
        <a class="button" href="#/check">
          All checks
        </a>
      </div>
      {!isKnown && (
        <Empty>
          <p>
            {answer.isAvailable
              ? 'There is nothing to check of this name: it has neither a program nor an address.'
              : 'This console cannot run checks. Use the command line: trunkline check ADDRESS'}
          </p>
        </Empty>
      )}
      {isKnown && report === undefined && (
        <Empty>
          <p>{visible(name)} has not been checked since the router was started.</p>
        </Empty>
      )}
      {report?.problem !== undefined && (
        <p class="banner error">The check did not complete: {visible(report.problem)}</p>
      )}
      {report?.steps.map(step => (
        <Step key={step.step} step={step} />
      ))}
    </>
  )
}

function Run({
  name,
  report,
  onChange,
}: {
  name: string
  report: CheckReport | undefined
  onChange: () => void
}) {
  if (!mayChange.value) return null
  const isRunning = report !== undefined && report.ms === undefined
  const path = `checks/${encodeURIComponent(name)}/${isRunning ? 'stop' : 'run'}`
  const done = isRunning ? `The check of ${name} is stopped` : `${name} is being checked`
  return (
    <button
      type="button"
      aria-label={`${isRunning ? 'Stop' : 'Check'} ${name}`}
      onClick={() => act(path, done, {}, onChange)}
    >
      {isRunning ? 'Stop' : 'Check'}
    </button>
  )
}

/** The levels of the page for the ratings of a check. */
const levels = { ok: 'ok', warn: 'warn', fail: 'error', 'not applicable': '' } as const

function Result({ report }: { report: CheckReport }) {
  if (report.ms === undefined) {
    return <State level="info">running, {report.steps.length} steps done</State>
  }
  const count = (status: CheckStepRow['status']): number =>
    report.steps.filter(step => step.status === status).length
  const failed = count('fail')
  const level = failed > 0 || report.problem !== undefined ? 'error' : 'ok'
  return (
    <>
      <State level={level}>{level === 'ok' ? 'passed' : 'failed'}</State>{' '}
      <span class="muted">
        {count('ok')} ok, {count('warn')} with warnings, {failed} failed, {count('not applicable')}{' '}
        not applicable, in {duration(report.ms)}
      </span>
    </>
  )
}

function Step({ step: { step, question, status, findings } }: { step: CheckStepRow }) {
  return (
    <section class="section check-step">
      <div class="head">
        <h2>{step}</h2>
        <State level={levels[status]}>{status}</State>
        <span class="muted">{question.replaceAll('`', '')}</span>
      </div>
      <ul>
        {findings.map(({ status: its, message, advice }, at) => (
          <li key={`${at} ${message}`}>
            <State level={levels[its]}>{its}</State>
            <span>
              {visible(message)}
              {advice !== undefined && <span class="muted"> {visible(advice)}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Returns the findings as Markdown, without those that are as they should be. */
function markdown({ target, steps }: CheckReport): string {
  const bad = steps.flatMap(({ step, findings }) =>
    findings
      .filter(({ status }) => status === 'warn' || status === 'fail')
      .map(({ status, message, advice }) => {
        const more = advice === undefined ? '' : `\n  ${advice}`
        return `- **${status}** (${step}): ${message}${more}`
      }),
  )
  const list = bad.length === 0 ? 'Nothing is wrong.' : bad.join('\n')
  return `## Findings of \`trunkline check\` for ${target}\n\n${list}\n`
}
