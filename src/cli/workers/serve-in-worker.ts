import { listen } from '../../listen.ts'
import type { ListenOptions } from '../../listen-options.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import { tlsOf } from '../../serve-address.ts'
import type { Listener } from '../../transport/listener.ts'
import { aborted } from '../../util/promises.ts'
import type { CliCluster } from '../cluster/cluster-of.ts'
import { exitCodes, withUsageErrors } from '../exit.ts'
import type { Invocation } from '../invocation.ts'
import type { Worker } from './worker.ts'

/** What a worker serves, and how. */
export interface ServedInWorker {
  readonly endpoint: Endpoint & { close?(): Promise<void> }
  readonly addresses: readonly string[]
  readonly options: ListenOptions
  readonly cluster: CliCluster
  readonly worker: Worker
}

/** Serves an endpoint as a node of the cluster of all workers until this worker is stopped. Never returns. */
export async function serveInWorker(
  { input, terminal, env, signal }: Invocation,
  { endpoint, addresses, options, cluster, worker }: ServedInWorker,
): Promise<never> {
  const tls = await withUsageErrors(() => tlsOf(process.argv.slice(2), env))
  const listeners: Listener[] = []
  for (const address of addresses) {
    const how = { ...options, tls, ...cluster.join() }
    listeners.push(await withUsageErrors(() => listen(endpoint, address, how)))
  }
  process.on('SIGHUP', () => {
    for (const listener of listeners) void listener.reload?.()
  })
  if (await worker.ready()) {
    const bound = listeners.map(({ address }) => address)
    if (input.has('json')) terminal.json({ addresses: bound })
    for (const address of bound) terminal.error(`listening on ${address}`)
  }
  await aborted(signal)
  await Promise.all(listeners.map(listener => listener.close()))
  await endpoint.close?.()
  await cluster[Symbol.asyncDispose]()
  // The file may have started what would keep this process alive.
  process.exit(exitCodes.ok)
}
