import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { FigurePoint } from '../../src/console/wire.ts'
import { ask } from '../data/api.ts'
import { bytes, clock, duration, figure, percent, visible } from '../data/format.ts'
import { attention, changes, failures, figures, newest, servers, slowest } from '../data/store.ts'
import { Empty, Retry, State, TableBox } from '../parts/basics.tsx'
import { Chart, type Line } from '../parts/chart.tsx'

const range = signal<'5m' | '15m' | '24h'>('5m')
/** The points of a longer range, which are read once. */
const earlier = signal<readonly FigurePoint[]>([])

/** What is wrong, and how the router does. */
export function Overview() {
  return (
    <>
      <h1 class="hidden-text">Overview</h1>
      <AttentionList />
      <Charts />
      <div class="columns">
        <div>
          <ServerTable />
          <FailedCalls />
        </div>
        <div>
          <Slowest />
          <Changes />
        </div>
      </div>
    </>
  )
}

const signs = { error: '✗', warn: '!', info: '…' }

function AttentionList() {
  const all = attention.value
  if (all.length === 0) {
    return (
      <p class="well">
        <State level="ok">
          {servers.value.length === 0 ? 'No servers yet' : 'Nothing needs attention'}
        </State>
      </p>
    )
  }
  return (
    <ul class="attention" aria-label="Needs attention">
      {all.map(({ id, level, subject, text, links, retry }) => (
        <li key={id} class={level}>
          <span class="sign" aria-hidden="true">
            {signs[level]}
          </span>
          <span class="why">
            <b>{visible(subject)}</b> {visible(text)}
          </span>
          <span class="actions">
            {links.map(({ label, to }) => (
              <a key={label} class="button" href={to} aria-label={`${label} of ${subject}`}>
                {label}
              </a>
            ))}
            {retry !== undefined && <Retry server={retry} />}
          </span>
        </li>
      ))}
    </ul>
  )
}

const rates: readonly Line[] = [
  { label: 'ok', color: 1, value: ({ ok }) => ok, isFilled: true },
  { label: 'tool error', color: 3, value: ({ toolErrors }) => toolErrors },
  { label: 'failed', color: 2, value: ({ failed }) => failed },
]
const latencies: readonly Line[] = [
  { label: 'p50', color: 1, value: ({ p50 }) => p50 },
  { label: 'p90', color: 3, value: ({ p90 }) => p90 },
  { label: 'p99', color: 4, value: ({ p99 }) => p99 },
]
const loads: readonly Line[] = [
  { label: 'in flight', color: 1, value: ({ inFlight }) => inFlight, isFilled: true },
  { label: 'queued', color: 3, value: ({ queued }) => queued },
]

function Charts() {
  const chosen = range.value
  useEffect(() => {
    if (chosen === '5m') return
    ask<{ points: readonly FigurePoint[] }>(`figures?range=${chosen}`).then(
      ({ points }) => {
        earlier.value = points
      },
      () => {},
    )
  }, [chosen])
  const last = earlier.value.at(-1)?.at ?? 0
  const live = figures.value
  const points =
    chosen === '5m'
      ? live.slice(-300)
      : chosen === '15m'
        ? [...earlier.value, ...live.filter(({ at }) => at > last)].slice(-900)
        : earlier.value
  const now = newest.value
  const rate = now === undefined ? 0 : now.ok + now.failed + now.toolErrors
  return (
    <section class="section" aria-label="Figures">
      <div class="head">
        <h2>Last {{ '5m': '5 minutes', '15m': '15 minutes', '24h': '24 hours' }[chosen]}</h2>
        <span class="muted">
          {now === undefined
            ? ''
            : `memory ${bytes(now.memory)}, event loop ${percent(now.busy)} busy`}
        </span>
        <span class="spacer" />
        {(['5m', '15m', '24h'] as const).map(each => (
          <button
            key={each}
            type="button"
            aria-pressed={each === chosen}
            onClick={() => {
              range.value = each
            }}
          >
            {each}
          </button>
        ))}
      </div>
      <div class="charts">
        <Chart
          title="Calls"
          now={`${figure(rate)}/s`}
          lines={rates}
          points={points}
          format={figure}
        />
        <Chart
          title="Duration"
          now={duration(now?.p99)}
          lines={latencies}
          points={points}
          format={duration}
        />
        <Chart
          title="In flight"
          now={figure(now?.inFlight ?? 0)}
          lines={loads}
          points={points}
          format={figure}
        />
      </div>
    </section>
  )
}

