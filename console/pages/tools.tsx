import { useEffect, useState } from 'preact/hooks'
import type { PinRow, ToolDetails, ToolRow, ToolsAnswer } from '../../src/console/wire.ts'
import { address, setQuery } from '../data/address.ts'
import { ask } from '../data/api.ts'
import { bytes, duration, figure, percent, visible } from '../data/format.ts'
import { changes, mayChange, servers, pins as storedPins } from '../data/store.ts'
import { act, Copy, Empty, Filter, State } from '../parts/basics.tsx'
import { JsonTree } from '../parts/json-tree.tsx'

/** Everything that servers offer, shown to callers or not, with the reason. */
export function Tools() {
  const [answer, setAnswer] = useState<ToolsAnswer | undefined>(undefined)
  const [version, setVersion] = useState(0)
  const [problem, setProblem] = useState('')
  const { query, item } = address.value
  const seen = `${changes.value.length} ${servers.value.map(({ name, tools, hidden }) => `${name} ${tools} ${hidden}`).join()}`
  useEffect(() => {
    ask<ToolsAnswer>('tools').then(
      found => {
        setAnswer(found)
        storedPins.value = found.pins
      },
      (error: Error) => setProblem(error.message),
    )
  }, [seen, version])
  const text = query.get('q') ?? ''
  const rows = (answer?.rows ?? []).filter(toolFilter(text, query.has('changed')))
  const all = answer?.rows ?? []
  const shown = all.filter(row => row.shown !== undefined)
  const size = shown.reduce((sum, row) => sum + (row.bytes ?? 0), 0)
  return (
    <>
      <div class="head">
        <h1>Tools</h1>
        <Filter
          value={text}
          placeholder="server:files hidden text"
          onChange={value => setQuery({ q: value })}
        />
        <button
          type="button"
          aria-pressed={query.has('changed')}
          onClick={() => setQuery({ changed: query.has('changed') ? undefined : '1' })}
        >
          Changed
        </button>
        <span class="muted" role="status">
          {shown.length} shown · {all.length - shown.length} hidden · {answer?.pins.length ?? 0}{' '}
          changed · about {figure(Math.round(size / 4))} tokens of definitions
        </span>
      </div>
      {problem !== '' && <p class="banner error">{problem}</p>}
      {(answer?.pins ?? []).length > 0 && query.has('changed') && (
        <Pins rows={answer?.pins ?? []} onApproved={() => setVersion(version + 1)} />
      )}
      <div class="split">
        <section class="list table-box" tabIndex={0} aria-label="Tools">
          {answer !== undefined && rows.length === 0 ? (
            <Empty>
              <p>
                {all.length === 0
                  ? 'No server offers anything yet.'
                  : 'Nothing matches the filter.'}
              </p>
            </Empty>
          ) : (
            <ToolTable rows={rows} selected={item} />
          )}
        </section>
        {item !== undefined && <ToolPanel key={item} name={item} />}
      </div>
    </>
  )
}

/** Reads a filter: `server:NAME`, `hidden`, `shown`, `tool`, `prompt`, `resource`, or a part of a name. */
function toolFilter(text: string, isChangedOnly: boolean): (row: ToolRow) => boolean {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean)
  return row =>
    (!isChangedOnly || row.isChanged === true) &&
    terms.every(term => {
      if (term.startsWith('server:')) return row.server.toLowerCase() === term.slice(7)
      if (term === 'hidden') return row.shown === undefined
      if (term === 'shown') return row.shown !== undefined
      if (term === row.what) return true
      return [row.own, row.shown, row.why, row.title].some(each =>
        each?.toLowerCase().includes(term),
      )
    })
}

