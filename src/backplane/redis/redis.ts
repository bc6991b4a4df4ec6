import { limits } from '../../util/limits/limits.ts'
import { checkOptions, formatValue, type OptionTableOf } from '../../util/options.ts'
import { randomHex } from '../../util/random.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { withTimeout } from '../../util/time/sleep.ts'
import type { Backplane, BackplaneState } from '../backplane.ts'
import { BackplaneError, closedError } from '../backplane-error.ts'
import { RedisBus } from './bus.ts'
import { type PreparedConnection, RedisConnection } from './connection.ts'
import { redisEngine } from './engine.ts'
import { settingWarnings } from './engine-settings.ts'
import { redisKeys } from './keys.ts'
import { RedisLog } from './log.ts'
import { RedisMembership } from './membership.ts'
import { RedisRates } from './rates.ts'
import { loadRedis, type OpenRaw } from './raw-connection.ts'
import { textReply } from './replies.ts'
import { isPermissionError } from './reply-errors.ts'
import { RedisStore } from './store.ts'

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
 * `rediss://user:password@host:6380`. It needs the package `@redis/client`, and uses three connections. Every
 * operation settles within `engineMs`, whatever state the engine is in.
 */
export function redis(url: string, options: RedisOptions = {}): Backplane {
  return redisBackplane(url, options, () => loadRedis(url))
}

/** Creates a backplane with a given way to make connections. */
export function redisBackplane(
  url: string,
  options: RedisOptions,
  load: () => Promise<OpenRaw>,
): Backplane {
  checkOptions(options, redisOptionTable)
  const { cluster = 'trunkline', onWarning, clock = systemClock } = options
  if (!/^[\w.-]{1,64}$/.test(cluster)) {
    throw new TypeError(
      `option "cluster" must be 1 to 64 letters, digits or "_.-" (got ${formatValue(cluster)})`,
    )
  }
  const name = nameOf(url)
  const keys = redisKeys(cluster)
  const listeners = new Set<(state: BackplaneState) => void>()
  const waiting = new Set<() => void>()
  let open: OpenRaw | undefined
  let isClosed = false
  let born: string | undefined
  let wasEmptied = false
  let hasCheckedSettings = false

  const report = (state: BackplaneState) => {
    for (const listener of [...listeners]) listener(state)
  }
  const connect: OpenRaw = onLost => {
    if (open === undefined) throw closedError(name)
    return open(onLost)
  }
  const nothing = () => {}
  const wake = () => {
    for (const check of [...waiting]) check()
  }
  const shared = { name, clock, open: connect, onDown: nothing, onFailedAttempt: wake }

  const noticeBorn = (now: string) => {
    const isOther = born !== undefined && born !== now
    born = now
    return isOther
  }

  const commands = new RedisConnection({
    ...shared,
    prepare: async connection => {
      if (noticeBorn(await lifeOf(connection))) wasEmptied = true
      if (hasCheckedSettings || onWarning === undefined) return
      hasCheckedSettings = true
      for (const warning of settingWarnings(textReply(await connection.send(['INFO'])))) {
        onWarning(warning)
      }
    },
    onUp: () => {
      report({ isUp: true, wasEmptied })
      wasEmptied = false
      bus.onCommandsUp()
      wake()
    },
    onDown: () => report({ isUp: false, wasEmptied: false }),
  })
  const heartbeats = new RedisConnection({ ...shared, onUp: wake })
  const subscriber: RedisConnection = new RedisConnection({
    ...shared,
    prepare: connection => bus.prepare(connection),
    onUp: () => {
      bus.onSubscriberUp()
      wake()
    },
  })
  const bus: RedisBus = new RedisBus({ name, keys, clock, commands, subscriber })
  const engine = redisEngine(keys, commands, clock)
  const connections = [commands, heartbeats, subscriber]

  /** Another or no text: the engine was emptied and has started a new life. */
  async function lifeOf(connection: PreparedConnection): Promise<string> {
    // A full engine refuses this, and knows its text already or could not store anything anyway.
    await connection.send(['HSETNX', keys.state, 'born', randomHex(8)]).catch(error => {
      if (!(error instanceof BackplaneError && error.code === 'full')) throw error
    })
    return textReply((await connection.send(['HGET', keys.state, 'born'])) ?? 'full')
  }

  let starting: Promise<void> | undefined
  const start = async () => {
    open = await load()
    for (const connection of connections) void connection.start()
  }
  const isReady = () => isClosed || connections.every(connection => connection.isUp)
  const isRefused = () => connections.some(connection => isPermissionError(connection.lastError))

  const close = async () => {
    if (isClosed) return
    const wasUp = commands.isUp
    isClosed = true
    bus.close()
    for (const connection of connections) connection.close()
    if (wasUp) report({ isUp: false, wasEmptied: false })
    listeners.clear()
    wake()
  }

  return {
    name,
    isShared: true,
    get isUp() {
      return commands.isUp
    },
    onStateChange: listener => {
      const own = (state: BackplaneState) => listener(state)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    open: async () => {
      if (isClosed) throw closedError(name)
      starting ??= start()
      await starting
      await withTimeout(limits.engineOpenMs.default, clock, done => {
        const check = () => {
          if (!isReady() && !isRefused()) return
          waiting.delete(check)
          done()
        }
        waiting.add(check)
        check()
      })
      if (isClosed) throw closedError(name)
      if (isReady()) return
      const failed = connections.find(connection => !connection.isUp)
      const last = failed?.lastError
      const why = last instanceof Error ? last.message : 'no answer'
      throw new BackplaneError('down', `cannot connect to ${name}: ${why}`, { cause: last })
    },
    close,
    [Symbol.asyncDispose]: close,
    membership: new RedisMembership(engine, heartbeats, now => {
      if (noticeBorn(now)) report({ isUp: commands.isUp, wasEmptied: true })
    }),
    store: new RedisStore(engine),
    log: new RedisLog(engine),
    bus,
    rates: new RedisRates(engine),
  }
}

/** Returns the URL without credentials; throws if it is none of an engine. */
function nameOf(url: string): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol === 'redis:' || parsed?.protocol === 'rediss:') {
    return `${parsed.protocol}//${parsed.host}`
  }
  throw new TypeError(
    'the address of a backplane in Redis must start with redis:// or rediss:// (for example redis://127.0.0.1:6379)',
  )
}
