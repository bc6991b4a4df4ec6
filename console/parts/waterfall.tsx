import type { CallRow, SpanRow } from '../../src/console/wire.ts'
import { duration, visible } from '../data/format.ts'

/** A rectangle of a waterfall, in percent of its width. */
export interface Bar {
  readonly kind:
    | 'router'
    | 'wait'
    | 'attempt'
    | 'failed'
    | 'question'
    | 'running'
    | 'done'
    | 'cancelled'
  readonly from: number
  readonly width: number
}

/** Returns the rectangles of a call, whose whole width is `scaleMs`. */
export function barsOf(row: CallRow, scaleMs: number, nowMs: number): readonly Bar[] {
  const isRunning = row.ms === undefined
  const total = row.ms ?? Math.max(0, nowMs - row.at)
  const spans = row.spans ?? []
  const part = (kind: Bar['kind'], from: number, to: number): Bar => {
    const start = Math.min(100, (from / scaleMs) * 100)
    return {
      kind,
      from: start,
      width: Math.max(0.8, Math.min(100 - start, ((to - from) / scaleMs) * 100)),
    }
  }
  const hasAttempt = spans.some(({ what }) => what === 'attempt')
  const whole = isRunning
    ? 'running'
    : hasAttempt || row.server === undefined
      ? 'router'
      : 'attempt'
  const failed = row.outcome === 'error' && !hasAttempt
  const share = shareOf(row)
  return [
    part(failed ? 'failed' : row.outcome === 'cancelled' ? 'cancelled' : whole, 0, total),
    // How much of a call in flight is done, by its newest progress.
    ...(isRunning && share !== undefined ? [part('done', 0, total * share)] : []),
    ...spans.map(span => part(kindOf(span), span.from, span.to ?? span.from)),
  ]
}

/** Returns how much of a call is done, from 0 to 1; undefined if the server has not said so. */
export function shareOf({ progress }: CallRow): number | undefined {
  if (progress?.total === undefined || progress.total <= 0) return undefined
  return Math.max(0, Math.min(1, progress.progress / progress.total))
}

function kindOf({ what, failure }: SpanRow): Bar['kind'] {
  return failure === undefined ? what : 'failed'
}

/** The bar of a call in a row of the traffic. */
export function CallBar({ row, scaleMs }: { row: CallRow; scaleMs: number }) {
  return <Bars bars={barsOf(row, scaleMs, Date.now())} />
}

function Bars({ bars }: { bars: readonly Bar[] }) {
  return (
    <svg class="bar" preserveAspectRatio="none" viewBox="0 0 100 14" aria-hidden="true">
      {bars.map(({ kind, from, width }, at) => (
        <rect
          key={at}
          class={kind}
          x={from}
          y={kind === 'router' ? 5 : 2}
          width={kind === 'question' ? 1.2 : width}
          height={kind === 'router' ? 4 : 10}
        />
      ))}
    </svg>
  )
}

/** The parts of one call, one line each. */
export function Waterfall({ row }: { row: CallRow }) {
  const scale = Math.max(row.ms ?? Date.now() - row.at, 0.001)
  const [whole] = barsOf({ ...row, spans: [] }, scale, Date.now())
  return (
    <div class="spans">
      <span>caller</span>
      {whole !== undefined && (
        <Bars bars={[{ ...whole, kind: row.ms === undefined ? 'running' : 'router' }]} />
      )}
      <span class="num">{row.ms === undefined ? 'in flight' : duration(row.ms)}</span>
      {(row.spans ?? []).map((span, at) => (
        <SpanLine key={at} span={span} row={row} scale={scale} />
      ))}
      {row.progress !== undefined && <ProgressLine row={row} scale={scale} />}
      {row.outcome === 'cancelled' && (
        <>
          <span>cancelled by its caller</span>
          <Mark at={row.ms ?? 0} scale={scale} />
          <span class="num">at {duration(row.ms)}</span>
        </>
      )}
    </div>
  )
}

/** The newest progress of a call: when it came, and what it said. */
function ProgressLine({ row, scale }: { row: CallRow; scale: number }) {
  const { progress = 0, total, message, atMs = 0, reports = 0 } = row.progress ?? {}
  const text = total === undefined ? `${progress}` : `${progress} of ${total}`
  return (
    <>
      <span title={`${reports} reports`}>progress {text}</span>
      <Mark at={atMs} scale={scale} />
      <span class="num">at {duration(atMs)}</span>
      {message !== undefined && (
        <>
          <span />
          <span class="muted">{visible(message)}</span>
          <span />
        </>
      )}
    </>
  )
}

/** A moment of a call. */
function Mark({ at, scale }: { at: number; scale: number }) {
  const from = Math.min(98, (at / scale) * 100)
  return <Bars bars={[{ kind: 'question', from, width: 1 }]} />
}

function SpanLine({ span, row, scale }: { span: SpanRow; row: CallRow; scale: number }) {
  const bars = barsOf({ ...row, spans: [span] }, scale, Date.now()).slice(1)
  const ms = span.to === undefined ? undefined : span.to - span.from
  return (
    <>
      <span class={span.failure === undefined ? '' : 'text-error'}>{visible(span.label)}</span>
      <Bars bars={bars} />
      <span class="num">{ms === undefined ? '' : duration(ms)}</span>
      {span.failure !== undefined && (
        <>
          <span />
          <span class="text-error">✗ {visible(span.failure)}</span>
          <span />
        </>
      )}
    </>
  )
}
