import { useState } from 'preact/hooks'
import { bytes, clock, duration, visible } from '../data/format.ts'
import { type PlayRun, pageToken } from '../data/play.ts'
import { act, Copy, State } from '../parts/basics.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { ContentBlock, membersOf, ResourceContent } from './content.tsx'

/** What is known of a call: its progress, or its result. */
export function RunView({ run }: { run: PlayRun }) {
  const [view, setView] = useState<'content' | 'structured' | 'raw'>('content')
  const { structuredContent } = membersOf(run.result)
  const hasResult = run.result !== undefined
  const shown = view === 'structured' && structuredContent === undefined ? 'content' : view
  return (
    <section aria-label="Result">
      <div class="head">
        <h2>Result</h2>
        <Outcome run={run} />
        <span class="muted">{run.ms === undefined ? '' : duration(run.ms)}</span>
        <span class="spacer" />
        {run.ms === undefined && (
          <button
            type="button"
            onClick={() => act(`play/${pageToken}/runs/${run.run}/cancel`, 'Cancelling the call')}
          >
            Cancel
          </button>
        )}
        {hasResult && <Copy text={JSON.stringify(run.result, null, 2)} label="Copy JSON" />}
      </div>
      {run.ms === undefined && <Progress run={run} />}
      {run.mismatch !== undefined && (
        <p class="banner error">
          The structured content does not match the output schema: {visible(run.mismatch)}
        </p>
      )}
      {run.isChecked === true && run.mismatch === undefined && (
        <p class="text-ok">The structured content matches the output schema.</p>
      )}
      {run.error !== undefined && <Failure run={run} />}
      {run.tooLarge !== undefined && (
        <p class="banner">
          The result has {bytes(run.tooLarge)}, which is too large to be shown here.
        </p>
      )}
      {hasResult && (
        <>
          <div class="tabs" role="group" aria-label="View of the result">
            <Tab name="content" view={shown} onChoose={setView} />
            {structuredContent !== undefined && (
              <Tab name="structured" view={shown} onChoose={setView} />
            )}
            <Tab name="raw" view={shown} onChoose={setView} />
          </div>
          {shown === 'content' && <Contents result={run.result} />}
          {shown === 'structured' && <JsonTree value={structuredContent} />}
          {shown === 'raw' && <JsonTree value={run.result} />}
        </>
      )}
    </section>
  )
}

function Tab<T extends string>({
  name,
  view,
  onChoose,
}: {
  name: T
  view: string
  onChoose: (name: T) => void
}) {
  return (
    <button type="button" aria-pressed={name === view} onClick={() => onChoose(name)}>
      {name}
    </button>
  )
}

/** How a call ended, as a sign with its word. */
export function Outcome({ run }: { run: PlayRun }) {
  if (run.ms === undefined) return <State level="info">in flight</State>
  if (run.error !== undefined) return <State level="error">error</State>
  if (membersOf(run.result).isError === true) return <State level="warn">tool error</State>
  return <State level="ok">ok</State>
}

function Progress({ run }: { run: PlayRun }) {
  const { progress, total, message } = run.progress ?? {}
  const share = progress !== undefined && total !== undefined ? progress / total : undefined
  return (
    <div class="progress" role="status">
      <progress {...(share !== undefined && { value: share, max: 1 })} aria-label="Progress" />
      <span>
        {share !== undefined && `${Math.round(share * 100)} % `}
        {share === undefined && progress !== undefined && `${progress} `}
        {visible(message ?? (progress === undefined ? `sent at ${clock(run.at)}` : ''))}
      </span>
    </div>
  )
}

function Failure({ run }: { run: PlayRun }) {
  const { message = '', code, kind, data } = run.error ?? {}
  return (
    <>
      <p class="banner error" role="alert">
        {visible(message)}
        {(kind !== undefined || code !== undefined) && (
          <span class="muted">
            {' '}
            {kind} {code !== undefined && `(${code})`}
          </span>
        )}
      </p>
      {data !== undefined && <JsonTree value={data} name="data" />}
    </>
  )
}

/** The contents of a result: blocks of a tool, messages of a prompt, or contents of a resource. */
function Contents({ result }: { result: unknown }) {
  const { content, messages, contents } = membersOf(result)
  if (Array.isArray(content) && content.length > 0) {
    return content.map((block, at) => <ContentBlock key={at} block={block} />)
  }
  if (Array.isArray(messages)) {
    return messages.map((message, at) => {
      const { role, content: its } = membersOf(message)
      return (
        <figure key={at} class="block">
          <figcaption>{visible(String(role ?? ''))}</figcaption>
          {(Array.isArray(its) ? its : [its]).map((block, index) => (
            <ContentBlock key={index} block={block} />
          ))}
        </figure>
      )
    })
  }
  if (Array.isArray(contents)) {
    return contents.map((each, at) => <ResourceContent key={at} contents={each} />)
  }
  return <JsonTree value={result} />
}