function ToolTable({ rows, selected }: { rows: readonly ToolRow[]; selected: string | undefined }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">callers see</th>
          <th scope="col">own name</th>
          <th scope="col">server</th>
          <th scope="col">state</th>
          <th scope="col" class="num">
            calls
          </th>
          <th scope="col" class="num">
            failed
          </th>
          <th scope="col" class="num">
            p99
          </th>
          <th scope="col" class="num">
            size
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr
            key={`${row.what} ${row.server} ${row.own} ${row.shown}`}
            aria-selected={row.shown !== undefined && row.shown === selected}
          >
            <td class="mono">
              {row.shown === undefined ? (
                <span class="muted">—</span>
              ) : (
                <a href={`#/tools/${encodeURIComponent(row.shown)}`}>{visible(row.shown)}</a>
              )}
            </td>
            <td class="mono">{visible(row.own)}</td>
            <td>
              <a href={`#/servers/${encodeURIComponent(row.server)}`}>{row.server}</a>
            </td>
            <td>
              <ToolState row={row} />
            </td>
            <td class="num">{row.calls === undefined ? '–' : figure(row.calls)}</td>
            <td class="num">
              {row.calls === undefined || row.calls === 0
                ? '–'
                : percent((row.failed ?? 0) / row.calls)}
            </td>
            <td class="num">{duration(row.p99)}</td>
            <td class="num">{row.bytes === undefined ? '–' : bytes(row.bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function ToolState({ row }: { row: ToolRow }) {
  if (row.isChanged === true) {
    return (
      <>
        <State level="warn">changed{row.shown === undefined ? ', blocked' : ''}</State>{' '}
        <a href="#/tools?changed=1">Difference</a>
      </>
    )
  }
  if (row.shown === undefined) {
    return (
      <span>
        <span class="chip">hidden</span>{' '}
        {row.what !== 'tool' && <span class="chip">{row.what}</span>} {visible(row.why ?? '')}
      </span>
    )
  }
  return <span class="muted">{row.why ?? 'under its own name'}</span>
}

function Pins({ rows, onApproved }: { rows: readonly PinRow[]; onApproved: () => void }) {
  return (
    <div class="cards">
      {rows.map(pin => (
        <section key={`${pin.server} ${pin.tool}`} class="card">
          <div class="head">
            <h2 class="mono">
              {pin.server}/{visible(pin.tool)}
            </h2>
            <State level="warn">{pin.isBlocked ? 'blocked' : 'changed'}</State>
            <span class="spacer" />
            {mayChange.value && (
              <button
                type="button"
                class="primary"
                onClick={() =>
                  act(
                    'pins/approve',
                    `${pin.tool} is approved`,
                    { server: pin.server, tool: pin.tool, digest: pin.digest },
                    onApproved,
                  )
                }
              >
                Approve
              </button>
            )}
          </div>
          {pin.invisible > 0 && (
            <p class="text-error">Its texts contain {pin.invisible} invisible characters.</p>
          )}
          <pre class="code wrap diff">{visible(pin.differences.join('\n'))}</pre>
          <p class="muted">
            Approve only if you expected this change: models follow what a description says.
          </p>
        </section>
      ))}
    </div>
  )
}

function ToolPanel({ name }: { name: string }) {
  const [answer, setAnswer] = useState<ToolDetails | undefined>(undefined)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    ask<ToolDetails>(`tools/${encodeURIComponent(name)}`).then(setAnswer, (error: Error) =>
      setProblem(error.message),
    )
  }, [name])
  return (
    <aside class="panel" aria-label="Tool">
      <div class="head">
        <h2 class="mono one-line">{visible(name)}</h2>
        <span class="spacer" />
        {mayChange.value && (
          <a class="button" href={`#/playground/${encodeURIComponent(name)}`}>
            Try
          </a>
        )}
        <a class="button" href="#/tools">
          Close
        </a>
      </div>
      {problem !== '' && <p class="banner error">{problem}</p>}
      {answer !== undefined && <Details answer={answer} />}
    </aside>
  )
}

function Details({ answer: { row, definition } }: { answer: ToolDetails }) {
  return (
    <>
      <p class="muted">
        {row.server}/{visible(row.own)}
        {row.why !== undefined && ` · ${row.why}`}
      </p>
      <p class="section">{visible(row.description ?? 'It has no description.')}</p>
      <section class="section">
        <h3>Annotations</h3>
        {row.annotations === undefined ? (
          <p class="muted">None.</p>
        ) : (
          <>
            <JsonTree value={row.annotations} />
            <p class="muted">
              {row.isTrusted === true
                ? 'Trusted: the router relies on them for retries.'
                : 'Not trusted: the router does not rely on them.'}
            </p>
          </>
        )}
      </section>
      <section class="section">
        <div class="head">
          <h3>Definition</h3>
          <span class="spacer" />
          <Copy text={JSON.stringify(definition, null, 2)} />
        </div>
        <JsonTree value={definition} />
      </section>
    </>
  )
}
