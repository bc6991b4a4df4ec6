import type { Backplane } from '../../backplane/backplane.ts'
import { type PeerNode, readPeerNode } from '../../cluster/members/peer-node.ts'
import { newNodeId } from '../../cluster/sessions/session-ids.ts'
import { ownedSetOf } from '../../cluster/sessions/stored-session.ts'
import { exitCodes, UsageError } from '../exit.ts'
import type { Run } from '../invocation.ts'
import { backplaneAt, clusterVariables } from './engine.ts'

/** `trunkline cluster`: lists the nodes of a cluster. */
export const run: Run = async ({ input, env, terminal }) => {
  const address = input.operands[0] ?? env[clusterVariables.engine]
  if (address === undefined || address === '') {
    throw new UsageError(
      `expected the engine of the cluster, such as redis://127.0.0.1:6379, or ${clusterVariables.engine}`,
    )
  }
  const backplane = await backplaneAt(address, warning => terminal.note(warning.message))
  try {
    await backplane.open()
    const nodes = await nodesOf(backplane)
    if (input.has('json')) terminal.json({ engine: backplane.name, nodes })
    else if (nodes.length === 0) terminal.line(`${backplane.name}: no node`)
    else for (const line of tableOf(nodes)) terminal.line(line)
    return exitCodes.ok
  } finally {
    await backplane.close()
  }
}

/** A node, and how many sessions it has. */
interface ListedNode extends PeerNode {
  readonly sessions: number
}

async function nodesOf({ membership, store }: Backplane): Promise<readonly ListedNode[]> {
  // Only members see members. The others ignore this one, because its heartbeat names no address.
  const own = newNodeId()
  const { changed } = await membership.heartbeat(own, '{}', observerLeaseMs, 0)
  await membership.leave(own)
  const members = changed.flatMap(({ node, facts, isAlive }) => {
    const member = isAlive ? readPeerNode(node, facts) : undefined
    return member === undefined ? [] : [member]
  })
  return Promise.all(
    members.map(async member => {
      let sessions = 0
      for await (const page of store.names(ownedSetOf(member.node))) sessions += page.length
      return { ...member, sessions }
    }),
  )
}

const observerLeaseMs = 1000

function tableOf(nodes: readonly ListedNode[]): readonly string[] {
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
