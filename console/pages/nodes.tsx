import type { NodeRow, NodesAnswer } from '../../src/console/wire-nodes.ts'
import { clock, duration, figure, visible } from '../data/format.ts'
import { usePolled } from '../data/polled.ts'
import { Empty, State, TableBox } from '../parts/basics.tsx'

/** The nodes of the cluster, and the engine that they share. */
export function Nodes() {
  const { answer, problem } = usePolled<NodesAnswer>('nodes')
  const { engine, nodes = [] } = answer ?? {}
  return (
    <>
      <div class="head">
        <h1>Nodes</h1>
        {engine !== undefined && (
          <span class="muted" role="status">
            {figure(nodes.length)} {nodes.length === 1 ? 'node' : 'nodes'} share{' '}
            <span class="mono">{visible(engine.name)}</span>
          </span>
        )}
      </div>
      {problem !== '' && <p class="banner error">{problem}</p>}
      {engine?.isUp === false && (
        <p class="banner error">
          The engine cannot be reached. Sessions go on at their nodes; none can move, and new ones
          do not survive their node until the engine is back.
        </p>
      )}
      {answer !== undefined && engine === undefined && (
        <Empty>
          <p>
            This router is not part of a cluster. Start each node with{' '}
            <code>trunkline up --cluster redis://HOST:6379</code>, and any of them serves any
            session.
          </p>
        </Empty>
      )}
      {nodes.length > 0 && <NodeTable rows={nodes} />}
    </>
  )
}

function NodeTable({ rows }: { rows: readonly NodeRow[] }) {
  const now = Date.now()
  return (
    <TableBox label="Nodes">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">node</th>
            <th scope="col">state</th>
            <th scope="col">path</th>
            <th scope="col">address</th>
            <th scope="col">version</th>
            <th scope="col" class="num">
              up for
            </th>
            <th scope="col" class="num">
              sessions
            </th>
            <th scope="col" class="num">
              not saved
            </th>
            <th scope="col" class="num">
              forwarding
            </th>
            <th scope="col" class="num">
              lease
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.address}>
              <td class="one-line">
                {visible(row.name)}
                {row.own !== undefined && <span class="chip info">this process</span>}
              </td>
              <td class="fit">
                <NodeState row={row} />
              </td>
              <td class="mono one-line">{visible(row.path)}</td>
              <td class="mono one-line">{visible(row.address)}</td>
              <td class="fit">{visible(row.version)}</td>
              <td class="num" title={`since ${clock(row.startedAt)}`}>
                {duration(Math.max(0, now - row.startedAt))}
              </td>
              <td class="num">{row.own === undefined ? '–' : figure(row.own.sessions)}</td>
              <td class="num">{row.own === undefined ? '–' : figure(row.own.unsavedSessions)}</td>
              <td class="num">{row.own === undefined ? '–' : figure(row.own.forwarding)}</td>
              <td class="num">{row.own === undefined ? '–' : duration(row.own.leaseLeftMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

function NodeState({ row: { state, own } }: { row: NodeRow }) {
  if (own?.mayAct === false) return <State level="down">suspended</State>
  if (state === 'draining') return <State level="degraded">draining</State>
  return <State level="ok">up</State>
}
