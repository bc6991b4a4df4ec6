import { parseAddress } from '../../address.ts'
import type { LogLineLevel } from '../../observe/log/line.ts'
import type { AccessPolicy } from '../../router/access/policy.ts'
import type { AuditConfig } from '../../router/config/access/fields.ts'
import type { AuthConfig } from '../../router/config/auth/fields.ts'
import type { RouterConfig } from '../../router/config/read.ts'
import { defaultListen } from '../../router/config/schema.ts'
import { isLocalAddress } from '../../router/config/values.ts'
import type { RouterOptions, UpstreamOptions } from '../../router/options.ts'
import { addressesOf } from '../../serve-address.ts'
import { keysOfEnvironment, keysVariable, parseKeys } from '../../util/crypto/key-text.ts'
import { didYouMean } from '../../util/nearest.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { parseDuration } from '../arguments.ts'
import { UsageError } from '../exit.ts'
import type { Invocation } from '../invocation.ts'
import { readKeyFile } from '../key-file.ts'
import { checkWorkerPlan } from '../workers/check-plan.ts'
import { workerCount } from '../workers/count.ts'
import { type ConsolePlan, consolePlan } from './console/plan.ts'
import { checkSelfReference } from './self-reference.ts'

/** What `trunkline up` serves, and where. */
export interface Plan {
  readonly servers: Readonly<Record<string, UpstreamOptions>>
  readonly router: RouterOptions
  readonly listen: readonly string[]
  /** The view that is served at `listen`; undefined for everything. */
  readonly view?: string
  /** The addresses of other views, by view. */
  readonly viewAddresses: Readonly<Record<string, readonly string[]>>
  /** Whether any free port may replace a port in use: only if the user did not choose the port. */
  readonly isAnyPort: boolean
  readonly tls: TlsFiles | undefined
  /** How callers are authenticated; undefined if they are not. */
  readonly auth?: AuthConfig
  /** Who may use what, or the path of the file that says so. */
  readonly policy?: AccessPolicy | string
  /** Where decisions on calls are recorded. */
  readonly audit?: AuditConfig
  /** The folder for what users have granted; undefined for memory. */
  readonly vault?: string | undefined
  /** The keys that seal what users have granted, if they are not those of the router. */
  readonly grantKeys?: readonly Uint8Array[]
  readonly metrics: boolean | string
  /** How the console is served; undefined for none. */
  readonly console?: ConsolePlan
  readonly logLevel: LogLineLevel
}

type TlsFiles = NonNullable<RouterConfig['tls']>

/** Returns the certificate that two options name. Throws a UsageError if only one of them is given. */
function tlsFiles(cert: string | undefined, key: string | undefined): UpOptions['tls'] {
  if (cert === undefined && key === undefined) return undefined
  if (cert !== undefined && key !== undefined) return { cert, key }
  throw new UsageError('--tls-cert and --tls-key belong together')
}

/** Command-line options of `trunkline up`, which override the configuration. */
export interface UpOptions {
  readonly listen: readonly string[]
  /** The view to serve, instead of everything. */
  readonly view?: string
  /** The certificate for addresses with TLS. */
  readonly tls?: TlsFiles
  readonly metrics?: string
  /** The address of the console, `''` for the addresses of the router, or `false` for no console. */
  readonly console?: string | false
  /** Whether a person at a terminal sees the output. */
  readonly isTerminal?: boolean
  readonly logLevel?: string
  /** How long `/readyz` returns 503 before connections are refused, when shutting down. */
  readonly lameDuckMs?: number
  /** The sealing keys of a key file. */
  readonly keys?: readonly Uint8Array[]
  /** Path of the file of the access policy. */
  readonly policy?: string
  /** Path of the audit log. */
  readonly audit?: string
  /** Path of the pin file. */
  readonly pins?: string
  /** Path of the file in which lists are remembered; `false` for none. By default in the folder for caches. */
  readonly cache?: string | false
  readonly isPublic: boolean
  /** Whether callers need tokens of an authorization server for development, which runs beside the router. */
  readonly isDevAuth?: boolean
  /** How many processes serve the same; 1 by default. */
  readonly workers?: number
}

