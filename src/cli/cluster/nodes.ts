import type { Backplane } from '../../backplane/backplane.ts'
import { type PeerNode, readPeerNode } from '../../cluster/members/peer-node.ts'
import { newNodeId } from '../../cluster/sessions/session-ids.ts'
import { ownedSetOf } from '../../cluster/sessions/stored-session.ts'

/** A node, and how many sessions it has. */
export interface ListedNode extends PeerNode {
  readonly sessions: number
}

/** Returns the nodes of a cluster, by name. */
export async function nodesOf({ membership, store }: Backplane): Promise<readonly ListedNode[]> {
  // Only members see members. The others ignore this one, because its heartbeat names no address.
  const own = newNodeId()
  const { changed } = await membership.heartbeat(own, '{}', observerLeaseMs, 0)
  await membership.leave(own)
  const members = changed.flatMap(({ node, facts, isAlive }) => {
    const member = isAlive ? readPeerNode(node, facts) : undefined
    return member === undefined ? [] : [member]
  })
  const byName = members.sort((a, b) => (a.name < b.name ? -1 : 1))
  return Promise.all(
    byName.map(async member => {
      let sessions = 0
      for await (const page of store.names(ownedSetOf(member.node))) sessions += page.length
      return { ...member, sessions }
    }),
  )
}

const observerLeaseMs = 1000

/** Returns the lines of a table of nodes. */
export function nodeTable(nodes: readonly ListedNode[]): readonly string[] {
  const rows = [
    ['NAME', 'STATE', 'SESSIONS', 'VERSION', 'STARTED', 'ADDRESS'],
    ...nodes.map(({ name, state, sessions, version, startedAt, address }) => [
      ...[name, state, String(sessions), version, startedAt, address],
    ]),
  ]
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map(row => row[column]?.length ?? 0)),
  )
  return rows.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
