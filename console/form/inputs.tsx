import { useState } from 'preact/hooks'
import { visible } from '../data/format.ts'
import type { Option, Schema } from './schema.ts'

interface InputProps {
  readonly id: string
  readonly value: unknown
  readonly schema: Schema
  readonly isRequired: boolean
  readonly hasIssue: boolean
  readonly onChange: (value: unknown) => void
}

/** A text. An empty one that is not required is left out. */
export function TextField({ id, value, schema, isRequired, hasIssue, onChange }: InputProps) {
  const text = typeof value === 'string' ? value : ''
  const change = (next: string): void => {
    onChange(next === '' && !isRequired ? undefined : next)
  }
  const shared = {
    id,
    value: text,
    placeholder: defaultText(schema),
    'aria-invalid': hasIssue,
    'aria-describedby': typeof schema.description === 'string' ? `${id}-help` : undefined,
  }
  const isLong = Number(schema.maxLength ?? 0) > 200 || text.includes('\n') || text.length > 80
  if (isLong) {
    return <textarea {...shared} rows={4} onInput={event => change(event.currentTarget.value)} />
  }
  const type = schema.format === 'date' ? ({ type: 'date' } as const) : ({ type: 'text' } as const)
  return <input {...shared} {...type} onInput={event => change(event.currentTarget.value)} />
}

/** A number. What is not a number yet stays as it was typed. */
export function NumberField({
  id,
  value,
  schema,
  hasIssue,
  isInteger,
  onChange,
}: InputProps & { isInteger: boolean }) {
  const [draft, setDraft] = useState<string | undefined>(undefined)
  const shown = draft ?? (typeof value === 'number' ? String(value) : '')
  return (
    <input
      id={id}
      type="text"
      inputMode={isInteger ? 'numeric' : 'decimal'}
      value={shown}
      placeholder={defaultText(schema)}
      aria-invalid={hasIssue || draft !== undefined}
      aria-describedby={typeof schema.description === 'string' ? `${id}-help` : undefined}
      onInput={event => {
        const text = event.currentTarget.value.trim()
        const number = Number(text)
        const isNumber = text !== '' && Number.isFinite(number)
        setDraft(isNumber || text === '' ? undefined : text)
        if (text === '') onChange(undefined)
        else if (isNumber) onChange(number)
      }}
    />
  )
}

/** True or false, where one of them must be sent. */
export function CheckField({ id, value, schema, hasIssue, onChange }: InputProps) {
  return (
    <input
      id={id}
      type="checkbox"
      checked={value === true}
      aria-invalid={hasIssue}
      aria-describedby={typeof schema.description === 'string' ? `${id}-help` : undefined}
      onChange={event => onChange(event.currentTarget.checked)}
    />
  )
}

/** One of several values. */
export function ChoiceField({
  id,
  value,
  schema,
  hasIssue,
  options,
  onChange,
}: InputProps & { options: readonly Option[] }) {
  const chosen = options.findIndex(option => isSame(option.value, value))
  return (
    <select
      id={id}
      value={chosen}
      aria-invalid={hasIssue}
      aria-describedby={typeof schema.description === 'string' ? `${id}-help` : undefined}
      onChange={event => onChange(options[Number(event.currentTarget.value)]?.value)}
    >
      <option value={-1}>{defaultText(schema) || '–'}</option>
      {options.map(({ label }, at) => (
        <option key={label} value={at}>
          {visible(label)}
        </option>
      ))}
    </select>
  )
}

/** Any of several values. */
export function ChoicesField({
  id,
  value,
  options,
  onChange,
}: InputProps & { options: readonly Option[] }) {
  const chosen: readonly unknown[] = Array.isArray(value) ? value : []
  return (
    <div class="choices">
      {options.map(({ value: each, label }, at) => {
        const isChosen = chosen.some(one => isSame(one, each))
        return (
          <label key={label} for={`${id}-${at}`}>
            <input
              id={`${id}-${at}`}
              type="checkbox"
              checked={isChosen}
              onChange={() => {
                const others = chosen.filter(one => !isSame(one, each))
                onChange(isChosen ? others : [...others, each])
              }}
            />{' '}
            {visible(label)}
          </label>
        )
      })}
    </div>
  )
}

/** Any value, as JSON. `start` is what an empty field can be filled with. */
export function JsonField({
  id,
  value,
  hasIssue,
  start,
  onChange,
}: InputProps & { start: unknown }) {
  const [draft, setDraft] = useState<string | undefined>(undefined)
  const shown = draft ?? (value === undefined ? '' : JSON.stringify(value, null, 2))
  return (
    <>
      <textarea
        id={id}
        rows={Math.min(12, Math.max(3, shown.split('\n').length))}
        value={shown}
        placeholder="JSON"
        aria-invalid={hasIssue || draft !== undefined}
        onInput={event => {
          const text = event.currentTarget.value
          const parsed = parseJson(text)
          setDraft(text.trim() === '' || parsed === undefined ? text : undefined)
          if (text.trim() === '') onChange(undefined)
          else if (parsed !== undefined) onChange(parsed.value)
        }}
      />
      {shown === '' && start !== null && (
        <button type="button" class="quiet" onClick={() => onChange(start)}>
          Fill in the structure
        </button>
      )}
    </>
  )
}

/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function defaultText({ default: value }: Schema): string {
  if (value === undefined) return ''
  return `default: ${typeof value === 'string' ? value : JSON.stringify(value)}`
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
