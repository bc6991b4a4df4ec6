import { limits } from '../../util/limits/limits.ts'
import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { withTimeout } from '../../util/time/sleep.ts'
import type { Backplane } from '../backplane.ts'
import { BackplaneError, closedError } from '../backplane-error.ts'
import { checkedParts } from '../checked-parts.ts'
import { checkCluster } from '../input-checks.ts'
import { StateListeners } from '../state-listeners.ts'
import { RedisBus } from './bus.ts'
import { RedisConnection } from './connection.ts'
import { redisEngine } from './engine.ts'
import { EngineLives } from './engine-lives.ts'
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
  const listeners = new StateListeners()
  const waiting = new Set<() => void>()
  let loaded: DialEngine | undefined
  let isClosed = false
  let wasEmptied = false

  const dial: DialEngine = (to, isSharded) => onLost => {
    if (loaded === undefined) throw closedError(name)
    return loaded(to, isSharded)(onLost)
  }
  const routes = routesTo(address, dial, clock, keys)
  const nothing = () => {}
  const wake = () => {
    for (const check of [...waiting]) check()
  }
  const { followsKeys } = routes
  const shared = { name, clock, onDown: nothing, onFailedAttempt: wake }

  const lives = new EngineLives()
  const engineCheck = engineChecks(address, onWarning)
  const commands = routes.commands({
    ...shared,
    prepare: async (connection, key) => {
      await engineCheck(connection)
      if (await lives.isOther(connection, key)) wasEmptied = true
    },
    onUp: () => {
      listeners.report({ isUp: true, wasEmptied })
      wasEmptied = false
      bus.onCommandsUp()
      wake()
    },
    onDown: () => listeners.report({ isUp: false, wasEmptied: false }),
  })
  const reportEmptied = () => listeners.report({ isUp: commands.isUp, wasEmptied: true })
  const onHeartbeat = (born: string) => {
    if (lives.notice(keys.state, born)) reportEmptied()
    for (const [connection, key] of commands.others) {
      // If it fails, the connection is replaced, or the next heartbeat checks again.
      lives.isOther(connection, key).then(isOther => isOther && reportEmptied(), nothing)
    }
  }
  const heartbeats = new RedisConnection({
    ...shared,
    open: routes.heartbeats,
    followsKeys,
    onUp: wake,
  })
  const subscriber: RedisConnection = new RedisConnection({
    ...shared,
    open: routes.subscriber,
    followsKeys,
    prepare: connection => bus.prepare(connection),
    onUp: () => {
      bus.onSubscriberUp()
      wake()
    },
  })
  const bus: RedisBus = new RedisBus({ ...routes, name, keys, clock, commands, subscriber })
  const engine = redisEngine(keys, commands, clock)
  const connections = [commands, heartbeats, subscriber]

  let starting: Promise<void> | undefined
  const start = async () => {
    loaded = await load()
    for (const connection of connections) void connection.start()
  }
  const isReady = () => isClosed || connections.every(connection => connection.isUp)
  const errors = () => connections.filter(({ isUp }) => !isUp).map(({ lastError }) => lastError)

  const close = async () => {
    if (isClosed) return
    const wasUp = commands.isUp
    isClosed = true
    bus.close()
    for (const connection of connections) connection.close()
    if (wasUp) listeners.report({ isUp: false, wasEmptied: false })
    listeners.clear()
    wake()
  }

  return {
    name,
    isShared: true,
    get isUp() {
      return commands.isUp
    },
    onStateChange: listener => listeners.add(listener),
    open: async () => {
      if (isClosed) throw closedError(name)
      starting ??= start()
      await starting
      await withTimeout(limits.engineOpenMs.default, clock, done => {
        const check = () => {
          if (!isReady() && !errors().some(isHopeless)) return
          waiting.delete(check)
          done()
        }
        waiting.add(check)
        check()
      })
      if (isClosed) throw closedError(name)
      if (isReady()) return
      const last = errors().find(isHopeless) ?? errors().find(error => error !== undefined)
      const why = last instanceof Error ? last.message : 'no answer'
      throw new BackplaneError('down', `cannot connect to ${name}: ${why}`, { cause: last })
    },
    close,
    [Symbol.asyncDispose]: close,
    ...checkedParts({
      membership: new RedisMembership(engine, heartbeats, onHeartbeat),
      store: new RedisStore(engine),
      log: new RedisLog(engine),
      bus,
      rates: new RedisRates(engine),
    }),
  }
}
