import { useEffect, useRef, useState } from 'preact/hooks'

/** A button for what cannot be undone: the first press asks, and the second one within some seconds does it. */
export function Confirm({
  label,
  question,
  name,
  onConfirm,
}: {
  label: string
  /** What the button says after the first press, such as `Really end?`. */
  question: string
  /** What the button is for, for those who cannot see where it stands. */
  name: string
  onConfirm: () => void
}) {
  const [isAsking, setAsking] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const press = (): void => {
    clearTimeout(timer.current)
    setAsking(!isAsking)
    if (isAsking) onConfirm()
    else timer.current = setTimeout(() => setAsking(false), 4000)
  }
  const text = isAsking ? question : label
  return (
    <button
      type="button"
      class={isAsking ? 'danger' : ''}
      aria-label={`${text} ${name}`}
      onClick={press}
    >
      {text}
    </button>
  )
}
