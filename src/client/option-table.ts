import type { OptionTableOf } from '../util/options.ts'
import type { ClientOptions, HeartbeatOptions, Remember, RestartOptions } from './options.ts'

const restart: OptionTableOf<RestartOptions> = {
  attempts: 'count',
  baseMs: 'ms',
  maxMs: 'longestMs',
  steadyMs: 'ms',
  random: 'function',
}

const heartbeat: OptionTableOf<HeartbeatOptions> = { everyMs: 'ms', waitMs: 'ms' }
const remember: OptionTableOf<Remember> = { target: 'text', verdicts: 'object' }

/** The options of a client, to check what callers have written. */
export const clientTable: OptionTableOf<ClientOptions> = {
  name: 'text',
  version: 'text',
  title: 'text',
  description: 'text',
  websiteUrl: 'text',
  icons: 'list',
  // A function, or an object of two.
  elicit: 'any',
  sample: 'function',
  sampling: { tools: 'flag', context: 'flag' },
  // A list, or a function that makes one.
  roots: 'any',
  questionsPerMinute: 'count',
  timeoutMs: 'ms',
  maxTotalMs: 'longestMs',
  era: 'text',
  probeMs: 'ms',
  revisions: 'list',
  strict: 'flag',
  profile: 'any',
  tasks: 'flag',
  extensions: 'object',
  experimental: 'object',
  onNotification: 'function',
  onLog: 'function',
  onError: 'function',
  restart,
  heartbeat,
  remember,
  signal: 'object',
  clock: 'object',
}
