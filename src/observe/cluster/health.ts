import type { ClusterNodeHealth, HealthReport } from '../health/health.ts'
import { type ClusterNodeStatus, clusterNodes } from './nodes.ts'

/** Returns a report with the health of the nodes of this process added; unchanged if there are none. */
export function withClusterHealth(report: HealthReport): HealthReport {
  const cluster = clusterNodes().map(nodeHealth)
  if (cluster.length === 0) return report
  const degraded = cluster.find(({ level }) => level === 'degraded')
  if (degraded === undefined || report.level !== 'ok') return { ...report, cluster }
  return { ...report, level: 'degraded', reason: degraded.reason, cluster }
}

/**
 * Returns the health of a node. It is at worst degraded: calls without a session need neither the engine nor other
 * nodes, and one engine must not take all nodes out of a load balancer.
 */
function nodeHealth(status: ClusterNodeStatus): ClusterNodeHealth {
  const { name, path, sessions, peers } = status
  const nodes = 1 + peers.filter(peer => peer.path === path).length
  const reason = problemOf(status)
  if (reason !== undefined) return { level: 'degraded', reason, name, path, nodes, sessions }
  const others = new Set(peers.map(({ version }) => version).filter(v => v !== status.version))
  const note = others.size === 0 ? {} : { reason: `other versions: ${[...others].join(', ')}` }
  return { level: 'ok', ...note, name, path, nodes, sessions }
}

function problemOf({ mayAct, isEngineUp, engine }: ClusterNodeStatus): string | undefined {
  if (!mayAct) return `suspended: other nodes may have adopted its sessions (engine ${engine})`
  if (!isEngineUp)
    return `the engine ${engine} cannot be reached: sessions go on, and none can move`
  return undefined
}
