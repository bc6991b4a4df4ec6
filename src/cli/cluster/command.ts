import { exitCodes, UsageError } from '../exit.ts'
import type { Run } from '../invocation.ts'
import { drainNode } from './drain.ts'
import { backplaneAt, clusterVariables } from './engine.ts'
import { nodesOf, nodeTable } from './nodes.ts'

/** `trunkline cluster`: lists the nodes of a cluster, or drains one. */
export const run: Run = async ({ input, env, terminal, signal }) => {
  const { engine, node } = requested(input.operands)
  const address = engine ?? env[clusterVariables.engine]
  if (address === undefined || address === '') {
    throw new UsageError(
      `expected the engine of the cluster, such as redis://127.0.0.1:6379, or ${clusterVariables.engine}`,
    )
  }
  const backplane = await backplaneAt(address, warning => terminal.note(warning.message))
  try {
    await backplane.open()
    if (node !== undefined) {
      const hasLeft = await drainNode(backplane, node, signal, text => terminal.note(text))
      if (input.has('json')) terminal.json({ node, hasLeft })
      return hasLeft ? exitCodes.ok : exitCodes.timeout
    }
    const nodes = await nodesOf(backplane)
    if (input.has('json')) terminal.json({ engine: backplane.name, nodes })
    else if (nodes.length === 0) terminal.line(`${backplane.name}: no node`)
    else for (const line of nodeTable(nodes)) terminal.line(line)
    return exitCodes.ok
  } finally {
    await backplane.close()
  }
}

/** Reads `[ENGINE] [drain NODE]`. The engine may stand in the environment instead. */
function requested(operands: readonly string[]): {
  readonly engine: string | undefined
  readonly node: string | undefined
} {
  const at = operands.indexOf('drain')
  if (at === -1) {
    const [engine, action] = operands
    if (action === undefined) return { engine, node: undefined }
    throw new UsageError(`"${action}" is no action of a cluster; the only one is "drain NODE"`)
  }
  const node = operands[at + 1]
  if (node === undefined)
    throw new UsageError('missing name of the node: cluster ENGINE drain NODE')
  if (at > 1 || operands.length > at + 2) {
    throw new UsageError('expected one node: cluster ENGINE drain NODE')
  }
  return { engine: at === 0 ? undefined : operands[0], node }
}
