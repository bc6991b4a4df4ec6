import type { EngineServer } from '../../scripts/engine-server.js'
import { redisServer } from '../../scripts/redis-server.js'
import { eventually } from '../../src/testing/backplane/expectations.ts'
import { redisCommand } from './redis-command.ts'

/** A Redis Cluster with three primaries, the second of which has a replica. */
export interface RedisCluster {
  readonly primaries: readonly EngineServer[]
  readonly replica: EngineServer
  readonly url: string
  close(): Promise<void>
}

/** Starts a Redis Cluster. Nothing in it happens because of a time, except in hours. */
export async function redisCluster(): Promise<RedisCluster> {
  const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '3600000']
  const servers = await Promise.all([1, 2, 3, 4].map(() => redisServer(settings)))
  const close = async () => {
    await Promise.all(servers.map(server => server.close()))
  }
  try {
    return { ...(await join(servers)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function join(servers: readonly EngineServer[]): Promise<Omit<RedisCluster, 'close'>> {
  const [first, second, third, replica] = servers
  if (!first || !second || !third || !replica) throw new Error('four engines were started')
  const primaries = [first, second, third]
  const bounds = [0, 5000, 10_000, 16_384]
  for (const [at, { port }] of primaries.entries()) {
    const [from = 0, to = 0] = bounds.slice(at, at + 2)
    await redisCommand(port, 'CLUSTER', 'ADDSLOTSRANGE', `${from}`, `${to - 1}`)
    // Otherwise all begin with the same epoch, and resolve that later.
    await redisCommand(port, 'CLUSTER', 'SET-CONFIG-EPOCH', `${at + 1}`)
  }
  for (const { ports } of servers.slice(1)) {
    const [port, busPort] = ports
    await redisCommand(first.port, 'CLUSTER', 'MEET', '127.0.0.1', `${port}`, `${busPort}`)
  }
  const isComplete = async ({ port }: EngineServer) => {
    const info = String(await redisCommand(port, 'CLUSTER', 'INFO'))
    return /cluster_state:ok/.test(info) && /cluster_known_nodes:4/.test(info)
  }
  for (const server of servers) await eventually(() => isComplete(server))
  const id = String(await redisCommand(second.port, 'CLUSTER', 'MYID'))
  await redisCommand(replica.port, 'CLUSTER', 'REPLICATE', id)
  const isLinked = async () =>
    String(await redisCommand(replica.port, 'INFO')).includes('master_link_status:up')
  await eventually(isLinked)
  return {
    primaries,
    replica,
    url: `redis-cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
  }
}
