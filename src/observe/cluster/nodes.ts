/** A node of a cluster, as another one knows it. */
export interface ClusterPeer {
  /** Its name for people. */
  readonly name: string
  /** The address at which other nodes reach it. */
  readonly address: string
  /** The path at which it serves sessions. */
  readonly path: string
  /** Its version of this package. */
  readonly version: string
  /** Whether it takes new sessions. */
  readonly state: 'up' | 'draining'
  /** When it started, as an ISO 8601 date. */
  readonly startedAt: string
}

/** What a node of a cluster reports about itself. */
export interface ClusterNodeStatus extends ClusterPeer {
  /** The engine, without a password. */
  readonly engine: string
  /** Whether the engine can be reached. */
  readonly isEngineUp: boolean
  /** Whether it may act for its sessions: not if another node may have adopted them. */
  readonly mayAct: boolean
  /** The remaining time of its lease, in milliseconds. */
  readonly leaseLeftMs: number
  /** The number of sessions that it owns. */
  readonly sessions: number
  /** The number of sessions with changes that the engine does not have yet. */
  readonly unsavedSessions: number
  /** The requests that other nodes are serving for it. */
  readonly forwarding: number
  /** The other nodes. */
  readonly peers: readonly ClusterPeer[]
}

/** A node of this process. */
export interface ClusterNodeSource {
  /** Returns what the node reports at present. */
  status(): ClusterNodeStatus
}

const sources = new Set<ClusterNodeSource>()

/** Adds a node of this process. Returns a function that removes it. */
export function addClusterNode(source: ClusterNodeSource): () => void {
  sources.add(source)
  return () => void sources.delete(source)
}

/** Returns what the nodes of this process report: one for each address with a backplane. */
export function clusterNodes(): readonly ClusterNodeStatus[] {
  return Array.from(sources, source => source.status())
}
