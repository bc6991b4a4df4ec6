import { limits } from '../../util/limits/limits.ts'
import type {
  BreakerOptions,
  CallLimits,
  DeadLetterOptions,
  HealthOptions,
  PoolOptions,
  PriorityRule,
  RestartOptions,
  RetryOptions,
  RouterOptions,
  ToolRules,
  ToolSearchOptions,
  UpstreamLimits,
} from '../options.ts'
import {
  boolean,
  enumeration,
  type Field,
  group,
  integer,
  list,
  map,
  ms,
  nonEmpty,
  number,
  string,
} from './field.ts'

/** Fields of the rules for exposing tools. */
export const tools: Record<keyof ToolRules, Field> = {
  allow: {
    type: list(nonEmpty),
    meaning: 'Exposes only these tools. `*` matches any characters.',
    default: '(all)',
    example: ['read_*', 'list'],
  },
  deny: {
    type: list(nonEmpty),
    meaning: 'Hides these tools. `deny` wins over `allow`.',
    default: [],
    example: ['delete_*'],
  },
  rename: {
    type: map('tool', nonEmpty),
    meaning: 'Replacement names by upstream name, without the prefix.',
    example: { search: 'find' },
  },
  describe: {
    type: map('tool', string),
    meaning: 'Replacement descriptions by upstream name.',
    example: { search: 'Finds papers by their titles.' },
  },
  pin: {
    type: enumeration('off', 'warn', 'block'),
    meaning:
      'Reaction to a tool whose definition differs from the one first seen: none, a warning, or blocking the tool.',
    default: 'warn',
    example: 'block',
  },
}

/** Fields of tool search. */
export const toolSearch: Record<keyof ToolSearchOptions, Field> = {
  above: {
    type: integer(0, 1_000_000),
    meaning: 'The number of tools up to which all are listed.',
    default: '(none)',
    example: 100,
  },
  visible: {
    type: list(nonEmpty),
    meaning: 'Names of tools that stay listed, as callers see them; `*` matches any characters.',
    default: [],
    example: ['files__*'],
  },
  results: {
    type: integer(1, 1000),
    meaning: 'Tools that one search returns at most.',
    default: limits.toolSearchResults.default,
    example: 5,
  },
}

/** Fields of call limits. */
export const callLimits: Record<keyof CallLimits, Field> = {
  perSecond: {
    type: number(0.001, 1_000_000),
    meaning: 'Sustained rate, in calls per second.',
    default: '(unlimited)',
    example: 10,
  },
  burst: {
    type: integer(1, 1_000_000),
    meaning: 'Calls allowed in one burst. Requires `perSecond`.',
    default: '(same as `perSecond`)',
    example: 20,
  },
  concurrent: {
    type: integer(1, 1_000_000),
    meaning: 'Maximum number of concurrent calls.',
    default: '(unlimited)',
    example: 8,
  },
  queue: {
    type: integer(0, 1_000_000),
    meaning: 'Calls that may wait while `concurrent` is reached; a further call is rejected.',
    default: limits.callQueue.default,
    example: 50,
  },
  scope: {
    type: enumeration('cluster', 'node'),
    meaning:
      'What `perSecond` counts in a cluster: the calls of all nodes, or those of each. `concurrent` always counts those of each node.',
    default: 'cluster',
    example: 'node',
  },
}

const perCaller: Field = {
  type: group('callLimits'),
  meaning: 'Limits of each caller, counted separately.',
  example: { perSecond: 2 },
}

/** Fields of the call limits of one server. */
export const serverLimitFields: Record<keyof UpstreamLimits, Field> = {
  ...callLimits,
  perCaller,
  tools: {
    type: map('tool', group('callLimits')),
    meaning: 'Limits of single tools, by upstream tool name.',
    example: { slow_search: { concurrent: 1 } },
  },
}

/** Fields of the call limits of the router. */
export const routerLimitFields: Record<keyof NonNullable<RouterOptions['limits']>, Field> = {
  ...callLimits,
  perCaller,
}

/** Fields of the circuit breaker. */
export const breaker: Record<keyof BreakerOptions, Field> = {
  failures: {
    type: integer(1, 1000),
    meaning: 'Consecutive failures that open the breaker.',
    default: limits.breakerFailures.default,
    example: 3,
  },
  ratio: {
    type: number(0.01, 1),
    meaning: 'Share of failures within `window` that opens the breaker.',
    default: limits.breakerRatio.default,
    example: 0.25,
  },
  window: {
    type: integer(1, 10_000),
    meaning:
      'Number of recent calls over which `ratio` is measured. With fewer calls `ratio` is ignored.',
    default: limits.breakerWindow.default,
    example: 20,
  },
  openMs: {
    type: ms(),
    meaning: 'Time the breaker stays open before it becomes half-open.',
    default: limits.breakerOpenMs.default,
    example: 10_000,
  },
  successes: {
    type: integer(1, 1000),
    meaning: 'Consecutive successful probes that close a half-open breaker.',
    default: limits.breakerSuccesses.default,
    example: 3,
  },
}

