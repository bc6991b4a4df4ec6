import { useEffect, useState } from 'preact/hooks'
import type { PlayLists } from '../../src/console/wire-play.ts'
import { address, setQuery } from '../data/address.ts'
import { ask } from '../data/api.ts'
import { clock, duration, visible } from '../data/format.ts'
import {
  joins,
  messages,
  messagesLeft,
  type PlayRun,
  pageToken,
  questions,
  runs,
  startRun,
} from '../data/play.ts'
import { changes, mayChange } from '../data/store.ts'
import { Empty, Filter } from '../parts/basics.tsx'
import { PromptPanel } from './prompt-panel.tsx'
import { QuestionList } from './questions.tsx'
import { RequestPanel } from './request-panel.tsx'
import { ResourcePanel } from './resource-panel.tsx'
import { Outcome, RunView } from './result.tsx'
import { ToolPanel } from './tool-panel.tsx'

/** What a panel does with a request that is ready: it is sent, and its result is shown. */
export type Call = (request: Omit<Parameters<typeof startRun>[0], 'revision' | 'timeoutMs'>) => void

/** The kinds of things that can be called. */
const kinds = ['tools', 'prompts', 'resources', 'request'] as const
type Kind = (typeof kinds)[number]

/** Calls anything that callers of the router see, and answers the requests of servers. */
export function Playground() {
  const { lists, problem } = useLists()
  const { query, item } = address.value
  const kind = kinds.find(each => each === query.get('what')) ?? 'tools'
  const [failure, setFailure] = useState('')
  const [shown, setShown] = useState<string | undefined>(undefined)
  const run = runs.value.find(each => each.run === shown) ?? runs.value[0]
  if (!mayChange.value) {
    return (
      <>
        <h1>Playground</h1>
        <Empty>
          <p>This console is read-only, and calls may change something.</p>
        </Empty>
      </>
    )
  }
  const call: Call = request => {
    setFailure('')
    const seconds = Number(query.get('limit'))
    const revision = query.get('rev') ?? undefined
    const timeoutMs = seconds > 0 ? seconds * 1000 : undefined
    startRun({ ...request, revision, timeoutMs }).then(setShown, (error: Error) =>
      setFailure(error.message),
    )
  }
  return (
    <>
      <div class="head">
        <h1>Playground</h1>
        <div class="tabs" role="group" aria-label="What to call">
          {kinds.map(each => (
            <a
              key={each}
              class="button"
              href={each === 'tools' ? '#/playground' : `#/playground?what=${each}`}
              aria-current={each === kind ? 'true' : undefined}
            >
              {each}
            </a>
          ))}
        </div>
        <span class="spacer" />
        <Settings revisions={lists?.revisions ?? []} />
      </div>
      {problem !== '' && <p class="banner error">{problem}</p>}
      {lists?.problems.map(each => (
        <p key={each} class="banner">
          {visible(each)}
        </p>
      ))}
      <div class={`play ${kind === 'request' ? 'without-list' : ''}`}>
        {kind !== 'request' && <Entries kind={kind} lists={lists} current={item} />}
        <section class="play-form" aria-label="Arguments">
          <Panel kind={kind} lists={lists} item={item} call={call} />
        </section>
        <div class="play-result">
          {failure !== '' && (
            <p class="banner error" role="alert">
              {failure}
            </p>
          )}
          <QuestionList />
          {run === undefined && questions.value.length === 0 && (
            <Empty>
              <p>
                The result of a call appears here, with its progress and the questions of servers.
              </p>
            </Empty>
          )}
          {run !== undefined && <RunView key={run.run} run={run} />}
          {runs.value.length > 1 && <History current={run?.run} onChoose={setShown} />}
          <Messages />
        </div>
      </div>
    </>
  )
}

/** Reads what callers see, again when servers change. */
function useLists(): { readonly lists: PlayLists | undefined; readonly problem: string } {
  const [lists, setLists] = useState<PlayLists | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const [joined, changed, may] = [joins.value, changes.value.length, mayChange.value]
  useEffect(() => {
    // Before the stream has joined, the console does not know this page.
    if (joined === 0 || !may) return
    ask<PlayLists>(`play/${pageToken}/lists`, {}).then(
      found => {
        setLists(found)
        setProblem('')
      },
      (error: Error) => setProblem(error.message),
    )
  }, [joined, changed, may])
  return { lists, problem }
}

