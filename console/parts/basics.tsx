import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../data/api.ts'
import { mayChange, notice } from '../data/store.ts'

/** A state as a colored sign with its word. */
export function State({ level, children }: { level: string; children: ComponentChildren }) {
  return <span class={`state ${level}`}>{children}</span>
}

/** A button that copies a text. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {isCopied ? 'Copied' : label}
    </button>
  )
}

/** What an empty page says: what will appear, and how. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>
}

/** A part of a page that scrolls sideways if a table is too wide. It can be reached by keyboard. */
export function TableBox({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <section class="table-box" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}

/** A button that retries a server. */
export function Retry({ server }: { server: string }) {
  if (!mayChange.value) return null
  const retry = (): void =>
    act(`servers/${encodeURIComponent(server)}/retry`, `${server} is tried again`)
  return (
    <button type="button" onClick={retry} aria-label={`Retry ${server}`}>
      Retry
    </button>
  )
}

/** Sends a request that changes something, and says what happened. */
export function act(path: string, done: string, body: unknown = {}, after?: () => void): void {
  ask(path, body).then(
    () => {
      say(done)
      after?.()
    },
    (error: unknown) => say(error instanceof Error ? error.message : String(error)),
  )
}

let hiding: ReturnType<typeof setTimeout> | undefined

/** Shows a short message for a while. */
export function say(text: string): void {
  notice.value = text
  clearTimeout(hiding)
  hiding = setTimeout(() => {
    notice.value = ''
  }, 5000)
}

/** The search field of a page, which `/` moves to. */
export function Filter({
  value,
  placeholder,
  onChange,
}: {
  value: string
  placeholder: string
  onChange: (text: string) => void
}) {
  return (
    <input
      type="search"
      id="filter"
      aria-label="Filter"
      placeholder={placeholder}
      value={value}
      onInput={event => onChange(event.currentTarget.value)}
    />
  )
}
