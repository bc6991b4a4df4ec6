import { useEffect, useState } from 'preact/hooks'
import type { ConfigAnswer, ConfigCheckAnswer, IssueRow } from '../../src/console/wire.ts'
import { ask } from '../data/api.ts'
import { clock, duration, visible } from '../data/format.ts'
import { changes, hello } from '../data/store.ts'
import { Copy, Empty } from '../parts/basics.tsx'
import { ChangeList } from './overview.tsx'

/** The effective configuration, and a check of another one. */
export function Config() {
  const [answer, setAnswer] = useState<ConfigAnswer | undefined>(undefined)
  const reloads = changes.value.filter(({ text }) => text.startsWith('configuration'))
  useEffect(() => {
    ask<ConfigAnswer>('config').then(setAnswer, () => {})
  }, [reloads.length])
  const startedAt = hello.value?.startedAt ?? Date.now()
  return (
    <>
      <div class="head">
        <h1>Configuration</h1>
        <span class="muted">
          {answer?.file ?? ''} · version {hello.value?.version} · running for{' '}
          {duration(Date.now() - startedAt)}
        </span>
        <span class="spacer" />
        {answer !== undefined && answer.text !== '' && <Copy text={answer.text} />}
      </div>
      {answer !== undefined && answer.text === '' && (
        <Empty>
          <p>
            This router has no configuration file. Start it with one: trunkline up servers.jsonc
          </p>
        </Empty>
      )}
      <div class="columns">
        <section>
          {answer !== undefined && <Issues rows={answer.issues} />}
          {answer !== undefined && answer.text !== '' && (
            <>
              <h2>In effect, without secrets</h2>
              <Numbered text={answer.text} />
            </>
          )}
        </section>
        <div>
          <Check />
          <section class="section">
            <h2>Reloads</h2>
            {reloads.length === 0 ? (
              <p class="muted">
                None since {clock(startedAt)}. A change of the file is applied at once.
              </p>
            ) : (
              <ChangeList rows={reloads.slice(-20).reverse()} />
            )}
          </section>
        </div>
      </div>
    </>
  )
}

function Numbered({ text }: { text: string }) {
  return (
    <pre class="code" tabIndex={0}>
      {text.split('\n').map((line, at) => (
        <div key={at}>
          <span class="number">{at + 1}</span>
          {visible(line)}
        </div>
      ))}
    </pre>
  )
}

function Issues({ rows }: { rows: readonly IssueRow[] }) {
  if (rows.length === 0) return null
  return (
    <ul class="attention section" aria-label="Problems">
      {rows.map(({ severity, line, column, message }) => (
        <li key={`${line} ${column} ${message}`} class={severity === 'error' ? 'error' : 'warn'}>
          <span class="sign" aria-hidden="true">
            {severity === 'error' ? '✗' : '!'}
          </span>
          <span class="why">
            {line > 0 && (
              <b>
                line {line}, column {column}:{' '}
              </b>
            )}
            {visible(message)}
          </span>
          <span />
        </li>
      ))}
    </ul>
  )
}

function Check() {
  const [text, setText] = useState('')
  const [result, setResult] = useState<ConfigCheckAnswer | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const check = (): void => {
    setProblem('')
    ask<ConfigCheckAnswer>('config/check', { text }).then(setResult, (error: Error) =>
      setProblem(error.message),
    )
  }
  return (
    <section>
      <h2>Check a new file</h2>
      <p class="muted">Paste it here. It is compared with the one in effect, and not used.</p>
      <textarea
        rows={8}
        aria-label="Text of a configuration file"
        value={text}
        onInput={event => setText(event.currentTarget.value)}
      />
      <button type="button" onClick={check} disabled={text.trim() === ''}>
        Check
      </button>
      {problem !== '' && <p class="banner error section">{problem}</p>}
      {result !== undefined && (
        <div role="status">
          <Issues rows={result.issues} />
          {!result.issues.some(({ severity }) => severity === 'error') && (
            <>
              <p class="section text-ok">The file is valid.</p>
              <ul>
                {result.changes.length === 0 ? (
                  <li>Nothing would change.</li>
                ) : (
                  result.changes.map(line => <li key={line}>{visible(line)}</li>)
                )}
              </ul>
            </>
          )}
        </div>
      )}
    </section>
  )
}
