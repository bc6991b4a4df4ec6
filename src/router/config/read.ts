import type { LogLineLevel } from '../../observe/log/line.ts'
import { setMember } from '../../util/objects.ts'
import type { AccessPolicy } from '../access/policy.ts'
import type { RouterOptions, UpstreamOptions, ViewOptions } from '../options.ts'
import type { AuditConfig } from './access/fields.ts'
import type { AuthConfig } from './auth/fields.ts'
import { type CheckedServer, checkConfig, checkGroup } from './check.ts'
import type { ConsoleSettings } from './console/fields.ts'
import type { ConfigInput } from './dialects/inputs.ts'
import type { Environment, Places } from './env.ts'
import { ConfigError, type ConfigIssue } from './issue.ts'
import { defaultListen, fieldsOf, type RouterField } from './schema.ts'
import { type ConfigText, readConfigText } from './text.ts'

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
  /** The addresses at which views are served, by view. */
  readonly viewAddresses: Readonly<Record<string, readonly string[]>>
  /** The files of the certificate for `https:` and `wss:` addresses. */
  readonly tls?: {
    /** The file of the certificate chain, in PEM. */
    readonly cert: string
    /** The file of the private key, in PEM. */
    readonly key: string
  }
  /** How callers are authenticated; undefined if they are not. */
  readonly auth?: AuthConfig
  /** Who may use what, or the path of the file that says so; undefined if every caller may use all. */
  readonly policy?: AccessPolicy | string
  /** Where decisions on calls are recorded; undefined if they are not. */
  readonly audit?: AuditConfig
  /** The keys that seal request state and cursors, in hexadecimal or base64. */
  readonly sealingKeys?: readonly string[]
  /** The folder for what users have granted; undefined for memory. */
  readonly vault?: string | undefined
  /** Where Prometheus metrics are served: nowhere, at every HTTP listen address, or at this address. */
  readonly metrics: boolean | string
  /** Whether and where the console is served; undefined if the file does not say. */
  readonly console?: boolean | ConsoleSettings
  /** The least severe level of log lines that are written. */
  readonly logLevel: LogLineLevel
  /**
   * The strings with environment variables in displayable form, by path: `Bearer ${TOKEN}` for
   * `servers.search.headers.Authorization`.
   */
  readonly shown: ReadonlyMap<string, string>
  /** Warnings for the author of the file, and the errors of servers that are invalid. */
  readonly warnings: readonly ConfigIssue[]
  /** How the terms of another host were translated. */
  readonly notes: readonly ConfigIssue[]
  /** The inputs that are used and have no value. Their servers are invalid. */
  readonly missingInputs: readonly ConfigInput[]
}

/** Options of {@link readConfig}. */
export interface ReadConfigOptions {
  /** The environment variables that the file may reference. */
  readonly env: Environment
  /** The path of the file, for messages, and to recognize the host that it was written for. */
  readonly file?: string
  /**
   * Whether a server with errors is kept as a server that is down, with the errors as the reason, instead of
   * rejecting the file. By default false.
   */
  readonly tolerant?: boolean
  /** What editors define: the workspace, the home folder, and files that the configuration refers to. */
  readonly places?: Places
  /** Answers to inputs (`${input:ID}`), by id. The environment variable `INPUT_ID` wins. */
  readonly inputs?: ReadonlyMap<string, string>
  /** Parses the text; by default JSON with comments. */
  readonly parse?: (text: string) => ConfigText
  /** Whether to allow addresses that other machines can reach even if the file does not set `public`. */
  readonly allowPublic?: boolean
  /** Whether callers need tokens even if the file has no `auth`, as with `trunkline up --dev-auth`. */
  readonly hasCallerTokens?: boolean
}

/**
 * Parses and checks the text of a configuration file, which may be that of another host. Throws a
 * {@link ConfigError} with all errors and their positions; its messages never contain the values of variables.
 */
