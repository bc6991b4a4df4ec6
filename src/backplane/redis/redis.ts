import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Backplane } from '../backplane.ts'
import { closedError } from '../backplane-error.ts'
import { checkCluster } from '../input-checks.ts'
import { remoteBackplane } from '../remote/backplane.ts'
import { EngineLives } from '../remote/engine-lives.ts'
import { RedisBus } from './bus.ts'
import { RedisConnection } from './connection.ts'
import { redisEngine } from './engine.ts'
import { startedNewLife } from './engine-lives.ts'
import { engineChecks } from './engine-settings.ts'
import { redisKeys } from './keys.ts'
import { RedisLog } from './log.ts'
import { RedisMembership } from './membership.ts'
import { RedisRates } from './rates.ts'
import { type DialEngine, loadRedis } from './raw-connection.ts'
import { isHopeless } from './reply-errors.ts'
import { RedisStore } from './store.ts'
import { engineAddress } from './topology/address.ts'
import { routesTo } from './topology/routes.ts'

/** Options of `redis`. */
export interface RedisOptions {
  /** The name of the cluster; several clusters can share an engine. `trunkline` by default. */
  readonly cluster?: string
  /** Called with settings of the engine that endanger the data; ignored by default. */
  readonly onWarning?: (warning: Error) => void
  /** The clock of deadlines; the system's by default. */
  readonly clock?: Clock
}

const redisOptionTable: OptionTableOf<RedisOptions> = {
  cluster: 'string',
  onWarning: 'function',
  clock: 'object',
}

/**
 * Creates a backplane in Redis 7.0 or newer, or in Valkey, at a URL such as `redis://10.0.0.9:6379` or
 * `rediss://user:password@host:6380`. `redis-sentinel://a,b,c/NAME` is the primary that sentinels know by a name, and
 * `redis-cluster://a,b,c` is a Redis Cluster. It needs the package `@redis/client`, and uses three connections, in a
 * Redis Cluster two and one for each shard. Every operation settles within `engineMs`, whatever state the engine is in.
 */
export function redis(url: string, options: RedisOptions = {}): Backplane {
  return redisBackplane(url, options, loadRedis)
}

/** Creates a backplane with a given way to make connections. */
export function redisBackplane(
  url: string,
  options: RedisOptions,
  load: () => Promise<DialEngine>,
): Backplane {
  checkOptions(options, redisOptionTable)
  const { cluster = 'trunkline', onWarning, clock = systemClock } = options
  checkCluster(cluster)
  const address = engineAddress(url)
  const { name } = address
  const keys = redisKeys(cluster)
  let loaded: DialEngine | undefined
  const dial: DialEngine = (to, isSharded) => onLost => {
    if (loaded === undefined) throw closedError(name)
    return loaded(to, isSharded)(onLost)
  }
  const routes = routesTo(address, dial, clock, keys)

  return remoteBackplane(name, clock, ({ onUp, onDown, onProgress, onEmptied }) => {
    const { followsKeys } = routes
    const nothing = () => {}
    const shared = { name, clock, onDown: nothing, onFailedAttempt: onProgress }
    const lives = new EngineLives()
    const engineCheck = engineChecks(address, onWarning)
    const commands = routes.commands({
      ...shared,
      prepare: async (connection, key) => {
        await engineCheck(connection)
        if (await startedNewLife(lives, connection, key)) onEmptied()
      },
      onUp: () => {
        onUp()
        bus.onCommandsUp()
      },
      onDown,
    })
    const onHeartbeat = (born: string) => {
      if (lives.notice(keys.state, born)) onEmptied()
      for (const [connection, key] of commands.others) {
        // If it fails, the connection is replaced, or the next heartbeat checks again.
        startedNewLife(lives, connection, key).then(isNew => isNew && onEmptied(), nothing)
      }
    }
    const heartbeats = new RedisConnection({
      ...shared,
      open: routes.heartbeats,
      followsKeys,
      onUp: onProgress,
    })
    const subscriber: RedisConnection = new RedisConnection({
      ...shared,
      open: routes.subscriber,
      followsKeys,
      prepare: connection => bus.prepare(connection),
      onUp: () => {
        bus.onSubscriberUp()
        onProgress()
      },
    })
    const bus: RedisBus = new RedisBus({ ...routes, name, keys, clock, commands, subscriber })
    const engine = redisEngine(keys, commands, clock)
    return {
      connections: [commands, heartbeats, subscriber],
      load: async () => {
        loaded = await load()
      },
      isHopeless,
      close: () => bus.close(),
      membership: new RedisMembership(engine, heartbeats, onHeartbeat),
      store: new RedisStore(engine),
      log: new RedisLog(engine),
      bus,
      rates: new RedisRates(engine),
    }
  })
}
