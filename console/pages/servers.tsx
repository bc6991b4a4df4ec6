import { useEffect, useState } from 'preact/hooks'
import type { InstanceRow, ServerAnswer, ServerRow } from '../../src/console/wire.ts'
import { address } from '../data/address.ts'
import { ask } from '../data/api.ts'
import { duration, percent, visible } from '../data/format.ts'
import { changes, servers } from '../data/store.ts'
import { Copy, Empty, Retry, State, TableBox } from '../parts/basics.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { ChangeList } from './overview.tsx'

/** One server, or the list of all. */
export function Servers() {
  const name = address.value.item
  const server = servers.value.find(each => each.name === name)
  if (name === undefined) return <AllServers />
  if (server === undefined) {
    return (
      <>
        <h1>{visible(name)}</h1>
        <Empty>
          <p>There is no server of this name.</p>
          <a href="#/servers">All servers</a>
        </Empty>
      </>
    )
  }
  return <OneServer key={name} server={server} />
}

function AllServers() {
  return (
    <>
      <h1>Servers</h1>
      {servers.value.length === 0 && (
        <Empty>
          <p>
            No server is configured. Add one to the configuration file; it appears here at once.
          </p>
        </Empty>
      )}
      {servers.value.map(server => (
        <section key={server.name} class="section">
          <div class="head">
            <h2>
              <a href={`#/servers/${encodeURIComponent(server.name)}`}>{server.name}</a>
            </h2>
            <State level={server.level}>{server.level}</State>
            <span class="muted one-line">{visible(server.reason ?? '')}</span>
            <span class="spacer" />
            {server.level !== 'ok' && <Retry server={server.name} />}
          </div>
          <Instances rows={server.instances} of={server.name} />
        </section>
      ))}
    </>
  )
}

function OneServer({ server }: { server: ServerRow }) {
  const [details, setDetails] = useState<ServerAnswer | undefined>(undefined)
  const { name } = server
  const version = changes.value.filter(change => change.server === name).length
  useEffect(() => {
    const load = (): void => {
      ask<ServerAnswer>(`servers/${encodeURIComponent(name)}`).then(setDetails, () => {})
    }
    load()
    const timer = setInterval(load, 2000)
    return () => clearInterval(timer)
  }, [name, version])
  return (
    <>
      <div class="head">
        <h1>{name}</h1>
        <State level={server.level}>{server.isQuarantined ? 'quarantined' : server.level}</State>
        <span class="spacer" />
        <Retry server={name} />
        <a class="button" href={`#/traffic?q=${encodeURIComponent(`server:${name}`)}`}>
          Show in traffic
        </a>
        <a class="button" href={`#/tools?q=${encodeURIComponent(`server:${name}`)}`}>
          Tools
        </a>
        <a class="button" href={`#/check/${encodeURIComponent(name)}`}>
          Check
        </a>
      </div>
      {server.reason !== undefined && (
        <p class={`banner ${server.level === 'down' ? 'error' : ''}`}>{visible(server.reason)}</p>
      )}
      {server.action !== undefined && <p>To do: {visible(server.action)}.</p>}
      <section class="section">
        <h2>Instances</h2>
        <Instances rows={server.instances} of={server.name} />
      </section>
      <div class="columns">
        <div>
          {details?.stderr.map(({ instance, text }) => (
            <section key={instance} class="section">
              <div class="head">
                <h2>Error output of instance {instance}</h2>
                <span class="spacer" />
                {text !== '' && <Copy text={text} />}
              </div>
              {text.trim() === '' ? (
                <p class="muted">Nothing was written to stderr.</p>
              ) : (
                <pre class="code wrap" tabIndex={0}>
                  {visible(text.trim())}
                </pre>
              )}
            </section>
          ))}
          {details?.entry !== undefined && (
            <section class="section">
              <h2>Configuration</h2>
              <JsonTree value={details.entry} />
            </section>
          )}
        </div>
        <section class="section">
          <h2>Changes</h2>
          <ChangeList rows={(details?.changes ?? []).slice(-50).reverse()} />
        </section>
      </div>
    </>
  )
}

function Instances({ rows, of }: { rows: readonly InstanceRow[]; of: string }) {
  return (
    <TableBox label={`Instances of ${of}`}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">instance</th>
            <th scope="col">program or address</th>
            <th scope="col">state</th>
            <th scope="col">breaker</th>
            <th scope="col" class="num">
              in flight
            </th>
            <th scope="col" class="num">
              latency
            </th>
            <th scope="col" class="num">
              errors
            </th>
            <th scope="col" class="num">
              restarts
            </th>
            <th scope="col">revision</th>
            <th scope="col">process</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.key}>
              <td class="fit">{row.key}</td>
              <td class="mono one-line" title={row.label}>
                {visible(row.label)}
              </td>
              <td class="fit">
                <State level={levelOf(row)}>{row.state}</State>
                {row.retryInMs !== undefined && (
                  <span class="muted"> again in {duration(row.retryInMs)}</span>
                )}
              </td>
              <td class="fit">{row.breaker}</td>
              <td class="num">{row.inFlight}</td>
              <td class="num">{row.latencyMs === 0 ? '–' : duration(row.latencyMs)}</td>
              <td class="num">{percent(row.errorRate)}</td>
              <td class="num">{row.restarts}</td>
              <td class="fit">{row.revision ?? '–'}</td>
              <td class="fit">{row.pids.length === 0 ? '–' : row.pids.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

function levelOf({ state, reason }: InstanceRow): string {
  if (state === 'quarantined') return 'down'
  if (state === 'ready' || state === 'idle') return reason === undefined ? 'ok' : 'degraded'
  return state === 'starting' ? 'info' : 'degraded'
}
