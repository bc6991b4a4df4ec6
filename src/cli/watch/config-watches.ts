import { ConfigError } from '../../router/config/issue.ts'
import type { RouterConfig } from '../../router/config/read.ts'
import { mergeConfigs } from '../hosts/merge.ts'
import { type ConfigWatch, type ConfigWatchOptions, watchConfig } from './config-watch.ts'

/** The configuration of one or several files that are watched together. */
export interface ConfigWatches extends AsyncDisposable {
  /** The latest valid configuration of all files. */
  readonly config: RouterConfig
  /** Checks now whether a file has changed. */
  check(): void
  close(): Promise<void>
}

/**
 * Reads several configuration files as one and starts to watch them. Rejects with a {@link ConfigError}, and watches
 * nothing, if one of them is invalid. The caller closes the returned object.
 */
export async function watchConfigs(
  paths: readonly [string, ...string[]],
  options: ConfigWatchOptions,
): Promise<ConfigWatches> {
  const [first, ...others] = paths
  if (others.length === 0) return watchConfig(first, options)
  const watches: ConfigWatch[] = []
  let merged: RouterConfig | undefined
  const merge = (): RouterConfig => {
    const [one, ...rest] = watches.map(({ config }) => config)
    if (one === undefined) throw new TypeError('the configuration has not been read yet')
    return mergeConfigs([one, ...rest])
  }
  const close = async (): Promise<void> => {
    await Promise.all(watches.map(watch => watch.close()))
  }
  // Changes of several files must not be applied at the same time.
  let applied: Promise<void> = Promise.resolve()
  const onChange = (outcome: RouterConfig | ConfigError): Promise<void> => {
    applied = applied.then(() => {
      if (outcome instanceof ConfigError) return options.onChange(outcome)
      merged = merge()
      return options.onChange(merged)
    })
    return applied
  }
  try {
    for (const path of paths) watches.push(await watchConfig(path, { ...options, onChange }))
  } catch (error) {
    await close()
    throw error
  }
  merged = merge()
  return {
    get config() {
      return merged ?? merge()
    },
    check: () => {
      for (const watch of watches) watch.check()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
