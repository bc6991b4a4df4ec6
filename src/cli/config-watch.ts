import { type FSWatcher, watch } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type ReadConfigOptions, type RouterConfig, readConfig } from '../router/config.ts'
import { ConfigError } from '../router/config-issue.ts'
import { limits } from '../util/limits.ts'
import { type ConfigFile, fileError, readConfigFile } from './config-file.ts'

/** How a file is watched. */
export interface ConfigWatchOptions extends Omit<ReadConfigOptions, 'file'> {
  /**
   * Told of every change: the configuration now, or why the file cannot be used, in which case what
   * held before still holds. It is not called again before it is done, and hears of the last state.
   */
  readonly onChange: (outcome: RouterConfig | ConfigError) => void | Promise<void>
  /** Told what `onChange` threw. By default on stderr. */
  readonly onError?: (error: unknown) => void
  /** Time the file must stay the same; by default the limit `configQuietMs`. */
  readonly quietMs?: number
  /** For systems that cannot tell of changes: how often the file is looked at. */
  readonly pollMs?: number
}

/**
 * Reads a configuration file and watches it from then on. Rejects with a {@link ConfigError}, and
 * watches nothing, if the file cannot be used at first. Close what it returns.
 */
export async function watchConfig(path: string, options: ConfigWatchOptions): Promise<ConfigWatch> {
  const watching = new ConfigWatch(path, options)
  try {
    await watching.open()
    return watching
  } catch (error) {
    await watching.close()
    throw error
  }
}

/** A configuration file that is being watched. */
export class ConfigWatch {
  readonly path: string
  readonly #options: ConfigWatchOptions
  readonly #watchers = new Map<string, FSWatcher>()
  #config: RouterConfig | undefined
  /** What was acted on last, and what was read last, which may be half of what is being written. */
  #applied: Found | undefined
  #seen: Found | undefined
  #timer: NodeJS.Timeout | undefined
  #poll: NodeJS.Timeout | undefined
  #reading: Promise<Found> | undefined
  #isLooking = false
  #isStale = false
  #isClosed = false

  constructor(path: string, options: ConfigWatchOptions) {
    this.path = path
    this.#options = options
  }

  /** The last configuration that could be used. */
  get config(): RouterConfig {
    if (this.#config === undefined) throw new TypeError('the configuration has not been read')
    return this.#config
  }

  /** Watches and reads, in this order, so that no change falls in between. Called by `watchConfig`. */
  async open(): Promise<void> {
    await this.#watchFolders()
    const found = await readConfigFile(this.path)
    this.#config = this.#parse(found.text)
    this.#applied = found
    this.#seen = found
  }

  /** Looks whether the file has changed, as a signal may ask for. */
  check(): void {
    this.#isStale = true
    if (this.#timer !== undefined || this.#isLooking || this.#isClosed) return
    // Not moved by further events: a folder that is never quiet must not keep changes from us.
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#look()
    }, this.#options.quietMs ?? limits.configQuietMs.default)
  }

  /** Ends the watching. `onChange` is not called any more; a call under way is not waited for. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearInterval(this.#poll)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
    await this.#reading
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Watches where the file can change: beside it, and beside the file that a link stands for. */
  async #watchFolders(): Promise<void> {
    const path = resolve(this.path)
    const real = await realpath(path).catch(() => path)
    if (this.#isClosed) return
    const folders = new Set([dirname(path), dirname(real)])
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#watch(folder)
  }

  /**
   * Watches a folder rather than the file: editors put a new file into the place of the old one, and
   * the old one is all that a watch of the file would know. Names are not looked at, because the file
   * may change by way of another one, as links do.
   */
  #watch(folder: string): void {
    try {
      const watcher = watch(folder, () => this.check())
      watcher.on('error', () => this.#pollInstead())
      this.#watchers.set(folder, watcher)
    } catch {
      this.#pollInstead()
    }
  }

  #pollInstead(): void {
    if (this.#isClosed) return
    const { pollMs = limits.configPollMs.default } = this.#options
    this.#poll ??= setInterval(() => this.check(), pollMs)
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    this.#isStale = false
    this.#isLooking = true
    this.#reading = readConfigFile(this.path).catch(asConfigError)
    const found = await this.#reading
    const isQuiet = isAlike(found, this.#seen) && stampOf(found) === stampOf(this.#seen)
    this.#seen = found
    // Found twice before it counts, or half a file would be told as a broken one.
    if (!isQuiet) this.#isStale = true
    else if (!isAlike(found, this.#applied)) await this.#apply(found)
    this.#isLooking = false
    if (this.#isStale) this.check()
  }

  async #apply(found: Found): Promise<void> {
    this.#applied = found
    // A folder that went with the file takes the watch along, and another one may come.
    if (found instanceof ConfigError) this.#pollInstead()
    else await this.#watchFolders()
    const outcome = found instanceof ConfigError ? found : this.#read(found.text)
    if (this.#isClosed) return
    if (!(outcome instanceof ConfigError)) this.#config = outcome
    try {
      await this.#options.onChange(outcome)
    } catch (error) {
      const { onError = console.error } = this.#options
      onError(error)
    }
  }

  #parse(text: string): RouterConfig {
    const { env, mayBePublic } = this.#options
    return readConfig(text, { env, mayBePublic, file: this.path })
  }

  #read(text: string): RouterConfig | ConfigError {
    try {
      return this.#parse(text)
    } catch (error) {
      return asConfigError(error)
    }
  }
}

function asConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error
  return fileError('the file cannot be read', undefined, error)
}

/** What a look at the file gave. */
type Found = ConfigFile | ConfigError

/** Whether two looks at a file found the same: the same text, or the same failure. */
function isAlike(one: Found, other: Found | undefined): boolean {
  if (other === undefined) return false
  return contentOf(one) === contentOf(other) && one instanceof Error === other instanceof Error
}

function contentOf(found: Found): string {
  return found instanceof ConfigError ? found.message : found.text
}

function stampOf(found: Found | undefined): string {
  return found === undefined || found instanceof ConfigError ? '' : found.stamp
}