/** Fields of the restart policy. */
export const restart: Record<keyof RestartOptions, Field> = {
  maxRestarts: {
    type: integer(0, 1000),
    meaning:
      'Restarts allowed within `windowMs` of an instance that fails to start, or exits before it answers a call. Beyond that the instance is quarantined.',
    default: limits.maxRestarts.default,
    example: 3,
  },
  windowMs: {
    type: ms(),
    meaning: 'Window over which restarts are counted.',
    default: limits.restartWindowMs.default,
    example: 120_000,
  },
  minMs: {
    type: ms(),
    meaning: 'Maximum delay before the first restart. It doubles with each further one.',
    default: limits.restartMinMs.default,
    example: 500,
  },
  maxMs: {
    type: ms(),
    meaning: 'Maximum delay before any restart.',
    default: limits.restartMaxMs.default,
    example: 60_000,
  },
}

/** Fields of the retry policy. */
export const retry: Record<keyof RetryOptions, Field> = {
  attempts: {
    type: integer(1, 10),
    meaning: 'Attempts per call, the first included; 1 disables retries.',
    default: limits.retryAttempts.default,
    example: 3,
  },
  budget: {
    type: number(0, 1),
    meaning: 'Share of calls that may be retried.',
    default: limits.retryBudget.default,
    example: 0.1,
  },
  tools: {
    type: list(nonEmpty),
    meaning: 'Upstream names of tools that you declare safe to retry. `*` matches any characters.',
    default: [],
    example: ['get_*', 'search'],
  },
}

/** Fields of the health checks. */
export const health: Record<keyof HealthOptions, Field> = {
  intervalMs: {
    type: ms(0),
    meaning: 'Interval between checks; 0 disables them.',
    default: limits.healthIntervalMs.default,
    example: 60_000,
  },
  timeoutMs: {
    type: ms(),
    meaning: 'Time to wait for a response.',
    default: limits.healthTimeoutMs.default,
    example: 2000,
  },
  failures: {
    type: integer(1, 1000),
    meaning: 'Consecutive failed checks after which the instance is reconnected or restarted.',
    default: limits.healthFailures.default,
    example: 2,
  },
}

/** Fields of the list of refused and undeliverable calls. */
export const deadLetters: Record<keyof DeadLetterOptions, Field> = {
  max: {
    type: integer(0, 1_000_000),
    meaning: 'Calls that are kept. A further one replaces the oldest.',
    default: limits.deadLetters.default,
    example: 100,
  },
  params: {
    type: boolean,
    meaning: 'Whether the params of the calls are kept too. They may be secret.',
    default: false,
    example: true,
  },
}

/** Fields of a rule that sets the priority of calls. */
export const priorityFields: Record<keyof PriorityRule, Field> = {
  server: {
    type: nonEmpty,
    meaning: 'Name of the server. `*` matches any characters, here and in the other patterns.',
    default: '(any)',
    example: 'search',
  },
  tool: {
    type: nonEmpty,
    meaning: 'Upstream name of the tool.',
    default: '(any)',
    example: 'export_*',
  },
  principal: {
    type: string,
    meaning: 'Id of the authenticated caller; empty for callers without one.',
    default: '(any)',
    example: 'batch-*',
  },
  client: {
    type: nonEmpty,
    meaning: 'Name that the client gives itself, which is not verified.',
    default: '(any)',
    example: 'nightly-report',
  },
  priority: {
    type: enumeration('high', 'normal', 'low', 'caller'),
    meaning:
      'Priority of the calls. `caller` is what the caller asks for in `_meta`, under `trunkline/priority`.',
    default: 'normal',
    example: 'low',
  },
}

/** Fields of the connections to each instance. */
export const pool: Record<keyof PoolOptions, Field> = {
  min: {
    type: integer(1, 1000),
    meaning: 'Connections that are kept open. One that is lost or does not respond is replaced.',
    default: 1,
    example: 2,
  },
  max: {
    type: integer(1, 1000),
    meaning:
      'Connections at most. Those beyond `min` are opened while all others are in use, and closed when they are idle.',
    default: limits.upstreamConnections.default + 1,
    example: 8,
  },
}
