import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import type { FigurePoint } from '../../src/console/wire.ts'
import { theme } from '../data/theme.ts'

/** A line of a chart. */
export interface Line {
  readonly label: string
  /** The number of its color. */
  readonly color: 1 | 2 | 3 | 4 | 5
  readonly value: (point: FigurePoint) => number | null
  readonly isFilled?: boolean
}

/** A chart over time. All charts share the cursor. */
export function Chart({
  title,
  now,
  lines,
  points,
  format,
}: {
  title: string
  now: string
  lines: readonly Line[]
  points: readonly FigurePoint[]
  format: (value: number) => string
}) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const scheme = theme.value
  const data = dataOf(points, lines)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const made = new uPlot(optionsOf(element, lines, format), data, element)
    plot.current = made
    const resizing = new ResizeObserver(() => made.setSize(sizeOf(element)))
    resizing.observe(element)
    return () => {
      resizing.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [scheme])
  useEffect(() => {
    plot.current?.setData(data)
  })
  return (
    <figure class="chart" aria-label={`${title}: ${now}`}>
      <h3>
        {title} <b>{now}</b>
        <span class="legend" aria-hidden="true">
          {lines.map(({ label, color }) => (
            <span key={label}>
              <i class={`c${color}`} />
              {label}
            </span>
          ))}
        </span>
      </h3>
      <div ref={box} />
    </figure>
  )
}

function dataOf(points: readonly FigurePoint[], lines: readonly Line[]): uPlot.AlignedData {
  const times = points.map(({ at }) => at / 1000)
  return [times, ...lines.map(({ value }) => points.map(value))]
}

function sizeOf(element: HTMLElement): { width: number; height: number } {
  return { width: element.clientWidth || 320, height: 120 }
}

function optionsOf(
  element: HTMLElement,
  lines: readonly Line[],
  format: (value: number) => string,
): uPlot.Options {
  const style = getComputedStyle(element)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  // Computed by the browser, because a canvas does not know light-dark().
  const probe = document.createElement('span')
  element.append(probe)
  const shade = (name: string): string => {
    probe.style.color = `var(${name})`
    return getComputedStyle(probe).color || color(name)
  }
  const colors = ['--attempt', '--failed', '--wait', '--question', '--router'].map(shade)
  const [muted, grid] = [shade('--muted'), shade('--line')]
  probe.remove()
  const axis = { stroke: muted, font: '11px system-ui', ticks: { show: false } }
  return {
    ...sizeOf(element),
    padding: [8, 4, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: 'time' }, points: { size: 5 }, drag: { x: false, y: false } },
    scales: { y: { range: (_, _low, high) => [0, Math.max(high ?? 0, 1) * 1.1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: 80,
        values: (_, times) => times.map(hour),
      },
      {
        ...axis,
        grid: { stroke: grid, width: 1 },
        size: 52,
        space: 36,
        values: (_, values) => values.map(format),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, color: number, isFilled }) => {
        const stroke = colors[number - 1] ?? muted
        const fill = stroke.replace('rgb(', 'rgba(').replace(')', ', 0.14)')
        return {
          label,
          stroke,
          width: 1.5,
          points: { show: false },
          spanGaps: false,
          ...(isFilled && { fill }),
        }
      }),
    ],
  }
}

function hour(seconds: number): string {
  const date = new Date(seconds * 1000)
  const two = (value: number): string => String(value).padStart(2, '0')
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`
  return date.getSeconds() === 0 ? time : `${time}:${two(date.getSeconds())}`
}
