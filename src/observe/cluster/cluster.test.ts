import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import { events } from '../events.ts'
import { observe } from '../observe.ts'
import { withClusterHealth } from './health.ts'
import { addClusterNode, type ClusterNodeStatus } from './nodes.ts'

const peer = {
  name: 'b',
  address: 'tcp://127.0.0.1:2',
  path: '/mcp',
  version: '1',
  state: 'up' as const,
  startedAt: '',
}

const status: ClusterNodeStatus = {
  ...peer,
  name: 'a',
  engine: 'redis://127.0.0.1',
  isEngineUp: true,
  mayAct: true,
  leaseLeftMs: 9500,
  sessions: 3,
  unsavedSessions: 1,
  forwarding: 2,
  peers: [peer, { ...peer, state: 'draining' }, { ...peer, path: '/other' }],
}

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

function node(more: Partial<ClusterNodeStatus> = {}): void {
  ends.push(addClusterNode({ status: () => ({ ...status, ...more }) }))
}

describe('the health of a node', () => {
  test('is not reported by a process that is no node', () => {
    expect(withClusterHealth({ level: 'ok' })).toEqual({ level: 'ok' })
  })

  test('counts the nodes of its path', () => {
    node()
    expect(withClusterHealth({ level: 'ok' })).toEqual({
      level: 'ok',
      cluster: [{ level: 'ok', name: 'a', path: '/mcp', nodes: 3, sessions: 3 }],
    })
  })

  test.each([
    [{ isEngineUp: false }, 'the engine redis://127.0.0.1 cannot be reached'],
    [{ mayAct: false }, 'suspended'],
  ])('is degraded, and never down: %j', (more, reason) => {
    node(more)
    const report = withClusterHealth({ level: 'ok' })
    expect(report).toMatchObject({ level: 'degraded', cluster: [{ level: 'degraded' }] })
    expect(report.reason).toContain(reason)
    expect(withClusterHealth({ level: 'down', reason: 'no server' })).toMatchObject({
      level: 'down',
      reason: 'no server',
    })
  })

  test('names other versions', () => {
    node({ peers: [{ ...peer, version: '2' }] })
    expect(withClusterHealth({ level: 'ok' }).cluster?.[0]).toMatchObject({
      level: 'ok',
      reason: 'other versions: 2',
    })
  })
})

test('the metrics of a node', async () => {
  node()
  node({ sessions: 4, leaseLeftMs: 500 })
  const observer = observe()
  events.nodeLeft.publish({ node: 'b', reason: 'expelled' })
  events.sessionAdopted.publish({ outcome: 'continued' })
  events.sessionsHandedOff.publish({ sessions: 5, remaining: 2, durationMs: 1 })
  events.sessionFenced.publish({ node: 'a' })
  events.engineChanged.publish({ engine: 'x', isUp: false, wasEmptied: false })
  events.engineChanged.publish({ engine: 'x', isUp: true, wasEmptied: true })
  const forwarded = { outcome: 'ok', attempts: 1, durationMs: 2 } as const
  events.requestForwarded.publish({ ...forwarded, isStream: false })
  events.requestForwarded.publish({ ...forwarded, isStream: true })
  const lines = observer.metricsText().split('\n')
  await observer.close()
  for (const line of [
    'nodes{path="/mcp",state="up"} 2',
    'nodes{path="/mcp",state="draining"} 1',
    'nodes_left_total{reason="expelled"} 1',
    'sessions{path="/mcp"} 7',
    'unsaved_sessions{path="/mcp"} 2',
    'forwarding{path="/mcp"} 4',
    'lease_seconds{path="/mcp"} 0.5',
    'engine_up{engine="redis://127.0.0.1"} 1',
    'engine_lost_total{engine="x"} 1',
    'engine_emptied_total{engine="x"} 1',
    'adopted_sessions_total{outcome="continued"} 1',
    'handed_off_sessions_total 3',
    'fenced_sessions_total 1',
    'forwarded_total{outcome="ok"} 2',
    'forward_duration_seconds_count 1',
  ]) {
    expect(lines).toContain(`trunkline_cluster_${line}`)
  }
})

test('the log lines of a node', async () => {
  const stream = new PassThrough({ encoding: 'utf8' })
  const observer = observe({ logs: { level: 'info', stream } })
  events.nodeJoined.publish({ node: 'b', address: 'tcp://127.0.0.1:2', version: '1' })
  events.nodeLeft.publish({ node: 'b', reason: 'drained' })
  events.nodeAdopted.publish({ from: 'b', sessions: 2, remaining: 0, durationMs: 7 })
  events.engineChanged.publish({ engine: 'redis://h', isUp: false, wasEmptied: false })
  await observer.close()
  const text = stream.read()
  for (const what of ['node joined', 'node left', 'sessions adopted', 'engine down']) {
    expect(text).toContain(what)
  }
})