/** Returns the address of `--http`; none if it is not given. */
function httpAddresses({ input, env }: Invocation): readonly string[] {
  const port = input.value('http')
  return port === undefined ? [] : addressesOf([`--http=${port}`], env)
}

/** Reads the options of `trunkline up`. Rejects with a UsageError for values that cannot be used. */
export async function upOptionsOf(invocation: Invocation): Promise<UpOptions> {
  const { input } = invocation
  const workers = workerCount(input)
  const lameDuck = input.value('lame-duck')
  const keyFile = input.value('keys')
  return {
    tls: tlsFiles(input.value('tls-cert'), input.value('tls-key')),
    lameDuckMs: lameDuck === undefined ? undefined : parseDuration('lame-duck', lameDuck),
    listen: [...input.values('listen'), ...httpAddresses(invocation)],
    view: input.value('view'),
    metrics: input.value('metrics'),
    console: input.has('no-console') ? false : input.value('console'),
    isTerminal: invocation.terminal.isInteractive && !input.has('json') && workers === 1,
    logLevel: input.value('log-level'),
    keys: keyFile === undefined ? undefined : await readKeyFile(keyFile),
    policy: input.value('policy'),
    audit: input.value('audit'),
    pins: input.value('pins'),
    cache: input.has('no-cache') ? false : input.value('cache'),
    isPublic: input.has('public'),
    isDevAuth: input.value('dev-auth') !== undefined,
    workers,
  }
}

/** Combines configuration and command line. Throws a UsageError for an address that must not be served. */
export function planOf(config: RouterConfig, options: UpOptions): Plan {
  const listen = options.listen.length > 0 ? options.listen : config.listen
  const metrics = options.metrics ?? config.metrics
  const isAlone = options.listen.length > 0 || options.view !== undefined
  const viewAddresses = isAlone ? {} : config.viewAddresses
  const served = [...listen, ...Object.values(viewAddresses).flat()]
  const isPublic = config.public || options.isPublic
  const { auth } = config
  checkPublicAddresses(allAddresses(auth === undefined ? served : [], metrics), isPublic)
  if (auth !== undefined) checkGuardedAddresses(auth, served, metrics === true && !isPublic)
  checkView(options.view, Object.keys(config.router.views ?? {}))
  checkSelfReference({ servers: config.servers, listen, file: config.file })
  const plan: Plan = {
    servers: config.servers,
    router: { ...config.router, ...keysOf(config, options) },
    listen,
    view: options.view,
    viewAddresses,
    isAnyPort: false,
    tls: options.tls ?? config.tls,
    auth,
    policy: policyOf(config, options),
    audit: auditOf(config.audit, options),
    vault: vaultOf(config, options),
    metrics,
    console: consoleOption(config.console, listen, options),
    // The check: the parser accepts only log levels.
    logLevel: (options.logLevel as LogLineLevel | undefined) ?? config.logLevel,
  }
  if (options.workers !== undefined && options.workers > 1) checkWorkerPlan(plan)
  return plan
}

/** The plan without a configuration: two demo servers, one of them with two instances. */
export function demoPlan(program: readonly string[], options: UpOptions): Plan {
  const [command = process.execPath, ...args] = program
  const listen = options.listen.length > 0 ? options.listen : [defaultListen]
  const metrics = options.metrics ?? true
  checkView(options.view, [])
  checkPublicAddresses(allAddresses(listen, metrics), options.isPublic)
  const plan: Plan = {
    servers: {
      text: { command, args: [...args, 'demo', 'text'], instances: 2, balance: 'round-robin' },
      clock: { command, args: [...args, 'demo', 'clock'] },
    },
    router: {
      name: 'trunkline-demo',
      instructions: 'A few small tools to try a client with.',
      ...(options.keys && { keys: options.keys }),
    },
    listen,
    viewAddresses: {},
    isAnyPort: options.listen.length === 0,
    tls: options.tls,
    policy: policyOf({}, options),
    audit: auditOf(undefined, options),
    metrics,
    console: consoleOption(undefined, listen, options),
    logLevel: (options.logLevel as LogLineLevel | undefined) ?? 'warn',
  }
  if (options.workers !== undefined && options.workers > 1) checkWorkerPlan(plan)
  return plan
}

