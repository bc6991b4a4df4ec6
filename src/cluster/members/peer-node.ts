import type { ClusterPeer } from '../../observe/cluster/nodes.ts'
import { isRecord } from '../../util/objects.ts'

/** A node of the cluster. */
export interface PeerNode extends ClusterPeer {
  /** Identifies the process: a restart is a new node. */
  readonly node: string
}

/** Returns the text of a heartbeat: what a node tells the others about itself. */
export function factsText(facts: ClusterPeer): string {
  return JSON.stringify(facts)
}

/** Reads the text of a heartbeat; undefined if it is not that of a node of this software. */
export function readPeerNode(node: string, text: string): PeerNode | undefined {
  let facts: unknown
  try {
    facts = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(facts)) return undefined
  const { name, address, path, version, state, startedAt } = facts
  if (typeof name !== 'string' || typeof address !== 'string') return undefined
  if (typeof path !== 'string') return undefined
  return {
    node,
    name,
    address,
    path,
    version: String(version),
    state: state === 'draining' ? 'draining' : 'up',
    startedAt: String(startedAt),
  }
}
