import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Rows of one height, of which only those in view are in the document. */
export function VirtualRows<T>({
  rows,
  height,
  label,
  keyOf,
  children,
}: {
  rows: readonly T[]
  height: number
  label: string
  keyOf: (row: T) => string | number
  children: (row: T, top: string) => ComponentChildren
}) {
  const box = useRef<HTMLDivElement>(null)
  const filler = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight })
    measure()
    const resizing = new ResizeObserver(measure)
    resizing.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    return () => {
      resizing.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [])
  useEffect(() => {
    // By a property, because the policy of the page forbids style attributes.
    if (filler.current !== null) filler.current.style.height = `${rows.length * height}px`
  })
  const first = Math.max(0, Math.floor(view.top / height) - 4)
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / height) + 4)
  return (
    <div class="grid-body" role="rowgroup" aria-label={label} ref={box} tabIndex={0}>
      <div ref={filler} />
      {rows.slice(first, last).map((row, at) => (
        <Fragment key={keyOf(row)}>{children(row, `${(first + at) * height}px`)}</Fragment>
      ))}
    </div>
  )
}
