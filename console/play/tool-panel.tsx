import { useState } from 'preact/hooks'
import type { PlayTool, ValidateAnswer } from '../../src/console/wire-play.ts'
import { address, setQuery } from '../data/address.ts'
import { ask } from '../data/api.ts'
import { visible } from '../data/format.ts'
import { Form, type FormIssue } from '../form/form.tsx'
import { parseJson } from '../form/inputs.tsx'
import { initialValue, type Schema, skeleton } from '../form/schema.ts'
import { Copy } from '../parts/basics.tsx'
import { membersOf } from './content.tsx'
import type { Call } from './playground.tsx'

/** Longer arguments are not put into the address. */
const mostInAddress = 4000

/** The arguments of a tool, as a form or as JSON. */
export function ToolPanel({ tool, call }: { tool: PlayTool; call: Call }) {
  const schema: Schema = membersOf(tool.inputSchema)
  const [value, setValue] = useState<unknown>(() => valueInAddress() ?? startOf(schema))
  const [text, setText] = useState<string | undefined>(undefined)
  const [issues, setIssues] = useState<readonly FormIssue[]>([])
  const isJson = text !== undefined
  const parsed = isJson ? parseJson(text) : { value }
  const change = (next: unknown): void => {
    setValue(next)
    setIssues([])
  }
  const run = (): void => {
    if (parsed === undefined) return
    setIssues([])
    const encoded = JSON.stringify(parsed.value)
    setQuery({ args: encoded.length <= mostInAddress && encoded !== '{}' ? encoded : undefined })
    call({ method: 'tools/call', params: { name: tool.name, arguments: parsed.value } })
  }
  const checkAndRun = async (): Promise<void> => {
    if (parsed === undefined) return
    const found = await ask<ValidateAnswer>('validate', { schema, value: parsed.value })
    setIssues(found.issues)
    if (found.issues.length === 0) run()
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        void checkAndRun()
      }}
      onKeyDown={event => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void checkAndRun()
      }}
    >
      <Title name={tool.name} title={tool.title} description={tool.description} />
      <Annotations tool={tool} />
      {hasNoArguments(schema) && <p class="muted">This tool has no arguments.</p>}
      <div class="tabs" role="group" aria-label="Arguments as">
        <button
          type="button"
          aria-pressed={!isJson}
          disabled={parsed === undefined}
          onClick={() => {
            if (isJson && parsed !== undefined) change(parsed.value)
            setText(undefined)
          }}
        >
          form
        </button>
        <button
          type="button"
          aria-pressed={isJson}
          onClick={() => setText(text ?? JSON.stringify(value, null, 2))}
        >
          JSON
        </button>
      </div>
      {isJson ? (
        <>
          <textarea
            aria-label="Arguments as JSON"
            rows={14}
            value={text}
            aria-invalid={parsed === undefined}
            onInput={event => {
              setText(event.currentTarget.value)
              setIssues([])
            }}
          />
          <button
            type="button"
            class="quiet"
            onClick={() => setText(JSON.stringify(skeleton(schema, schema), null, 2))}
          >
            Fill in the structure
          </button>
          {parsed === undefined && <p class="text-error">This is not JSON.</p>}
        </>
      ) : (
        <Form schema={schema} value={value} issues={issues} prefix="arguments" onChange={change} />
      )}
      {issues.length > 0 && (
        <div class="banner error" role="alert">
          The arguments do not match the schema.
          {isJson && (
            <ul>
              {issues.map(({ path, message }) => (
                <li key={`${path.join('.')} ${message}`}>
                  {path.join('.')} {visible(message)}
                </li>
              ))}
            </ul>
          )}{' '}
          <button type="button" onClick={run}>
            Call anyway
          </button>
        </div>
      )}
      <div class="buttons">
        <button type="submit" class="primary" disabled={parsed === undefined}>
          Call
        </button>
        {parsed !== undefined && (
          <Copy text={JSON.stringify(parsed.value, null, 2)} label="Copy JSON" />
        )}
        <Copy text={location.href} label="Copy link" />
      </div>
    </form>
  )
}

/** The name of what is called, and what its server says of it. */
export function Title({
  name,
  title,
  description,
}: {
  name: string
  title: string | undefined
  description: string | undefined
}) {
  return (
    <>
      <h2 class="mono">{visible(name)}</h2>
      {title !== undefined && <p>{visible(title)}</p>}
      {description !== undefined && <p class="description">{visible(description)}</p>}
    </>
  )
}

function Annotations({ tool: { annotations = {} } }: { tool: PlayTool }) {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations
  return (
    <p>
      {readOnlyHint === true && <span class="chip info">read-only, says the server</span>}
      {destructiveHint === true && <span class="chip warn">destructive, says the server</span>}
      {idempotentHint === true && <span class="chip">idempotent, says the server</span>}
    </p>
  )
}

function hasNoArguments({ properties, additionalProperties, ...schema }: Schema): boolean {
  const isOpen = ['oneOf', 'anyOf', 'allOf', '$ref'].some(name => name in schema)
  return Object.keys(membersOf(properties)).length === 0 && additionalProperties !== true && !isOpen
}

function valueInAddress(): unknown {
  return parseJson(address.value.query.get('args') ?? '')?.value
}

function startOf(schema: Schema): unknown {
  return initialValue(schema, schema) ?? {}
}
