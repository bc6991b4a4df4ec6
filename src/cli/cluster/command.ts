import type { Backplane } from '../../backplane/backplane.ts'
import { sharedKeys } from '../../cluster/keys.ts'
import { exitCodes, UsageError } from '../exit.ts'
import type { Invocation, Run } from '../invocation.ts'
import { drainNode } from './drain.ts'
import { backplaneAt, clusterVariables } from './engine.ts'
import { nodesOf, nodeTable } from './nodes.ts'

/** `trunkline cluster`: lists the nodes of a cluster, drains one, or rotates its keys. */
export const run: Run = async invocation => {
  const { input, env, terminal } = invocation
  const { engine, action } = requested(input.operands)
  const address = engine ?? env[clusterVariables.engine]
  if (address === undefined || address === '') {
    throw new UsageError(
      `expected the engine of the cluster, such as redis://127.0.0.1:6379, or ${clusterVariables.engine}`,
    )
  }
  const backplane = await backplaneAt(address, warning => terminal.note(warning.message))
  try {
    await backplane.open()
    return await action(backplane, invocation)
  } finally {
    await backplane.close()
  }
}

/** What to do with a cluster. Resolves to the exit code. */
type ClusterAction = (backplane: Backplane, invocation: Invocation) => Promise<number>

const list: ClusterAction = async (backplane, { input, terminal }) => {
  const nodes = await nodesOf(backplane)
  if (input.has('json')) terminal.json({ engine: backplane.name, nodes })
  else if (nodes.length === 0) terminal.line(`${backplane.name}: no node`)
  else for (const line of nodeTable(nodes)) terminal.line(line)
  return exitCodes.ok
}

function drain(node: string): ClusterAction {
  return async (backplane, { input, terminal, signal }) => {
    const hasLeft = await drainNode(backplane, node, signal, text => terminal.note(text))
    if (input.has('json')) terminal.json({ node, hasLeft })
    return hasLeft ? exitCodes.ok : exitCodes.timeout
  }
}

const rotateKeys: ClusterAction = async (backplane, { input, env, terminal }) => {
  // Only the generation is stored: the secret does not matter here.
  const keys = await sharedKeys(backplane, { secret: env[clusterVariables.secret] })
  try {
    await keys.rotate()
    const { generation } = keys
    if (input.has('json')) terminal.json({ generation })
    else
      terminal.line(
        `the nodes seal with key ${generation} now, and still open what the key before has sealed`,
      )
    return exitCodes.ok
  } finally {
    await keys.close()
  }
}

/** Reads `[ENGINE] [drain NODE | keys rotate]`. The engine may stand in the environment instead. */
function requested(operands: readonly string[]): {
  readonly engine: string | undefined
  readonly action: ClusterAction
} {
  const at = operands[0] === 'drain' || operands[0] === 'keys' ? 0 : 1
  const engine = at === 0 ? undefined : operands[0]
  const [action, ...args] = operands.slice(at)
  const [first, ...more] = args
  switch (action) {
    case undefined:
      return { engine, action: list }
    case 'drain':
      if (first === undefined || more.length > 0) {
        throw new UsageError('expected the name of one node: cluster ENGINE drain NODE')
      }
      return { engine, action: drain(first) }
    case 'keys':
      if (first !== 'rotate' || more.length > 0) {
        throw new UsageError('expected: cluster ENGINE keys rotate')
      }
      return { engine, action: rotateKeys }
    default:
      throw new UsageError(
        `"${action}" is no action of a cluster; expected "drain NODE" or "keys rotate"`,
      )
  }
}
