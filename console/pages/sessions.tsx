import type {
  SessionRow,
  SessionsAnswer,
  SubscriptionRow,
  TaskRow,
} from '../../src/console/wire-sessions.ts'
import { address, setQuery } from '../data/address.ts'
import { clock, duration, figure, visible } from '../data/format.ts'
import { usePolled } from '../data/polled.ts'
import { mayChange } from '../data/store.ts'
import { act, Empty, Filter, TableBox } from '../parts/basics.tsx'
import { Confirm } from '../parts/confirm.tsx'

/** Who is connected, what callers have subscribed to, and the tasks that run for them. */
export function Sessions() {
  const { answer, problem, load } = usePolled<SessionsAnswer>('sessions')
  const text = address.value.query.get('q') ?? ''
  const rows = (answer?.sessions ?? []).filter(sessionFilter(text))
  return (
    <>
      <div class="head">
        <h1>Sessions</h1>
        <Filter
          value={text}
          placeholder="client, principal, revision or transport"
          onChange={value => setQuery({ q: value })}
        />
        <span class="muted" role="status">
          {figure(answer?.sessionCount ?? 0)} connected · {figure(answer?.subscriptionCount ?? 0)}{' '}
          resources subscribed · {figure(answer?.taskCount ?? 0)} tasks
        </span>
      </div>
      {problem !== '' && <p class="banner error">{problem}</p>}
      {answer !== undefined && (
        <>
          {rows.length === 0 ? (
            <Empty>
              <p>
                {answer.sessionCount === 0
                  ? 'No client is connected. Stateless HTTP requests have no session: Traffic shows their calls.'
                  : 'No session matches the filter.'}
              </p>
              {answer.sessionCount === 0 && <a href="#/connect">Connect a host</a>}
            </Empty>
          ) : (
            <SessionTable rows={rows} onEnded={load} />
          )}
          <Rest shown={answer.sessions.length} all={answer.sessionCount} what="sessions" />
          <section class="section">
            <h2>Subscriptions</h2>
            <Subscriptions rows={answer.subscriptions} />
            <Rest
              shown={answer.subscriptions.length}
              all={answer.subscriptionCount}
              what="subscriptions"
            />
          </section>
          <section class="section">
            <h2>Tasks</h2>
            <Tasks rows={answer.tasks} onCancelled={load} />
            <Rest shown={answer.tasks.length} all={answer.taskCount} what="tasks" />
          </section>
        </>
      )}
    </>
  )
}

/** Says how many rows are not shown. */
function Rest({ shown, all, what }: { shown: number; all: number; what: string }) {
  if (shown >= all) return null
  return (
    <p class="muted">
      The {figure(shown)} oldest of {figure(all)} {what} are shown.
    </p>
  )
}

function sessionFilter(text: string): (row: SessionRow) => boolean {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean)
  return ({ client, version, principal, revision, transport }) =>
    terms.every(term =>
      [client, version, principal, revision, transport].some(each =>
        each?.toLowerCase().includes(term),
      ),
    )
}

/** The columns by which sessions can be sorted; the largest come first. */
const columns = {
  age: ['open for', ({ openedAt }: SessionRow) => -openedAt],
  flight: ['in flight', ({ inFlight }: SessionRow) => inFlight],
  requests: ['server requests', ({ serverRequests }: SessionRow) => serverRequests],
  streams: ['streams', ({ openStreams }: SessionRow) => openStreams],
  subscriptions: ['subscriptions', ({ subscriptions }: SessionRow) => subscriptions],
} as const
type Column = keyof typeof columns

function isColumn(name: string | null): name is Column {
  return name !== null && Object.hasOwn(columns, name)
}

