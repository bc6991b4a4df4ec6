import type { OptionTableOf } from '../util/options.ts'
import type {
  ClientOptions,
  HeartbeatOptions,
  ReconnectOptions,
  VersionCacheOptions,
} from './options.ts'

const reconnect: OptionTableOf<ReconnectOptions> = {
  attempts: 'count',
  baseMs: 'ms',
  maxMs: 'maxMs',
  stableMs: 'ms',
  random: 'function',
}

const heartbeat: OptionTableOf<HeartbeatOptions> = { everyMs: 'ms', waitMs: 'ms' }
const versionCache: OptionTableOf<VersionCacheOptions> = { key: 'string', store: 'object' }

/** The option table that validates the options of a client. */
export const clientTable: OptionTableOf<ClientOptions> = {
  name: 'string',
  version: 'string',
  title: 'string',
  description: 'string',
  websiteUrl: 'string',
  icons: 'array',
  // A function, or an object of two functions.
  elicit: 'any',
  sample: 'function',
  sampling: { tools: 'boolean', context: 'boolean' },
  // An array, or a function that returns one.
  roots: 'any',
  serverRequestsPerMinute: 'count',
  timeoutMs: 'ms',
  maxTotalMs: 'maxMs',
  era: 'string',
  discoverTimeoutMs: 'ms',
  revisions: 'array',
  strict: 'boolean',
  profile: 'any',
  tasks: 'boolean',
  extensions: 'object',
  experimental: 'object',
  onNotification: 'function',
  onLog: 'function',
  onError: 'function',
  reconnect,
  heartbeat,
  versionCache,
  signal: 'object',
  clock: 'object',
}
