import { useEffect, useState } from 'preact/hooks'
import { ask } from '../data/api.ts'
import { visible } from '../data/format.ts'
import { pageToken } from '../data/play.ts'

/** A text that the server completes while it is typed. */
export function Completed({
  of,
  name,
  description,
  isRequired,
  value,
  context,
  onChange,
}: {
  of: { readonly prompt: string } | { readonly template: string }
  name: string
  description: string | undefined
  isRequired: boolean
  value: string
  /** The other arguments that are known. */
  context: Readonly<Record<string, string>>
  onChange: (value: string) => void
}) {
  const [found, setFound] = useState<readonly string[]>([])
  const [isUsed, setUsed] = useState(false)
  useEffect(() => {
    if (!isUsed) return
    const { [name]: _, ...others } = context
    const timer = setTimeout(() => {
      const body = { ...of, argument: name, value, context: others }
      // A server without completion refuses; there is nothing to show then.
      ask<{ values: readonly string[] }>(`play/${pageToken}/complete`, body).then(
        answer => setFound(answer.values),
        () => setFound([]),
      )
    }, 150)
    return () => clearTimeout(timer)
  }, [value, isUsed])
  const id = `argument-${name}`
  return (
    <div class="field">
      <label for={id}>
        {visible(name)}
        {isRequired && (
          <span class="needed" title="required">
            {' *'}
          </span>
        )}
      </label>
      <div>
        <input
          id={id}
          type="text"
          autocomplete="off"
          list={`${id}-found`}
          required={isRequired}
          value={value}
          onFocus={() => setUsed(true)}
          onInput={event => onChange(event.currentTarget.value)}
        />
        <datalist id={`${id}-found`}>
          {found.map(each => (
            <option key={each} value={each} />
          ))}
        </datalist>
        {found.length > 0 && (
          <p class="help-text" role="status">
            {found.slice(0, 8).map(visible).join(' · ')}
          </p>
        )}
        {description !== undefined && <p class="help-text">{visible(description)}</p>}
      </div>
    </div>
  )
}
