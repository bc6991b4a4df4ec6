import { isRecord } from '../../util/objects.ts'

/** What a node tells the others about itself with each heartbeat. */
export interface NodeFacts {
  /** A name for people. */
  readonly name: string
  /** The address of its links. */
  readonly address: string
  /** The path at which it serves sessions. Only nodes with the same path can continue them. */
  readonly path: string
  /** The version of Trunkline. */
  readonly version: string
  /** A node that drains takes no new sessions. */
  readonly state: 'up' | 'draining'
  /** When it started, as an ISO 8601 date. */
  readonly startedAt: string
}

/** A node of the cluster. */
export interface PeerNode extends NodeFacts {
  /** Identifies the process: a restart is a new node. */
  readonly node: string
}

/** Returns the text of a heartbeat. */
export function factsText(facts: NodeFacts): string {
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
