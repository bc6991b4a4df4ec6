// The types of the page "Nodes". The page imports these types and nothing else of this folder.

/** A node of the cluster, as this process knows it. */
export interface NodeRow {
  readonly name: string
  /** The address at which other nodes reach it. */
  readonly address: string
  /** The path at which it serves sessions. */
  readonly path: string
  readonly version: string
  readonly state: 'up' | 'draining'
  /** When it started, in milliseconds since 1970. */
  readonly startedAt: number
  /** What only the own nodes of this process know. */
  readonly own?: OwnNode | undefined
}

/** What a node of this process knows of itself. */
export interface OwnNode {
  /** Whether it may act for its sessions: not if another node may have adopted them. */
  readonly mayAct: boolean
  readonly leaseLeftMs: number
  readonly sessions: number
  /** Sessions with changes that the engine does not have yet. */
  readonly unsavedSessions: number
  /** Requests and streams that other nodes are serving for it. */
  readonly forwarding: number
}

/** The answer of `api/nodes`. */
export interface NodesAnswer {
  /** Absent if this process is no node of a cluster. */
  readonly engine?: { readonly name: string; readonly isUp: boolean } | undefined
  readonly nodes: readonly NodeRow[]
}
