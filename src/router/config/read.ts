import type { LogLevel } from '../../observe/log/line.ts'
import type { RouterOptions, UpstreamOptions } from '../options.ts'
import { checkConfig } from './check.ts'
import type { Environment } from './env.ts'
import { ConfigError, type ConfigIssue } from './issue.ts'
import { defaultListen, fieldsOf, type RouterField } from './schema.ts'
import { readConfigText } from './text.ts'

/** What a configuration file says, checked, with its variables replaced. Frozen all the way down. */
export interface RouterConfig {
  /** Where it was read, for messages. */
  readonly file: string | undefined
  /** The servers by name, in the order of the file, those that are disabled included. */
  readonly servers: Readonly<Record<string, UpstreamOptions>>
  /** What the router is made of besides its servers. */
  readonly router: Readonly<Pick<RouterOptions, RouterField>>
  /** Where it is served; at least one address. */
  readonly listen: readonly string[]
  /** That callers whom nobody has identified may use what needs credentials, from other machines too. */
  readonly public: boolean
  /** Whether figures are served: nowhere, at every HTTP address, or at an address of their own. */
  readonly metrics: boolean | string
  readonly logLevel: LogLevel
  /**
   * The texts that environment variables went into, as they may be shown, by path
   * (`servers.search.headers.Authorization`): `Bearer ${TOKEN}`.
   */
  readonly shown: ReadonlyMap<string, string>
  /** What its author should know. */
  readonly warnings: readonly ConfigIssue[]
}

/** What a text needs to be read as configuration. */
export interface ReadConfigOptions {
  /** The variables that the text may refer to. */
  readonly env: Environment
  /** The name of the file, for messages. */
  readonly file?: string
  /** That addresses which other machines can reach are fine, whatever the text says of `public`. */
  readonly mayBePublic?: boolean
}

/**
 * Reads the text of a configuration file. Throws a {@link ConfigError} that names everything that is
 * wrong, each with its line; the values of variables are in none of its messages.
 */
export function readConfig(text: string, options: ReadConfigOptions): RouterConfig {
  const { file } = options
  const { root, issues: unreadable } = readConfigText(text)
  if (root === undefined) throw new ConfigError(unreadable, file)
  const { value, issues, shown } = checkConfig(root, options)
  if (issues.some(issue => issue.severity === 'error')) throw new ConfigError(issues, file)
  const { mcpServers, servers, listen, public: isPublic, metrics, logLevel, ...router } = value
  // The check: every member is what the table of fields says, which has the types of the options.
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

/** One address is kept as a list of one, and how it may be shown under the path that it has there. */
function asListed(shown: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(
    Array.from(shown, ([path, text]) => [path === 'listen' ? 'listen[0]' : path, text] as const),
  )
}
