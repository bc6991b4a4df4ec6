import {
  type ClusterNodeStatus,
  type ClusterPeer,
  clusterNodes,
} from '../../observe/cluster/nodes.ts'
import type { NodeRow, NodesAnswer } from '../wire-nodes.ts'

/** Returns the nodes of the cluster that this process is part of: its own first, then the others by name. */
export function nodesAnswer(): NodesAnswer {
  const own = clusterNodes()
  const [first] = own
  if (first === undefined) return { nodes: [] }
  const ownAddresses = new Set(own.map(({ address }) => address))
  const others = new Map(
    own
      .flatMap(({ peers }) => peers)
      .filter(({ address }) => !ownAddresses.has(address))
      .map(peer => [peer.address, peer]),
  )
  const byName = [...others.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  return {
    engine: { name: first.engine, isUp: first.isEngineUp },
    nodes: [...own.map(ownRow), ...byName.map(row)],
  }
}

function row({ name, address, path, version, state, startedAt }: ClusterPeer): NodeRow {
  return { name, address, path, version, state, startedAt: Date.parse(startedAt) }
}

function ownRow(status: ClusterNodeStatus): NodeRow {
  const { mayAct, leaseLeftMs, sessions, unsavedSessions, forwarding } = status
  return {
    ...row(status),
    own: { mayAct, leaseLeftMs, sessions, unsavedSessions, forwarding },
  }
}
