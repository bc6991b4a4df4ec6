import { ConfigError } from '../../router/config/issue.ts'
import { type ReadConfigOptions, type RouterConfig, readConfig } from '../../router/config/read.ts'
import { fileError, readConfigFile } from '../target/config-file.ts'
import { type FileText, FileWatch, type FileWatchOptions } from './file-watch.ts'

/** Options of `watchConfig`. */
export interface ConfigWatchOptions
  extends Omit<ReadConfigOptions, 'file'>,
    Pick<FileWatchOptions, 'onError' | 'debounceMs' | 'pollMs'> {
  /**
   * Called after a change with the new configuration, or with the reason why the file is invalid; then the
   * previous configuration stays in effect. Calls do not overlap; the last one has the latest state.
   */
  readonly onChange: (outcome: RouterConfig | ConfigError) => void | Promise<void>
}

/**
 * Reads a configuration file and starts to watch it. Rejects with a {@link ConfigError}, and watches nothing, if
 * the file is invalid at first. The caller closes the returned watch.
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

/** A watched configuration file. */
export class ConfigWatch {
  readonly path: string
  readonly #options: ConfigWatchOptions
  readonly #watch: FileWatch
  #config: RouterConfig | undefined

  constructor(path: string, options: ConfigWatchOptions) {
    const { onError, debounceMs, pollMs } = options
    this.path = path
    this.#options = options
    this.#watch = new FileWatch(path, {
      read: () => readConfigFile(path),
      onChange: found => this.#apply(found),
      onError,
      debounceMs,
      pollMs,
    })
  }

  /** The latest valid configuration. */
  get config(): RouterConfig {
    if (this.#config === undefined) throw new TypeError('the configuration has not been read yet')
    return this.#config
  }

  /** Starts to watch and then reads, so that no change is missed. Called by `watchConfig`. */
  async open(): Promise<void> {
    const found = await this.#watch.open()
    if (found instanceof Error) throw found
    this.#config = this.#parse(found.text)
  }

  /** Checks now whether the file has changed, for example on SIGHUP. */
  check(): void {
    this.#watch.check()
  }

  /** Stops watching. `onChange` is not called any more; a call in progress is not awaited. */
  close(): Promise<void> {
    return this.#watch.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #apply(found: FileText | Error): Promise<void> {
    const outcome = found instanceof Error ? asConfigError(found) : this.#read(found.text)
    if (!(outcome instanceof ConfigError)) this.#config = outcome
    await this.#options.onChange(outcome)
  }

  #parse(text: string): RouterConfig {
    const { env, allowPublic } = this.#options
    return readConfig(text, { env, allowPublic, file: this.path })
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
  return fileError('cannot read the file', undefined, error)
}
