import { useState } from 'preact/hooks'
import { parseJson } from '../form/inputs.tsx'
import type { Call } from './playground.tsx'

/** Any request, as it is sent. */
export function RequestPanel({ call }: { call: Call }) {
  const [method, setMethod] = useState('tools/list')
  const [text, setText] = useState('{}')
  const params = parseJson(text)?.value
  const isObject = typeof params === 'object' && params !== null && !Array.isArray(params)
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        // The check: the button is disabled for anything but an object.
        if (isObject) call({ method, params: params as Record<string, unknown> })
      }}
    >
      <h2>Request</h2>
      <p class="muted">Any method that clients send. The client adds what its revision requires.</p>
      <div class="form">
        <div class="field">
          <label for="method">method</label>
          <input
            id="method"
            type="text"
            required
            value={method}
            onInput={event => setMethod(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for="params">params</label>
          <div>
            <textarea
              id="params"
              rows={10}
              value={text}
              aria-invalid={!isObject}
              onInput={event => setText(event.currentTarget.value)}
            />
            {!isObject && <p class="text-error">The params must be a JSON object.</p>}
          </div>
        </div>
      </div>
      <div class="buttons">
        <button type="submit" class="primary" disabled={!isObject || method === ''}>
          Send
        </button>
      </div>
    </form>
  )
}
