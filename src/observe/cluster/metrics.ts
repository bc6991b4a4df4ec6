import { events } from '../events.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { MetricFamilies } from '../metrics/table.ts'
import { type ClusterNodeStatus, clusterNodes } from './nodes.ts'

/** Updates the metrics of clusters. Returns functions that stop it. */
export function collectCluster(
  registry: MetricRegistry,
  { number, histogram }: MetricFamilies,
): (() => void)[] {
  registry.onScrape(() => measureNodes({ number, histogram }))
  const count = (name: Parameters<MetricFamilies['number']>[0], ...labels: string[]): void => {
    number(name).at(...labels).value += 1
  }
  return [
    events.nodeLeft.subscribe(({ reason }) => count('trunkline_cluster_nodes_left_total', reason)),
    events.sessionAdopted.subscribe(({ outcome }) => {
      count('trunkline_cluster_adopted_sessions_total', outcome)
    }),
    events.sessionsHandedOff.subscribe(({ sessions, remaining }) => {
      number('trunkline_cluster_handed_off_sessions_total').at().value += sessions - remaining
    }),
    events.sessionFenced.subscribe(() => count('trunkline_cluster_fenced_sessions_total')),
    events.engineChanged.subscribe(({ engine, wasEmptied, isUp }) => {
      if (!isUp) count('trunkline_cluster_engine_lost_total', engine)
      if (wasEmptied) count('trunkline_cluster_engine_emptied_total', engine)
    }),
    events.requestForwarded.subscribe(({ outcome, isStream, durationMs }) => {
      count('trunkline_cluster_forwarded_total', outcome)
      if (!isStream && outcome === 'ok') {
        histogram('trunkline_cluster_forward_duration_seconds')
          .at()
          .observe(durationMs / 1000)
      }
    }),
  ]
}

/** Reads the gauges of the nodes of this process. Several of them may serve the same path, at several addresses. */
function measureNodes({ number }: MetricFamilies): void {
  const statuses = clusterNodes()
  for (const path of new Set(statuses.map(status => status.path))) {
    const own = statuses.filter(status => status.path === path)
    const [first] = own
    if (first === undefined) continue
    const sum = (figure: (status: ClusterNodeStatus) => number): number =>
      own.reduce((total, status) => total + figure(status), 0)
    const nodes = [first, ...first.peers.filter(peer => peer.path === path)]
    for (const state of ['up', 'draining'] as const) {
      const { length } = nodes.filter(node => node.state === state)
      number('trunkline_cluster_nodes').at(path, state).value = length
    }
    number('trunkline_cluster_sessions').at(path).value = sum(({ sessions }) => sessions)
    number('trunkline_cluster_unsaved_sessions').at(path).value = sum(one => one.unsavedSessions)
    number('trunkline_cluster_forwarding').at(path).value = sum(({ forwarding }) => forwarding)
    const left = Math.min(...own.map(({ leaseLeftMs }) => leaseLeftMs))
    number('trunkline_cluster_lease_seconds').at(path).value = left / 1000
    const { engine, isEngineUp } = first
    number('trunkline_cluster_engine_up').at(engine).value = isEngineUp ? 1 : 0
  }
}
