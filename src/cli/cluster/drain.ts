import type { Backplane } from '../../backplane/backplane.ts'
import { requestDrain } from '../../cluster/drain-requests.ts'
import { limits } from '../../util/limits/limits.ts'
import { sleep } from '../../util/time/sleep.ts'
import { UsageError } from '../exit.ts'
import { nodesOf } from './nodes.ts'

/**
 * Asks all nodes of a name to drain: a process has one for each address that it serves. Resolves to whether they have
 * left the cluster within `nodeDrainMs`. Throws a UsageError if there is no such node.
 */
export async function drainNode(
  backplane: Backplane,
  name: string,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<boolean> {
  const all = await nodesOf(backplane)
  const asked = all.filter(each => each.name === name)
  if (asked.length === 0) {
    const names = [...new Set(all.map(each => each.name))]
    const known = names.length === 0 ? 'the cluster has no node' : `nodes: ${names.join(', ')}`
    throw new UsageError(`there is no node "${name}"; ${known}`)
  }
  const sessions = asked.reduce((sum, each) => sum + each.sessions, 0)
  note(`${name} drains, with ${sessions} ${sessions === 1 ? 'session' : 'sessions'}`)
  const ids = new Set(asked.map(({ node }) => node))
  const started = performance.now()
  while (performance.now() - started < limits.nodeDrainMs.default && !signal.aborted) {
    const present = (await nodesOf(backplane)).filter(({ node }) => ids.has(node))
    if (present.length === 0) {
      note(`${name} has left`)
      return true
    }
    // Again, because a message can get lost. A node that drains ignores it.
    for (const { node } of present) requestDrain(backplane.bus, node)
    await sleep(limits.nodeDrainPollMs.default).done
  }
  note(`${name} has not left yet`)
  return false
}
