import type { ConfigInput } from '../../router/config/dialects/inputs.ts'
import { parserFor } from '../../router/config/formats/format.ts'
import { ConfigError } from '../../router/config/issue.ts'
import { type ReadConfigOptions, type RouterConfig, readConfig } from '../../router/config/read.ts'
import { fileError, readConfigFile } from '../target/config-file.ts'
import { placesOf } from '../target/places.ts'
import { type FileText, FileWatch, type FileWatchOptions } from './file-watch.ts'

/** Options of `watchConfig`. */
export interface ConfigWatchOptions
  extends Omit<ReadConfigOptions, 'file' | 'places' | 'inputs' | 'parse'>,
    Pick<FileWatchOptions, 'onError' | 'debounceMs' | 'pollMs'> {
  /**
   * Called after a change with the new configuration, or with the reason why the file is invalid; then the
   * previous configuration stays in effect. Calls do not overlap; the last one has the latest state.
   */
  readonly onChange: (outcome: RouterConfig | ConfigError) => void | Promise<void>
  /** Asks the user for inputs of the file; called at most once, before the file is used. */
  readonly ask?: (inputs: readonly ConfigInput[]) => Promise<ReadonlyMap<string, string>>
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
  /** The answers of the user. They are kept for later versions of the file. */
  #inputs: ReadonlyMap<string, string> = new Map()

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
    await this.#askInputs(found.text)
    this.#config = await this.#parse(found.text)
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
    const outcome = found instanceof Error ? asConfigError(found) : await this.#read(found.text)
    if (!(outcome instanceof ConfigError)) this.#config = outcome
    await this.#options.onChange(outcome)
  }

  async #askInputs(text: string): Promise<void> {
    const { ask } = this.#options
    if (ask === undefined) return
    const { missingInputs } = await this.#parse(text, true)
    if (missingInputs.length > 0) this.#inputs = await ask(missingInputs)
  }

  async #parse(text: string, tolerant = this.#options.tolerant): Promise<RouterConfig> {
    const { env, allowPublic, hasCallerTokens } = this.#options
    const allowed = { allowPublic, hasCallerTokens }
    const places = placesOf(this.path, env)
    const inputs = this.#inputs
    const parse = await parserFor(this.path, text)
    return readConfig(text, { env, ...allowed, tolerant, places, inputs, parse, file: this.path })
  }

  async #read(text: string): Promise<RouterConfig | ConfigError> {
    try {
      return await this.#parse(text)
    } catch (error) {
      return asConfigError(error)
    }
  }
}

function asConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error
  return fileError('cannot read the file', undefined, error)
}
