import { limits } from '../../../util/limits/limits.ts'
import { backoffMs } from '../../../util/time/backoff.ts'
import { type Sleep, sleep } from '../../../util/time/sleep.ts'
import { BackplaneError, closedError } from '../../backplane-error.ts'
import { RedisConnection } from '../connection.ts'
import type { DialEngine } from '../raw-connection.ts'
import { redirectionOf } from '../reply-errors.ts'
import type { ClusterMap } from './cluster-map.ts'
import type { CommandOptions, RedisCommands } from './commands.ts'

/** What the commands of a Redis Cluster need. */
export interface ShardedOptions extends CommandOptions {
  readonly map: ClusterMap
  readonly dial: DialEngine
  /** A key that is stored on the shard which heartbeats use. */
  readonly stateKey: string
}

/** How often a command follows keys that move to another engine. */
const maxRedirections = 3

/** Sends commands to the shards of a Redis Cluster. Each shard has a connection, which is replaced by itself. */
export class ShardedCommands implements RedisCommands {
  readonly #options: ShardedOptions
  readonly #shards = new Map<string, RedisConnection>()
  #wasUp = false
  #isClosed = false
  #pause: Sleep | undefined
  #lastError: unknown

  constructor(options: ShardedOptions) {
    this.#options = options
    options.map.onRefresh = () => this.#adapt()
  }

  get isUp(): boolean {
    const shards = [...this.#shards.values()]
    return shards.length > 0 && shards.every(shard => shard.isUp)
  }

  get lastError(): unknown {
    const failed = [...this.#shards.values()].find(shard => !shard.isUp)
    return failed?.lastError ?? this.#lastError
  }

  async start(): Promise<void> {
    for (let attempt = 0; !this.#isClosed && this.#shards.size === 0; attempt++) {
      if (await this.#refresh()) return
      this.#options.onFailedAttempt()
      const maxMs = limits.engineRetryMs.default
      this.#pause = sleep(
        backoffMs(attempt, { baseMs: 50, maxMs, jitter: 0.5 }),
        this.#options.clock,
      )
      await this.#pause.done
    }
  }

  close(): void {
    this.#isClosed = true
    this.#pause?.wake()
    for (const shard of this.#shards.values()) shard.close()
  }

  async send(
    key: string,
    args: readonly string[],
    timeoutMs: number = limits.engineMs.default,
  ): Promise<unknown> {
    const { clock, map, name } = this.#options
    const end = clock.now() + timeoutMs
    for (let redirections = 0; ; redirections++) {
      if (this.#isClosed) throw closedError(name)
      const shard = this.#shards.get(map.urlOf(key) ?? '')
      if (shard === undefined) throw this.#unknownShard()
      try {
        return await shard.send(args, Math.max(1, end - clock.now()))
      } catch (error) {
        // The engine has refused the command, so it can be sent to another one.
        const redirection = redirectionOf(error)
        if (redirection === undefined || redirections === maxRedirections) throw error
        if (redirection.isTemporary) {
          const target = this.#shards.get(map.urlAt(redirection.host, redirection.port))
          if (target === undefined) throw error
          target.send(['ASKING']).catch(() => {})
          return target.send(args, Math.max(1, end - clock.now()))
        }
        if (!(await this.#refresh())) throw error
      }
    }
  }

  getAll(keys: readonly string[]): Promise<readonly unknown[]> {
    return Promise.all(keys.map(key => this.send(key, ['GET', key])))
  }

  get others(): readonly (readonly [RedisConnection, string])[] {
    const { map, stateKey } = this.#options
    const first = map.urlOf(stateKey)
    return [...this.#shards]
      .filter(([url, shard]) => shard.isUp && url !== first)
      .map(([url, shard]) => [shard, this.#lifeKey(url)])
  }

  async #refresh(): Promise<boolean> {
    try {
      await this.#options.map.refresh()
      return true
    } catch (error) {
      this.#lastError = error
      return false
    }
  }

  /** Connects to the engines that have keys now, and closes connections to those that have none any more. */
  #adapt(): void {
    if (this.#isClosed) return
    const { map } = this.#options
    const urls = map.urls
    for (const [url, shard] of this.#shards) {
      if (urls.has(url)) continue
      this.#shards.delete(url)
      shard.close()
    }
    for (const url of urls) {
      if (this.#shards.has(url)) continue
      const shard = this.#connectionTo(url)
      this.#shards.set(url, shard)
      void shard.start()
    }
    this.#noticeState()
  }

  #connectionTo(url: string): RedisConnection {
    const { name, clock, dial, prepare, onFailedAttempt } = this.#options
    return new RedisConnection({
      name,
      clock,
      open: dial(url),
      prepare: connection => prepare(connection, this.#lifeKey(url)),
      onUp: () => this.#noticeState(),
      onDown: () => this.#noticeState(),
      onFailedAttempt: () => {
        // A replica may have taken over.
        void this.#refresh()
        onFailedAttempt()
      },
    })
  }

  #noticeState(): void {
    const { isUp } = this
    if (isUp === this.#wasUp) return
    this.#wasUp = isUp
    if (isUp) this.#options.onUp()
    else this.#options.onDown(this.lastError)
  }

  /** Returns the key that tells whether an engine was emptied: the first of a series that the engine has. */
  #lifeKey(url: string): string {
    const { map, stateKey } = this.#options
    for (let number = 0; ; number++) {
      const key = number === 0 ? stateKey : stateKey.replace('{m}', `{m${number}}`)
      if (map.urlOf(key) === url || !map.urls.has(url)) return key
    }
  }

  #unknownShard(): BackplaneError {
    const { name } = this.#options
    const why = this.#lastError instanceof Error ? `: ${this.#lastError.message}` : ''
    return new BackplaneError('down', `no engine of ${name} is known for the key${why}`, {
      cause: this.#lastError,
    })
  }
}