export function readConfig(text: string, options: ReadConfigOptions): RouterConfig {
  const { file, tolerant = false, parse = readConfigText } = options
  const { root, issues: syntaxIssues } = parse(text)
  if (root === undefined) throw new ConfigError(syntaxIssues, file)
  const check = checkConfig(root, options)
  const { settings, servers, shown, missingInputs } = check
  const issues = [...check.issues, ...servers.flatMap(server => server.issues)].sort(inFileOrder)
  const isRejected = (tolerant ? check.issues : issues).some(isError)
  if (isRejected) throw new ConfigError(issues.filter(isNoNote), file)
  const {
    listen,
    tls,
    auth,
    policy,
    audit,
    public: isPublic,
    metrics,
    console,
    logLevel,
    sealingKeys,
    vault,
    ...others
  } = settings
  const { views, viewAddresses } = splitViews(others.views)
  const router = { ...others, ...(views && { views }) }
  // The check: checkConfig has checked every member against the field table, which mirrors the option types.
  return Object.freeze({
    file,
    servers: Object.freeze(optionsOf(servers)) as RouterConfig['servers'],
    router: Object.freeze(router) as RouterConfig['router'],
    listen: Object.freeze([listen ?? defaultListen].flat()) as readonly string[],
    viewAddresses,
    tls: tls as RouterConfig['tls'],
    auth: auth as AuthConfig | undefined,
    policy: policy as RouterConfig['policy'],
    audit: audit as AuditConfig | undefined,
    sealingKeys: sealingKeys as RouterConfig['sealingKeys'],
    vault: vault as string | undefined,
    public: (isPublic ?? false) as boolean,
    metrics: (metrics ?? false) as boolean | string,
    console: console as RouterConfig['console'],
    logLevel: (logLevel ?? fieldsOf('file').get('logLevel')?.default) as LogLineLevel,
    shown: typeof listen === 'string' ? asListed(shown) : shown,
    warnings: Object.freeze(issues.filter(isNoNote)),
    notes: Object.freeze(issues.filter(issue => !isNoNote(issue))),
    missingInputs: Object.freeze(missingInputs),
  })
}

/**
 * Parses and checks the text of a file that holds only the object `auth` of a configuration. Throws a
 * {@link ConfigError} with all errors and their positions.
 */
export function readAuthConfig(text: string, options: ReadPartOptions): AuthConfig {
  return readPart(text, 'auth', options) as AuthConfig
}

/**
 * Parses and checks the text of a file that holds only the object `policy` of a configuration. Throws a
 * {@link ConfigError} with all errors and their positions.
 */
export function readPolicyConfig(text: string, options: ReadPartOptions): AccessPolicy {
  // The check: the group has been checked against the field table, which mirrors the type.
  return readPart(text, 'policy', options) as unknown as AccessPolicy
}

type ReadPartOptions = Pick<ReadConfigOptions, 'env' | 'file'>

function readPart(
  text: string,
  named: string,
  { env, file }: ReadPartOptions,
): Record<string, unknown> {
  const { root, issues: syntaxIssues } = readConfigText(text)
  if (root === undefined) throw new ConfigError(syntaxIssues, file)
  const { value, issues } = checkGroup(root, named, { env })
  if (value === undefined || issues.length > 0) throw new ConfigError(issues, file)
  return value
}

function isError({ severity }: ConfigIssue): boolean {
  return severity === 'error'
}

function isNoNote({ severity }: ConfigIssue): boolean {
  return severity !== 'note'
}

function inFileOrder(one: ConfigIssue, other: ConfigIssue): number {
  return one.line - other.line || one.column - other.column
}

/**
 * Returns the options of each server. A server with errors is down from the start, with the errors as the
 * reason.
 */
function optionsOf(servers: readonly CheckedServer[]): Record<string, unknown> {
  // The author of the file chooses the names, so the object must not inherit any.
  const options: Record<string, unknown> = Object.create(null)
  for (const { name, value, issues } of servers) {
    const errors = issues.filter(isError).map(({ message }) => message)
    const { disabled } = value
    const failed = { configError: errors.join('; '), ...(disabled === true && { disabled }) }
    setMember(options, name, errors.length === 0 ? value : Object.freeze(failed))
  }
  return options
}

/** Separates the addresses of the views from their options. */
function splitViews(
  given: unknown,
): Pick<RouterOptions, 'views'> & Pick<RouterConfig, 'viewAddresses'> {
  if (given === undefined) return { viewAddresses: Object.freeze({}) }
  const views: Record<string, ViewOptions> = Object.create(null)
  const viewAddresses: Record<string, readonly string[]> = Object.create(null)
  // The check: checkConfig has checked every view against the field table.
  for (const [name, { listen, ...options }] of Object.entries(given as Record<string, FileView>)) {
    setMember(views, name, Object.freeze(options))
    if (listen !== undefined) setMember(viewAddresses, name, Object.freeze([listen].flat()))
  }
  return { views: Object.freeze(views), viewAddresses: Object.freeze(viewAddresses) }
}

/** A view as a file has it. */
interface FileView extends ViewOptions {
  readonly listen?: string | readonly string[]
}

/** A single listen address becomes a list of one, so its displayable form moves to that path. */
function asListed(shown: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(
    Array.from(shown, ([path, text]) => [path === 'listen' ? 'listen[0]' : path, text] as const),
  )
}
