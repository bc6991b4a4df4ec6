import { useEffect, useRef } from 'preact/hooks'
import type { LogRow } from '../../src/console/wire.ts'
import { address, setQuery } from '../data/address.ts'
import { clock, figure, visible } from '../data/format.ts'
import { isPaused, logLeft, logLines, setPaused } from '../data/store.ts'
import { Empty, Filter } from '../parts/basics.tsx'

const levels: readonly string[] = ['debug', 'info', 'warn', 'error']
/** Lines in the document. */
const most = 400

let frozen: readonly LogRow[] = []

/** The log and the error output of servers in one stream. */
export function Logs() {
  const { query } = address.value
  const text = (query.get('q') ?? '').toLowerCase()
  const level = query.get('level') ?? 'debug'
  if (!isPaused.value) frozen = logLines.value
  const lines = folded(frozen.filter(line => isShown(line, text, level)))
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isPaused.value) end.current?.scrollTo({ top: end.current.scrollHeight })
  })
  return (
    <>
      <div class="head">
        <h1>Logs</h1>
        <Filter
          value={query.get('q') ?? ''}
          placeholder="text, or the name of a server"
          onChange={q => setQuery({ q })}
        />
        <label>
          <span class="hidden-text">Level</span>
          <select value={level} onChange={event => setQuery({ level: event.currentTarget.value })}>
            {levels.map(each => (
              <option key={each} value={each}>
                {each === 'debug' ? 'all levels' : `${each} and above`}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          aria-pressed={isPaused.value}
          onClick={() => setPaused(!isPaused.value)}
        >
          {isPaused.value ? 'Continue' : 'Pause'}
        </button>
        <span class="muted" role="status">
          {figure(lines.length)} lines
          {logLeft.value > 0 && ` · ${figure(logLeft.value)} left out`}
        </span>
      </div>
      {lines.length === 0 ? (
        <Empty>
          <p>
            {frozen.length === 0
              ? 'Lines of the log, and what servers write to stderr, appear here.'
              : 'No line matches the filter.'}
          </p>
        </Empty>
      ) : (
        <div class="split">
          <div
            class="list logs table-box"
            ref={end}
            tabIndex={0}
            role="log"
            aria-label="Lines"
            aria-live="off"
          >
            {lines.slice(-most).map(({ line, count }) => (
              <div key={line.seq} class="grid-row lines">
                <span class="muted">
                  {line.at === undefined ? 'earlier' : clock(line.at, true)}
                </span>
                <span class={line.level}>{line.level}</span>
                <span>
                  {line.server === undefined ? (
                    <span class="muted">router</span>
                  ) : (
                    <a href={`#/servers/${encodeURIComponent(line.server)}`}>
                      {line.server}
                      {line.instance !== undefined && `/${line.instance}`}
                    </a>
                  )}
                </span>
                <span class="mono message">
                  {visible(line.text)}
                  {count > 1 && <span class="chip"> {count}×</span>}
                </span>
              </div>
            ))}
          </div>
        </div>
      )}
    </>
  )
}

function isShown({ level, text, server }: LogRow, wanted: string, least: string): boolean {
  const rank = level === 'stderr' ? 1 : levels.indexOf(level)
  if (rank < levels.indexOf(least)) return false
  return wanted === '' || text.toLowerCase().includes(wanted) || server?.toLowerCase() === wanted
}

/** Joins lines that repeat the one before. */
function folded(lines: readonly LogRow[]): { line: LogRow; count: number }[] {
  const found: { line: LogRow; count: number }[] = []
  for (const line of lines) {
    const last = found.at(-1)
    const isSame =
      last?.line.text === line.text &&
      last.line.server === line.server &&
      last.line.level === line.level
    if (isSame) found[found.length - 1] = { line, count: last.count + 1 }
    else found.push({ line, count: 1 })
  }
  return found
}
