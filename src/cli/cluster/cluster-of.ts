import type { Backplane } from '../../backplane/backplane.ts'
import { lastingKeys, sharedKeys } from '../../cluster/keys.ts'
import type { ClusterOptions } from '../../cluster/options.ts'
import { sharedSecret } from '../../cluster/secret.ts'
import { sharedTasks } from '../../cluster/tasks/shared-tasks.ts'
import { type ClusterNodeStatus, clusterNodes } from '../../observe/cluster/nodes.ts'
import type { RouterOptions } from '../../router/options.ts'
import { deferred } from '../../util/promises.ts'
import { UsageError } from '../exit.ts'
import type { Invocation } from '../invocation.ts'
import type { Plan } from '../up/plan.ts'
import { backplaneAt, clusterVariables } from './engine.ts'

/** The cluster that a command takes part in. */
export interface CliCluster extends AsyncDisposable {
  readonly backplane: Backplane
  readonly options: ClusterOptions
  /** Resolves when an operator asks this node to drain. */
  readonly drainRequested: Promise<void>
  /** Returns a plan whose router shares its sealing keys, its tasks and its rate limits with the other nodes. */
  share(plan: Plan): Plan
}

/**
 * Opens the engine that `--cluster`, or the environment, names; undefined if none is named. Throws a UsageError if it
 * cannot be used, or does not answer.
 */
export async function clusterOf(invocation: Invocation): Promise<CliCluster | undefined> {
  const { input, env, terminal } = invocation
  const address = input.value('cluster') ?? env[clusterVariables.engine]
  if (address === undefined || address === '') return undefined
  const secret = env[clusterVariables.secret]
  const backplane = await backplaneAt(address, warning => terminal.note(warning.message))
  try {
    await backplane.open()
    const shared = secret ?? (await sharedSecret(backplane.store))
    const keys = await sharedKeys(backplane, { secret: shared })
    const grantKeys = await lastingKeys(shared)
    const name = input.value('node')
    const router = (options: RouterOptions): RouterOptions => ({
      keys,
      sharedRates: {
        take: buckets => backplane.rates.take(buckets),
        // A process is a node for each path that it serves.
        nodes: () => Math.max(1, ...clusterNodes().map(nodesAt)),
      },
      ...options,
      tasks: { store: sharedTasks(backplane), ...options.tasks },
    })
    const drain = deferred<void>()
    return {
      backplane,
      drainRequested: drain.promise,
      share: plan => ({ grantKeys, ...plan, router: router(plan.router) }),
      options: {
        onDrain: drain.resolve,
        ...(secret !== undefined && { secret }),
        ...(name !== undefined && { name }),
      },
      [Symbol.asyncDispose]: async () => {
        await keys.close()
        await backplane.close()
      },
    }
  } catch (error) {
    await backplane.close()
    const why = error instanceof Error ? error.message : String(error)
    throw new UsageError(`the engine of the cluster cannot be used: ${why}`, { cause: error })
  }
}

/** Returns the number of nodes that serve the same path as a node, that one included. */
function nodesAt({ path, peers }: ClusterNodeStatus): number {
  return 1 + peers.filter(peer => peer.path === path).length
}