function SessionTable({ rows, onEnded }: { rows: readonly SessionRow[]; onEnded: () => void }) {
  const wanted = address.value.query.get('sort')
  const sort = isColumn(wanted) ? wanted : 'age'
  const [, weight] = columns[sort]
  const sorted = rows.toSorted((a, b) => weight(b) - weight(a))
  const now = Date.now()
  return (
    <TableBox label="Sessions">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">client</th>
            <th scope="col">principal</th>
            <th scope="col">revision</th>
            <th scope="col">transport</th>
            {Object.entries(columns).map(([name, [title]]) => (
              <th
                key={name}
                scope="col"
                class="num"
                aria-sort={name === sort ? 'descending' : undefined}
              >
                <button
                  type="button"
                  class="quiet sort"
                  onClick={() => setQuery({ sort: name === 'age' ? undefined : name })}
                >
                  {title}
                  <span aria-hidden="true">{name === sort ? ' ↓' : ''}</span>
                </button>
              </th>
            ))}
            {mayChange.value && (
              <th scope="col">
                <span class="hidden-text">actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {sorted.map(row => (
            <tr key={row.handle}>
              <td class="one-line">
                {row.client === undefined ? (
                  <span class="muted">not known: stateless, or still connecting</span>
                ) : (
                  `${visible(row.client)} ${visible(row.version ?? '')}`
                )}
                {row.isOurs === true && <span class="chip info">this console</span>}
              </td>
              <td class="one-line">{row.principal === undefined ? '–' : visible(row.principal)}</td>
              <td class="fit">{row.revision ?? '–'}</td>
              <td class="fit">{row.transport ?? '–'}</td>
              <td class="num" title={`since ${clock(row.openedAt)}`}>
                {duration(Math.max(0, now - row.openedAt))}
              </td>
              <td class="num">{row.inFlight}</td>
              <td class="num">{row.serverRequests}</td>
              <td class="num">{row.openStreams}</td>
              <td class="num">{row.subscriptions}</td>
              {mayChange.value && (
                <td class="fit">
                  <Confirm
                    label="End"
                    question="Really end?"
                    name={`the session of ${row.client ?? 'an unknown client'}`}
                    onConfirm={() => {
                      const path = `sessions/${encodeURIComponent(row.handle)}/end`
                      act(path, 'The session has ended; its client may connect again', {}, onEnded)
                    }}
                  />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

function Subscriptions({ rows }: { rows: readonly SubscriptionRow[] }) {
  if (rows.length === 0) return <p class="muted">No client has subscribed to a resource.</p>
  return (
    <TableBox label="Subscriptions">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">resource</th>
            <th scope="col" class="num">
              subscriptions
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ uri, count }) => (
            <tr key={uri}>
              <td class="mono one-line" title={visible(uri)}>
                {visible(uri)}
              </td>
              <td class="num">{count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

function Tasks({ rows, onCancelled }: { rows: readonly TaskRow[]; onCancelled: () => void }) {
  if (rows.length === 0) return <p class="muted">No call runs as a task.</p>
  const now = Date.now()
  return (
    <TableBox label="Tasks">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">tool</th>
            <th scope="col">status</th>
            <th scope="col">message</th>
            <th scope="col">principal</th>
            <th scope="col" class="num">
              running for
            </th>
            <th scope="col" class="num">
              time left
            </th>
            {mayChange.value && (
              <th scope="col">
                <span class="hidden-text">actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.handle}>
              <td class="mono one-line">{visible(row.tool)}</td>
              <td class="fit">{row.status}</td>
              <td class="one-line">{visible(row.message ?? '')}</td>
              <td class="one-line">{row.principal === undefined ? '–' : visible(row.principal)}</td>
              <td class="num">{duration(Math.max(0, now - row.createdAt))}</td>
              <td class="num">{duration(Math.max(0, row.expiresAt - now))}</td>
              {mayChange.value && (
                <td class="fit">
                  <Confirm
                    label="Cancel"
                    question="Really cancel?"
                    name={`the task of ${row.tool}`}
                    onConfirm={() => {
                      const path = `tasks/${encodeURIComponent(row.handle)}/cancel`
                      act(path, 'The task is cancelled', {}, onCancelled)
                    }}
                  />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}
