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
import type { Worker } from '../workers/worker.ts'
import { backplaneAt, clusterVariables } from './engine.ts'

/** The cluster that a command takes part in. */
export interface CliCluster extends AsyncDisposable {
  /** Keys that all nodes have and that are never rotated, for a program that reads its keys once. */
  readonly lastingKeys: readonly Uint8Array[]
  /** Resolves when an operator asks this node to drain. */
  readonly drainRequested: Promise<void>
  /** Returns the options of a listener that is a node of the cluster. */
  join(): { readonly backplane: Backplane; readonly cluster: ClusterOptions }
  /** Returns a plan whose router shares its sealing keys, its tasks and its rate limits with the other nodes. */
  share(plan: Plan): Plan
}

/**
 * Opens the engine that `--cluster`, or the environment, names; for a worker else the state that its parent holds.
 * Undefined if there is none of them. Throws a UsageError if it cannot be used, or does not answer.
 */
export async function clusterOf(
  invocation: Invocation,
  worker: Worker | undefined,
): Promise<CliCluster | undefined> {
  const { input, env, terminal } = invocation
  const name = nodeName(input.value('node'), worker)
  const address = input.value('cluster') ?? env[clusterVariables.engine]
  if (address === undefined || address === '') {
    return worker && workerCluster(worker, name)
  }
  const secret = env[clusterVariables.secret]
  const backplane = await backplaneAt(address, warning => terminal.note(warning.message))
  return joined(backplane, secret, () => ({
    ...(secret !== undefined && { secret }),
    ...(name !== undefined && { name }),
  }))
}

/** Opens the state that the parent of a worker holds. Throws a UsageError if it does not answer. */
export async function workerCluster(worker: Worker, name?: string): Promise<CliCluster> {
  const { parentBackplane } = await import('../../backplane/parent/parent.ts')
  return joined(parentBackplane(worker.parent), undefined, () => {
    const listen = worker.linkAddress()
    return { ...(name !== undefined && { name }), ...(listen !== undefined && { listen }) }
  })
}

async function joined(
  backplane: Backplane,
  secret: string | undefined,
  options: () => ClusterOptions,
): Promise<CliCluster> {
  try {
    await backplane.open()
    const shared = secret ?? (await sharedSecret(backplane.store))
    const keys = await sharedKeys(backplane, { secret: shared })
    const grantKeys = await lastingKeys(shared)
    const router = (own: RouterOptions): RouterOptions => ({
      keys,
      sharedRates: {
        take: buckets => backplane.rates.take(buckets),
        // A process is a node for each path that it serves.
        nodes: () => Math.max(1, ...clusterNodes().map(nodesAt)),
      },
      ...own,
      tasks: { store: sharedTasks(backplane), ...own.tasks },
    })
    const drain = deferred<void>()
    return {
      lastingKeys: grantKeys,
      drainRequested: drain.promise,
      share: plan => ({ grantKeys, ...plan, router: router(plan.router) }),
      join: () => ({ backplane, cluster: { onDrain: drain.resolve, ...options() } }),
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

/** Returns the name of a node, which differs between workers. */
function nodeName(name: string | undefined, worker: Worker | undefined): string | undefined {
  return name === undefined || worker === undefined ? name : `${name}-${worker.number}`
}