function ServerTable() {
  const figuresNow = newest.value?.servers ?? {}
  return (
    <section class="section">
      <h2>Servers</h2>
      {servers.value.length === 0 ? (
        <Empty>
          <p>
            No server is configured. Add one to the configuration file; it appears here at once.
          </p>
        </Empty>
      ) : (
        <TableBox label="Table of servers">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">server</th>
                <th scope="col">state</th>
                <th scope="col" class="num">
                  calls/s
                </th>
                <th scope="col" class="num">
                  p99
                </th>
                <th scope="col" class="num">
                  failed
                </th>
                <th scope="col" class="num">
                  restarts
                </th>
                <th scope="col" class="num">
                  tools
                </th>
              </tr>
            </thead>
            <tbody>
              {servers.value.map(server => {
                const { calls = 0, failed = 0, p99 } = figuresNow[server.name] ?? {}
                const ready = server.instances.filter(
                  ({ state }) => state === 'ready' || state === 'idle',
                )
                return (
                  <tr key={server.name}>
                    <td>
                      <a href={`#/servers/${encodeURIComponent(server.name)}`}>{server.name}</a>
                    </td>
                    <td>
                      <State level={server.level}>
                        {server.isQuarantined
                          ? 'quarantined'
                          : `${ready.length}/${server.instances.length} ready`}
                      </State>
                    </td>
                    <td class="num">{figure(calls)}</td>
                    <td class="num">{duration(p99)}</td>
                    <td class={`num ${failed > 0 ? 'text-error' : ''}`}>
                      {calls === 0 ? '–' : percent(failed / calls)}
                    </td>
                    <td class="num">{server.restarts}</td>
                    <td class="num">
                      {server.tools - server.hidden}
                      {server.hidden > 0 && <span class="muted"> ({server.hidden} hidden)</span>}
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </TableBox>
      )}
    </section>
  )
}

function FailedCalls() {
  const rows = failures.value.slice(-6).reverse()
  if (rows.length === 0) return null
  return (
    <section class="section">
      <h2>Failed calls</h2>
      <TableBox label="Table of failed calls">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">time</th>
              <th scope="col">call</th>
              <th scope="col">server</th>
              <th scope="col">error</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(row => (
              <tr key={row.seq}>
                <td class="fit muted">{clock(row.at)}</td>
                <td>{visible(row.name ?? row.method)}</td>
                <td>{row.server ?? '–'}</td>
                <td class="text-error">
                  {row.kind}
                  {row.reason !== undefined && `: ${visible(row.reason)}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}

function Slowest() {
  if (slowest.value.length === 0) return null
  return (
    <section class="section">
      <h2>Slowest tools</h2>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">tool</th>
            <th scope="col" class="num">
              p99
            </th>
            <th scope="col" class="num">
              calls
            </th>
          </tr>
        </thead>
        <tbody>
          {slowest.value.slice(0, 6).map(({ server, name, p99, calls }) => (
            <tr key={`${server} ${name}`}>
              <td>
                <a href={`#/tools/${encodeURIComponent(name)}`}>{visible(name)}</a>
              </td>
              <td class="num">{duration(p99)}</td>
              <td class="num">{figure(calls)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Changes() {
  const rows = changes.value.slice(-10).reverse()
  return (
    <section class="section">
      <h2>Changes</h2>
      {rows.length === 0 ? (
        <p class="muted">Servers that start, fail and recover appear here.</p>
      ) : (
        <ChangeList rows={rows} />
      )}
    </section>
  )
}

/** A list of changes with their times. */
export function ChangeList({ rows }: { rows: (typeof changes)['value'] }) {
  return (
    <ul class="times">
      {rows.map(({ seq, at, level, server, text }) => (
        <li key={seq}>
          <time>{clock(at)}</time>
          <span class={`dot ${level}`}>
            <span class="hidden-text">{level}</span>
          </span>
          <span class="what">
            {server !== undefined && (
              <a href={`#/servers/${encodeURIComponent(server)}`}>{server}</a>
            )}{' '}
            {visible(text)}
          </span>
        </li>
      ))}
    </ul>
  )
}
