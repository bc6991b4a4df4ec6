import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { CallRow, RecordingAnswer } from '../../src/console/wire.ts'
import { address, setQuery } from '../data/address.ts'
import { ask } from '../data/api.ts'
import { callFilter } from '../data/filter.ts'
import { bytes, clock, duration, figure, visible } from '../data/format.ts'
import {
  calls,
  callsInFlight,
  clearCalls,
  hello,
  isPaused,
  leftOut,
  mayChange,
  recordingUntil,
  setPaused,
} from '../data/store.ts'
import { act, Copy, Empty, Filter } from '../parts/basics.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { CallBar, shareOf, Waterfall } from '../parts/waterfall.tsx'

/** The calls, live. */
export function Traffic() {
  const { query } = address.value
  const text = query.get('q') ?? ''
  const filter = callFilter(text)
  const isWithOurs = query.has('ours')
  const shown = calls.value.filter(row => (isWithOurs || row.isOurs !== true) && filter(row))
  const rows = shown.toReversed()
  const selected = calls.value.find(({ seq }) => String(seq) === query.get('sel'))
  return (
    <>
      <div class="head">
        <h1>Traffic</h1>
        <Filter
          value={text}
          placeholder="server:files is:failed slower:500ms caller:cursor text"
          onChange={value => setQuery({ q: value, sel: undefined })}
        />
        <button
          type="button"
          aria-pressed={isPaused.value}
          onClick={() => setPaused(!isPaused.value)}
        >
          {isPaused.value ? 'Continue' : 'Pause'}
        </button>
        <button type="button" onClick={clearCalls}>
          Clear
        </button>
        <button type="button" onClick={() => exportRows(shown)}>
          Export
        </button>
        {hello.value?.mayRecord === true && (
          <button
            type="button"
            aria-pressed={recordingUntil.value > 0}
            onClick={() => {
              const isOn = recordingUntil.value === 0
              const done = isOn ? 'Arguments and results are recorded' : 'Recording has ended'
              act('record', done, { isOn })
            }}
          >
            Record
          </button>
        )}
        <button
          type="button"
          aria-pressed={isWithOurs}
          title="Calls of the playground of this console"
          onClick={() => setQuery({ ours: isWithOurs ? undefined : '1' })}
        >
          Playground
        </button>
        <span class="muted" role="status">
          {figure(rows.length)} shown · {figure(leftOut.value)} left out · {callsInFlight.value} in
          flight
        </span>
      </div>
      <div class="split">
        {rows.length === 0 ? <NoCalls /> : <CallTable rows={rows} selected={selected} />}
        {selected !== undefined && <CallPanel row={selected} />}
      </div>
    </>
  )
}

function NoCalls() {
  const isFirst = calls.value.length === 0
  return (
    <div class="list">
      <Empty>
        <p>
          {isFirst
            ? 'Calls appear here as they happen. None has come since this page was opened.'
            : 'No call matches the filter.'}
        </p>
        {isFirst && <a href="#/connect">Connect a host</a>}
      </Empty>
    </div>
  )
}

function CallTable({
  rows,
  selected,
}: {
  rows: readonly CallRow[]
  selected: CallRow | undefined
}) {
  const scale = Math.max(1, ...rows.slice(0, 60).map(row => row.ms ?? Date.now() - row.at))
  return (
    <div class="list" role="table" aria-label="Calls" aria-rowcount={rows.length}>
      <div role="rowgroup">
        <div class="grid-head calls" role="row">
          <span role="columnheader">time</span>
          <span role="columnheader" class="wide">
            caller
          </span>
          <span role="columnheader">call</span>
          <span role="columnheader">server</span>
          <span role="columnheader">outcome</span>
          <span role="columnheader" class="num">
            duration
          </span>
          <span role="columnheader" class="wide">
            0 – {duration(scale)}
          </span>
        </div>
      </div>
      <VirtualRows rows={rows} height={24} label="Calls" keyOf={({ seq }) => seq}>
        {(row, top) => <CallLine row={row} top={top} scale={scale} isSelected={row === selected} />}
      </VirtualRows>
    </div>
  )
}

function CallLine({
  row,
  top,
  scale,
  isSelected,
}: {
  row: CallRow
  top: string
  scale: number
  isSelected: boolean
}) {
  const line = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (line.current !== null) line.current.style.top = top
  }, [top])
  const select = (): void => setQuery({ sel: isSelected ? undefined : String(row.seq) })
  return (
    <div
      ref={line}
      class="grid-row calls"
      role="row"
      tabIndex={0}
      data-row={row.seq}
      aria-selected={isSelected}
      onClick={select}
      onKeyDown={event => {
        if (event.key === 'Enter') select()
      }}
    >
      <span role="cell" class="muted">
        {clock(row.at, true)}
      </span>
      <span role="cell" class="wide">
        {row.client === undefined ? (row.principal ?? '–') : visible(row.client)}{' '}
        <span class="muted">{eraSign(row)}</span>
      </span>
      <span role="cell" class="mono" title={row.name ?? row.method}>
        {visible(row.name ?? row.method)}
      </span>
      <span role="cell">{place(row)}</span>
      <span role="cell">
        <Outcome row={row} />
      </span>
      <span role="cell" class="num">
        {row.ms === undefined ? '…' : duration(row.ms)}
      </span>
      <span role="cell" class="wide">
        <CallBar row={row} scaleMs={scale} />
      </span>
    </div>
  )
}