function Settings({ revisions }: { revisions: readonly string[] }) {
  const { query } = address.value
  return (
    <>
      <label>
        as revision{' '}
        <select
          value={query.get('rev') ?? ''}
          onChange={event => setQuery({ rev: event.currentTarget.value })}
        >
          <option value="">newest</option>
          {revisions.map(each => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      <label>
        time limit{' '}
        <select
          value={query.get('limit') ?? ''}
          onChange={event => setQuery({ limit: event.currentTarget.value })}
        >
          <option value="">60 s</option>
          <option value="10">10 s</option>
          <option value="300">5 min</option>
          <option value="3600">1 h</option>
        </select>
      </label>
    </>
  )
}

interface Entry {
  readonly id: string
  readonly text: string
  readonly title: string | undefined
}

function Entries({
  kind,
  lists,
  current,
}: {
  kind: Exclude<Kind, 'request'>
  lists: PlayLists | undefined
  current: string | undefined
}) {
  const [text, setText] = useState('')
  const all = lists === undefined ? [] : entriesOf(kind, lists)
  const wanted = text.toLowerCase()
  const rows = all.filter(({ text: name, title }) =>
    [name, title].some(each => each?.toLowerCase().includes(wanted)),
  )
  const what = kind === 'tools' ? '' : `?what=${kind}`
  return (
    <nav class="play-list" aria-label={`All ${kind}`}>
      <Filter value={text} placeholder={`find ${kind}`} onChange={setText} />
      <ul>
        {rows.map(({ id, text: name, title }) => (
          <li key={id}>
            <a
              href={`#/playground/${encodeURIComponent(id)}${what}`}
              aria-current={id === current ? 'true' : undefined}
              title={title}
            >
              {visible(name)}
            </a>
          </li>
        ))}
      </ul>
      {lists !== undefined && rows.length === 0 && (
        <p class="muted">{all.length === 0 ? `No server offers ${kind}.` : 'Nothing matches.'}</p>
      )}
    </nav>
  )
}

function entriesOf(kind: Exclude<Kind, 'request'>, lists: PlayLists): readonly Entry[] {
  if (kind !== 'resources') {
    return lists[kind].map(({ name, title }) => ({ id: name, text: name, title }))
  }
  return [
    ...lists.resources.map(({ uri, title, name }) => ({
      id: uri,
      text: uri,
      title: title ?? name,
    })),
    ...lists.templates.map(({ uriTemplate, title, name }) => ({
      id: uriTemplate,
      text: uriTemplate,
      title: title ?? name,
    })),
  ]
}

function Panel({
  kind,
  lists,
  item,
  call,
}: {
  kind: Kind
  lists: PlayLists | undefined
  item: string | undefined
  call: Call
}) {
  if (kind === 'request') return <RequestPanel call={call} />
  if (lists === undefined) return <div class="skeleton" />
  if (item === undefined) {
    return <p class="muted">Choose one of the {kind} to fill in its arguments.</p>
  }
  const tool = kind === 'tools' ? lists.tools.find(({ name }) => name === item) : undefined
  if (tool !== undefined) return <ToolPanel key={item} tool={tool} call={call} />
  const prompt = kind === 'prompts' ? lists.prompts.find(({ name }) => name === item) : undefined
  if (prompt !== undefined) return <PromptPanel key={item} prompt={prompt} call={call} />
  if (kind === 'resources') return <ResourcePanel key={item} uri={item} lists={lists} call={call} />
  return <p class="banner error">Callers see nothing of the name {visible(item)}.</p>
}

/** The calls of this page, which it forgets when it is closed. */
function History({
  current,
  onChoose,
}: {
  current: string | undefined
  onChoose: (run: string) => void
}) {
  return (
    <section class="section" aria-label="Calls of this page">
      <h2>Calls of this page</h2>
      <ul class="history">
        {runs.value.map(run => (
          <li key={run.run}>
            <button
              type="button"
              class="quiet"
              aria-pressed={run.run === current}
              onClick={() => onChoose(run.run)}
            >
              <span class="muted">{clock(run.at)}</span>
              <span class="mono one-line">{visible(subjectOf(run))}</span>
              <Outcome run={run} />
              <span class="muted">{run.ms === undefined ? '' : duration(run.ms)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function subjectOf({ request: { method, params } }: PlayRun): string {
  const subject = params.name ?? params.uri
  return typeof subject === 'string' ? subject : method
}

function Messages() {
  if (messages.value.length === 0) return null
  return (
    <section class="section" aria-label="Notifications of servers">
      <h2>Notifications of servers</h2>
      <ul class="times">
        {messages.value.slice(0, 50).map(({ at, method, text }, index) => (
          <li key={`${at} ${index}`}>
            <time>{clock(at)}</time>
            <span class="dot" />
            <span>
              <code>{visible(method)}</code> <span class="mono">{visible(text)}</span>
            </span>
          </li>
        ))}
      </ul>
      {messagesLeft.value > 0 && <p class="muted">{messagesLeft.value} more were left out.</p>}
    </section>
  )
}
