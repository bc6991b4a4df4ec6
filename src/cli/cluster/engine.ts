import type { Backplane } from '../../backplane/backplane.ts'
import { UsageError } from '../exit.ts'

/** Environment variables of a cluster, for what no process list should show. */
export const clusterVariables = {
  engine: 'TRUNKLINE_CLUSTER',
  secret: 'TRUNKLINE_CLUSTER_SECRET',
} as const

/**
 * Creates the backplane that an address names: `redis://host:6379`, `rediss:`, `redis-sentinel:`, `redis-cluster:`, `nats:` or
 * `sqlite:FILE`. Throws a UsageError for any other address, and one that names the missing package or Node version.
 */
export async function backplaneAt(
  address: string,
  onWarning: (warning: Error) => void,
): Promise<Backplane> {
  const [scheme = ''] = address.split(':', 1)
  try {
    if (scheme === 'sqlite') {
      const { sqlite } = await import('../../backplane/sqlite/sqlite.ts')
      return sqlite(address.slice('sqlite:'.length), { onWarning })
    }
    if (natsSchemes.has(scheme)) {
      const { nats } = await import('../../backplane/nats/nats.ts')
      return nats(address, { onWarning })
    }
    if (redisSchemes.has(scheme)) {
      const { redis } = await import('../../backplane/redis/redis.ts')
      return redis(address, { onWarning })
    }
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error })
    throw error
  }
  const forms = [...redisSchemes, ...natsSchemes].map(each => `${each}://`).join(', ')
  throw new UsageError(
    `the engine of a cluster must begin with ${forms} or sqlite: (got "${withoutPassword(address)}")`,
  )
}

const natsSchemes: ReadonlySet<string> = new Set(['nats', 'tls'])

const redisSchemes: ReadonlySet<string> = new Set([
  'redis',
  'rediss',
  'redis-sentinel',
  'redis-cluster',
])

/** Returns an address as it may be printed. */
function withoutPassword(address: string): string {
  return address.replace(/\/\/[^@/]*@/, '//…@')
}
