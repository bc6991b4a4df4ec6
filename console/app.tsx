import { useEffect, useState } from 'preact/hooks'
import { address } from './data/address.ts'
import { key, useKey } from './data/api.ts'
import { clock, duration, figure, percent } from './data/format.ts'
import { isCalling, questions } from './data/play.ts'
import {
  attention,
  hello,
  link,
  lostAt,
  lostReason,
  newest,
  notice,
  pins,
  recordingUntil,
  servers,
} from './data/store.ts'
import { follow, reconnect } from './data/stream.ts'
import { theme } from './data/theme.ts'
import { listenToKeys } from './keys.ts'
import { pages } from './pages/index.ts'
import { Help } from './parts/help.tsx'

/** The whole page: navigation, status strip and the page that the address names. */
export function App() {
  const { page: id } = address.value
  const page = pages.find(each => each.id === id) ?? pages[0]
  // A call of the playground goes on while another page is shown.
  const own = page?.topics ?? ''
  const topics = isCalling.value && own !== 'play' ? `${own},play` : own
  useEffect(() => follow(topics), [topics])
  useEffect(() => listenToKeys(), [])
  useEffect(() => {
    document.title = `${page?.title ?? ''} · Trunkline`
  }, [page])
  if (link.value === 'key') return <Login />
  const View = page?.view
  const isStale = link.value === 'lost'
  return (
    <div class={`frame ${isStale ? 'stale' : ''}`} id="frame">
      <Navigation current={page?.id ?? ''} />
      <Strip />
      <main class={`main ${page?.isFixed === true ? 'fixed' : ''}`} id="main">
        {isStale && (
          <p class="banner" role="alert">
            No data since {clock(lostAt.value)}: {lostReason.value}. Trying again. What you see is
            old.
          </p>
        )}
        {link.value === 'connecting' || View === undefined ? (
          <Loading title={page?.title ?? ''} />
        ) : (
          <View />
        )}
      </main>
      <div class="toasts" role="status">
        {notice.value !== '' && <div class="toast">{notice.value}</div>}
      </div>
      <Help />
    </div>
  )
}

function Loading({ title }: { title: string }) {
  return (
    <>
      <h1>{title}</h1>
      <div class="skeleton" />
      <div class="skeleton" />
      <div class="skeleton" />
    </>
  )
}

function Navigation({ current }: { current: string }) {
  const broken = attention.value.filter(({ level }) => level === 'error').length
  const unwell = servers.value.filter(({ level }) => level !== 'ok').length
  const counts: Readonly<Record<string, readonly [count: number, level: string]>> = {
    '': [attention.value.filter(({ level }) => level !== 'info').length, broken > 0 ? '' : 'warn'],
    servers: [unwell, servers.value.some(({ level }) => level === 'down') ? '' : 'warn'],
    tools: [pins.value.length, 'warn'],
    playground: [questions.value.length, 'warn'],
  }
  return (
    <nav class="nav" aria-label="Pages">
      <p class="brand">Trunkline</p>
      {pages.map(({ id, title, icon }) => {
        const [count = 0, level = ''] = counts[id] ?? []
        return (
          <a
            key={id}
            href={`#/${id}`}
            aria-current={id === current ? 'page' : undefined}
            title={title}
          >
            <span class="icon" aria-hidden="true">
              {icon}
            </span>
            <span class="label">{title}</span>
            {count > 0 && (
              <span class={`count ${level}`}>
                {count}
                <span class="hidden-text"> need attention</span>
              </span>
            )}
          </a>
        )
      })}
      <p class="foot">{hello.value?.version}</p>
    </nav>
  )
}

function Strip() {
  const all = servers.value
  const well = all.filter(({ level }) => level === 'ok').length
  const point = newest.value
  const level =
    well === all.length ? 'ok' : all.some(({ level }) => level === 'down') ? 'down' : 'degraded'
  const rate = point === undefined ? 0 : point.ok + point.failed + point.toolErrors
  const failed = point === undefined || rate === 0 ? 0 : (point.failed + point.toolErrors) / rate
  return (
    <header class="strip">
      {link.value === 'live' ? (
        <span class={`state ${level}`}>
          {all.length === 0 ? 'no servers' : `${well} of ${all.length} servers work`}
        </span>
      ) : (
        <span class="state">{link.value === 'lost' ? 'not connected' : 'connecting …'}</span>
      )}
      {point !== undefined && (
        <>
          <span>
            <b>{figure(rate)}</b> calls/s
          </span>
          <span class={failed > 0 ? 'text-error' : ''}>
            <b>{percent(failed)}</b> failed
          </span>
          <span class="wide">
            p99 <b>{duration(point.p99)}</b>
          </span>
          <span class="wide">
            <b>{point.inFlight}</b> in flight
          </span>
          <span class="wide">
            <b>{point.sessions}</b> sessions
          </span>
        </>
      )}
      <span class="spacer" />
      {recordingUntil.value > 0 && (
        <a class="chip error" href="#/traffic">
          ● recording calls until {clock(recordingUntil.value)}
        </a>
      )}
      {hello.value?.actions === 'look' && <span class="chip">read-only</span>}
      <ThemeButton />
    </header>
  )
}

function ThemeButton() {
  const next = { system: 'light', light: 'dark', dark: 'system' } as const
  const label = `Theme: ${theme.value}`
  return (
    <button
      type="button"
      class="quiet"
      title={label}
      aria-label={label}
      onClick={() => {
        theme.value = next[theme.value]
      }}
    >
      {{ system: '◐', light: '☀', dark: '☾' }[theme.value]}
    </button>
  )
}

/** Asks for the link, where the page has no key or an old one. */
function Login() {
  const [text, setText] = useState('')
  const hasKey = key.value !== ''
  const submit = (event: Event): void => {
    event.preventDefault()
    const [, found] = /key=([\w-]+)/.exec(text) ?? [undefined, text.trim()]
    useKey(found ?? '')
    link.value = 'connecting'
    reconnect()
  }
  return (
    <main class="login" id="main">
      <h1>Trunkline</h1>
      <p>
        {hasKey
          ? 'The key of this page is no longer valid: the router was restarted, or has a new key.'
          : 'This page needs the key of the router.'}{' '}
        Open the link that <code>trunkline up</code> printed, or paste it here.
      </p>
      <form onSubmit={submit}>
        <label>
          Link{' '}
          <input type="text" value={text} onInput={event => setText(event.currentTarget.value)} />
        </label>{' '}
        <button type="submit" class="primary">
          Open
        </button>
      </form>
    </main>
  )
}
