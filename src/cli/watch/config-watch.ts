import { ConfigError } from '../../router/config/issue.ts'
import { type ReadConfigOptions, type RouterConfig, readConfig } from '../../router/config/read.ts'
import { fileError, readConfigFile } from '../target/config-file.ts'
import { type FileText, FileWatch, type FileWatchOptions } from './file-watch.ts'

/** How a configuration file is watched. */
export interface ConfigWatchOptions
  extends Omit<ReadConfigOptions, 'file'>,
    Pick<FileWatchOptions, 'onError' | 'quietMs' | 'pollMs'> {
  /**
   * Told of every change: the configuration now, or why the file cannot be used, in which case what
   * held before still holds. It is not called again before it is done, and hears of the last state.
   */
  readonly onChange: (outcome: RouterConfig | ConfigError) => void | Promise<void>
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
  readonly #watch: FileWatch
  #config: RouterConfig | undefined

  constructor(path: string, options: ConfigWatchOptions) {
    const { onError, quietMs, pollMs } = options
    this.path = path
    this.#options = options
    this.#watch = new FileWatch(path, {
      read: () => readConfigFile(path),
      onChange: found => this.#take(found),
      onError,
      quietMs,
      pollMs,
    })
  }

  /** The last configuration that could be used. */
  get config(): RouterConfig {
    if (this.#config === undefined) throw new TypeError('the configuration has not been read')
    return this.#config
  }

  /** Watches and reads, in this order, so that no change falls in between. Called by `watchConfig`. */
  async open(): Promise<void> {
    const found = await this.#watch.open()
    if (found instanceof Error) throw found
    this.#config = this.#parse(found.text)
  }

  /** Looks whether the file has changed, as a signal may ask for. */
  check(): void {
    this.#watch.check()
  }

  /** Ends the watching. `onChange` is not called any more; a call under way is not waited for. */
  close(): Promise<void> {
    return this.#watch.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #take(found: FileText | Error): Promise<void> {
    const outcome = found instanceof Error ? asConfigError(found) : this.#read(found.text)
    if (!(outcome instanceof ConfigError)) this.#config = outcome
    await this.#options.onChange(outcome)
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
