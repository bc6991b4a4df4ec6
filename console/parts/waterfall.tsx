import type { CallRow, SpanRow } from '../../src/console/wire.ts'
import { duration, visible } from '../data/format.ts'

/** A rectangle of a waterfall, in percent of its width. */
export interface Bar {
  readonly kind: 'router' | 'wait' | 'attempt' | 'failed' | 'question' | 'running'
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
  return [
    part(failed ? 'failed' : whole, 0, total),
    ...spans.map(span => part(kindOf(span), span.from, span.to ?? span.from)),
  ]
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
    </div>
  )
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