function place({ server, instance }: CallRow): string {
  if (server === undefined) return 'router'
  return instance === undefined ? server : `${server}/${instance}`
}

function eraSign({ era }: CallRow): string {
  return era === undefined ? '' : era === 'session' ? 'S' : '∅'
}

const outcomes: Readonly<Record<string, readonly [level: string, text: string]>> = {
  ok: ['ok', 'ok'],
  'tool-error': ['warn', 'tool error'],
  'input-required': ['info', 'asks'],
  error: ['error', 'error'],
  cancelled: ['', 'cancelled'],
}

function Outcome({ row }: { row: CallRow }) {
  const share = row.outcome === undefined ? shareOf(row) : undefined
  const running = share === undefined ? 'in flight' : `${Math.round(share * 100)} % done`
  const [level, text] = outcomes[row.outcome ?? ''] ?? ['info', running]
  return (
    <>
      <span class={`state ${level}`}>{text}</span>
      {row.isSlow === true && <span class="chip warn">slow</span>}
      {(row.retries ?? 0) > 0 && <span class="chip info">retried</span>}
    </>
  )
}

function CallPanel({ row }: { row: CallRow }) {
  const facts = [
    ['method', row.method],
    ['name', row.name],
    ['server', row.server],
    ['instance', row.instance],
    ['outcome', row.outcome ?? 'in flight'],
    ['error', row.kind === undefined ? undefined : `${row.kind} (${row.code})`],
    ['reason', row.reason],
    ['retries', row.retries],
    ['progress', row.progress && `${row.progress.reports} reports`],
    ['server requests', row.questions],
    ['client', row.client === undefined ? undefined : `${row.client} ${row.version}`],
    ['principal', row.principal],
    ['revision', row.revision === undefined ? undefined : `${row.revision} (${row.era})`],
    ['started', `${clock(row.at, true)}`],
    ['duration', row.ms === undefined ? undefined : duration(row.ms)],
  ] as const
  return (
    <aside class="panel" aria-label="Call">
      <div class="head">
        <h2 class="one-line">{visible(row.name ?? row.method)}</h2>
        <span class="spacer" />
        {row.method === 'tools/call' && row.name !== undefined && (
          <a class="button" href={`#/playground/${encodeURIComponent(row.name)}`}>
            Try
          </a>
        )}
        <Copy text={location.href} label="Copy link" />
        <button type="button" onClick={() => setQuery({ sel: undefined })}>
          Close
        </button>
      </div>
      <Waterfall row={row} />
      <p class="muted">
        <i class="legend" aria-hidden="true">
          <i class="c5" />
          router <i class="c3" />
          wait <i class="c1" />
          server <i class="c4" />
          server request <i class="c2" />
          failed
        </i>
      </p>
      <dl class="facts section">
        {facts.flatMap(([name, value]) =>
          value === undefined
            ? []
            : [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{visible(String(value))}</dd>],
        )}
      </dl>
      <Contents key={row.seq} row={row} />
    </aside>
  )
}

/** The arguments and the result of a call, if they were recorded. */
function Contents({ row }: { row: CallRow }) {
  const [recording, setRecording] = useState<RecordingAnswer | undefined>(undefined)
  const isEnded = row.ms !== undefined
  useEffect(() => {
    if (!isEnded || recordingUntil.value === 0) return
    ask<RecordingAnswer>(`calls/${row.seq}/recording`).then(setRecording, () => {})
  }, [isEnded])
  if (recording === undefined) {
    return <p class="section muted">Arguments and results are kept only while you record.</p>
  }
  const { params, result, error, redacted, bytes: sizes } = recording
  return (
    <>
      <section class="section">
        <div class="head">
          <h3>Request</h3>
          <span class="muted">
            {redacted > 0 && (redacted === 1 ? '1 value redacted' : `${redacted} values redacted`)}
          </span>
          <span class="spacer" />
          {row.method === 'tools/call' && params !== undefined && mayChange.value && (
            <a class="button" href={replayAddress(row, params)}>
              To playground
            </a>
          )}
        </div>
        {params === undefined ? <TooLarge size={sizes[0]} /> : <JsonTree value={params} />}
      </section>
      <section class="section">
        <h3>Response</h3>
        {error !== undefined && <p class="text-error">{visible(error)}</p>}
        {error === undefined && result === undefined && <TooLarge size={sizes[1]} />}
        {result !== undefined && <JsonTree value={result} />}
      </section>
    </>
  )
}

function TooLarge({ size }: { size: number }) {
  return <p class="muted">{bytes(size)}, which is too large to be recorded.</p>
}

/** Returns the address of the playground with the arguments of a recorded call, which a person then calls again. */
function replayAddress({ name = '' }: CallRow, params: unknown): string {
  // The check: the params of a request are an object.
  const args = JSON.stringify((params as { arguments?: unknown }).arguments ?? {})
  return `#/playground/${encodeURIComponent(name)}?${new URLSearchParams({ args })}`
}

/** Saves rows as a file of JSON. */
function exportRows(rows: readonly CallRow[]): void {
  const file = new Blob([JSON.stringify(rows, null, 2)], { type: 'application/json' })
  const url = URL.createObjectURL(file)
  const anchor = document.createElement('a')
  anchor.href = url
  anchor.download = `trunkline-calls-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.json`
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