function consoleOption(
  config: RouterConfig['console'],
  listen: readonly string[],
  { console: option, isTerminal = false }: UpOptions,
): ConsolePlan {
  return consolePlan({ config, option, listen, isTerminal })
}

/** Returns the policy of the command line, else of the configuration. Throws a UsageError if nobody is authenticated. */
function policyOf(
  { policy, auth }: Pick<RouterConfig, 'policy' | 'auth'>,
  options: UpOptions,
): Plan['policy'] {
  if (options.policy !== undefined && auth === undefined && options.isDevAuth !== true) {
    throw new UsageError(
      '--policy needs "auth" in the configuration, or --dev-auth: else every caller is anonymous',
    )
  }
  return options.policy ?? policy
}

/** Returns the audit log of the command line, else of the configuration. */
function auditOf(config: AuditConfig | undefined, { audit }: UpOptions): AuditConfig | undefined {
  return audit === undefined ? config : { ...config, file: audit }
}

/** Returns the folder for what users have granted. Throws a UsageError if nothing could be read after a restart. */
function vaultOf({ vault, sealingKeys }: RouterConfig, { keys }: UpOptions): string | undefined {
  if (vault === undefined || keys !== undefined || sealingKeys !== undefined) return vault
  if (keysOfEnvironment() !== undefined) return vault
  throw new UsageError(
    `vault needs keys, which seal what users have granted: set "sealingKeys", ${keysVariable} or --keys; with a random key nothing could be read after a restart`,
  )
}

/** Returns the sealing keys: of the command line, else of the configuration, else none. */
function keysOf(
  { sealingKeys }: RouterConfig,
  { keys }: UpOptions,
): { readonly keys?: readonly Uint8Array[] } {
  if (keys !== undefined) return { keys }
  if (sealingKeys === undefined) return {}
  try {
    return { keys: parseKeys(sealingKeys.join('\n')) }
  } catch (cause) {
    throw new UsageError(`sealingKeys: ${errorMessage(cause)}`, { cause })
  }
}

/** Throws a UsageError for a view that does not exist. */
function checkView(view: string | undefined, known: readonly string[]): void {
  if (view === undefined || known.includes(view)) return
  const hint = didYouMean(view, known) || `; the views are ${known.join(', ') || 'none'}`
  throw new UsageError(`--view: there is no view "${view}"${hint}`)
}

/** Every address that accepts connections. */
function allAddresses(listen: readonly string[], metrics: boolean | string): readonly string[] {
  return typeof metrics === 'string' ? [...listen, metrics] : listen
}

/**
 * Throws a UsageError for an address that other machines can reach, unless that is allowed: every client of a
 * router uses the credentials of its servers.
 */
function checkPublicAddresses(addresses: readonly string[], isPublic: boolean): void {
  if (isPublic) return
  for (const address of addresses) {
    if (isLocalAddress(parseAddress(address))) continue
    throw new UsageError(
      `${address} is reachable from other machines without authentication; set "auth" to authenticate callers, or "public": true or --public to allow it`,
    )
  }
}

/** Throws a UsageError if addresses that other machines can reach would serve what `auth` does not guard. */
function checkGuardedAddresses(
  { resource }: AuthConfig,
  addresses: readonly string[],
  hasOpenMetrics: boolean,
): void {
  const reachable = addresses.find(address => !isLocalAddress(parseAddress(address)))
  if (reachable === undefined) return
  if (resource === undefined) {
    throw new UsageError(
      `auth needs "resource", the URL under which callers know the router, because other machines can reach ${reachable}`,
    )
  }
  if (hasOpenMetrics) {
    throw new UsageError(
      `metrics at ${reachable} would need no authentication; set "metrics" to an address of this machine`,
    )
  }
}
