import type { LogLevel } from '../../observe/log/line.ts'
import type { RouterOptions, UpstreamOptions } from '../options.ts'
import { checkConfig } from './check.ts'
import type { Environment } from './env.ts'
import { ConfigError, type ConfigIssue } from './issue.ts'
import { defaultListen, fieldsOf, type RouterField } from './schema.ts'
import { readConfigText } from './text.ts'

/** A checked configuration with its variables expanded. Deeply frozen. */
export interface RouterConfig {
  /** The file name, for messages. */
  readonly file: string | undefined
  /** The servers by name, in file order, including disabled ones. */
  readonly servers: Readonly<Record<string, UpstreamOptions>>
  /** Options of the router other than its servers. */
  readonly router: Readonly<Pick<RouterOptions, RouterField>>
  /** The addresses to listen at; at least one. */
  readonly listen: readonly string[]
  /** Whether unauthenticated callers may use the servers and their credentials, from other machines too. */
  readonly public: boolean
  /** Where Prometheus metrics are served: nowhere, at every HTTP listen address, or at this address. */
  readonly metrics: boolean | string
  readonly logLevel: LogLevel
  /**
   * The strings with environment variables in displayable form, by path: `Bearer ${TOKEN}` for
   * `servers.search.headers.Authorization`.
   */
  readonly shown: ReadonlyMap<string, string>
  /** Warnings for the author of the file. */
  readonly warnings: readonly ConfigIssue[]
}

/** Options of {@link readConfig}. */
export interface ReadConfigOptions {
  /** The environment variables that the file may reference. */
  readonly env: Environment
  /** The file name, for messages. */
  readonly file?: string
  /** Whether to allow addresses that other machines can reach even if the file does not set `public`. */
  readonly allowPublic?: boolean
}

/**
 * Parses and checks the text of a configuration file. Throws a {@link ConfigError} with all errors and
 * their positions; its messages never contain the values of variables.
 */
export function readConfig(text: string, options: ReadConfigOptions): RouterConfig {
  const { file } = options
  const { root, issues: syntaxIssues } = readConfigText(text)
  if (root === undefined) throw new ConfigError(syntaxIssues, file)
  const { value, issues, shown } = checkConfig(root, options)
  if (issues.some(issue => issue.severity === 'error')) throw new ConfigError(issues, file)
  const { mcpServers, servers, listen, public: isPublic, metrics, logLevel, ...router } = value
  // The check: checkConfig has checked every member against the field table, which mirrors the option types.
  return Object.freeze({
    file,
    servers: (mcpServers ?? servers) as RouterConfig['servers'],
    router: Object.freeze(router) as RouterConfig['router'],
    listen: Object.freeze([listen ?? defaultListen].flat()) as readonly string[],
    public: (isPublic ?? false) as boolean,
    metrics: (metrics ?? false) as boolean | string,
    logLevel: (logLevel ?? fieldsOf('file').get('logLevel')?.default) as LogLevel,
    shown: typeof listen === 'string' ? asListed(shown) : shown,
    warnings: Object.freeze(issues),
  })
}

/** A single listen address becomes a list of one, so its displayable form moves to that path. */
function asListed(shown: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(
    Array.from(shown, ([path, text]) => [path === 'listen' ? 'listen[0]' : path, text] as const),
  )
}
