import type { Limit } from './limit.ts'

/** Limits of load balancing, breakers, queues, retries, restarts, names and pins in a router. */
export const routerLimits = {
  policyRules: {
    default: 20_000,
    unit: 'count',
    meaning: 'Rules of an access policy. A policy with more is rejected.',
  },
  accessProfiles: {
    default: 1000,
    unit: 'count',
    meaning:
      'Groups of callers with the same access whose decisions are cached. When there are more, all are decided anew.',
  },
  breakerFailures: {
    default: 5,
    unit: 'count',
    meaning:
      'Consecutive failures that open the circuit breaker of an instance for `breakerOpenMs`.',
  },
  breakerRatio: {
    default: 0.5,
    unit: 'share',
    meaning: 'Share of failures among the last `breakerWindow` calls that opens the breaker.',
  },
  breakerWindow: {
    default: 10,
    unit: 'count',
    meaning:
      'Recent calls over which `breakerRatio` is measured. With fewer calls the ratio is ignored.',
  },
  breakerOpenMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'Time an open breaker keeps calls from its instance. Then the breaker is half-open and lets probes through.',
  },
  breakerSuccesses: {
    default: 2,
    unit: 'count',
    meaning: 'Consecutive successful probes that close a half-open breaker.',
  },
  breakerProbes: {
    default: 1,
    unit: 'count',
    meaning:
      'Concurrent calls to an instance whose breaker is half-open. Other calls go to other instances.',
  },
  breakerPanicMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Interval of probes while no instance of a server takes calls: one call goes to an instance whose breaker has been open for that long. Also the interval at which a router checks whether an HTTP server with an open breaker responds.',
  },
  loadHalfLifeMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'Half-life of a latency or failure sample in the load statistics of an instance.',
  },
  slowStartMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time in which the weight of an instance that became ready again grows from a tenth to its full value.',
  },
  outlierCalls: {
    default: 10,
    unit: 'count',
    meaning: 'Recent calls an instance needs before outlier detection compares it with the others.',
  },
  outlierEjectionMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time for which outlier detection ejects an instance the first time. Each further ejection lasts twice as long.',
  },
  outlierMaxEjectionMs: {
    default: 300_000,
    unit: 'ms',
    meaning:
      'Longest ejection. An instance that has not been an outlier for that long starts from `outlierEjectionMs` again.',
  },
  limitedCallers: {
    default: 10_000,
    unit: 'count',
    meaning:
      'Callers that one limit tracks at one time. Beyond that, the least recently seen caller is dropped and counted from zero.',
  },
  callQueue: {
    default: 100,
    unit: 'count',
    meaning:
      'Calls that wait when `concurrent` is reached and no `queue` is configured. A further call is answered -32010.',
  },
  overloadRetryMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Retry delay suggested to a caller that finds such a queue full.',
  },
  priorityPasses: {
    default: 8,
    unit: 'count',
    meaning:
      'More urgent calls that may enter a `concurrent` limit before a waiting call of a lower priority does.',
  },
  retryAttempts: {
    default: 2,
    unit: 'count',
    meaning:
      'Attempts of one call through a router, the first included. The last failure is returned.',
  },
  retryBudget: {
    default: 0.2,
    unit: 'share',
    meaning: 'Share of the calls within `retryWindowMs` that may be retried.',
  },
  retryWindowMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'Window over which calls and retries are counted.',
  },
  retryMinimum: {
    default: 3,
    unit: 'count',
    meaning: 'Retries allowed within that window regardless of how few calls there were.',
  },
  unsentAttempts: {
    default: 16,
    unit: 'count',
    meaning:
      'Attempts of a call that provably was not sent, the first included, while instances turn out to be unreachable.',
  },
  retryAfterMs: {
    default: 3_600_000,
    unit: 'ms',
    meaning:
      'Time for which a router sends no calls to an instance that answered 429 or 503 with `Retry-After`. A longer time is shortened.',
  },
  maxRestarts: {
    default: 5,
    unit: 'count',
    meaning:
      'Restarts within `restartWindowMs` of an instance that fails to start, or exits before it answers a call. Then the instance is quarantined.',
  },
  manyTools: {
    default: 128,
    unit: 'count',
    meaning:
      'Tools from which on `trunkline up` recommends tool search and views. Many hosts use no more.',
  },
  toolSearchQuery: {
    default: 512,
    unit: 'characters',
    meaning: 'Length of a query of `search_tools` that counts. The rest is ignored.',
  },
  toolSearchDescription: {
    default: 2000,
    unit: 'characters',
    meaning: 'Length of a description that `search_tools` looks into. The rest is ignored.',
  },
  toolSearchBytes: {
    default: 40_000,
    unit: 'characters',
    meaning:
      'Length of the definitions that one call of `search_tools` returns. The first is returned as it is; schemas of others beyond that length are left out.',
  },
  toolSearchResults: {
    default: 10,
    unit: 'count',
    meaning: 'Tools that one call of `search_tools` returns at most.',
  },
  startsPerCore: {
    default: 2,
    unit: 'count',
    meaning:
      'Server processes per processor core that a router starts at the same time, unless `concurrentStarts` is configured. The others start in turn.',
  },
  startTurnMs: {
    default: 3000,
    unit: 'ms',
    meaning:
      'Time after which a server process that is still starting no longer keeps the next one from starting.',
  },
  restartWindowMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Window over which restarts are counted.',
  },
  restartMinMs: {
    default: 100,
    unit: 'ms',
    meaning: 'Maximum delay before the first restart. It doubles with each further one.',
  },
  restartMaxMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'Maximum delay before any restart.',
  },
  restartAloneMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Maximum delay before a restart while no instance of the server takes calls, or while this machine lacks file handles or memory to start it.',
  },
  restartStableMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'Time an instance must stay up for the delay to start from `restartMinMs` again.',
  },
  restartUnusedMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Time an instance that gets no calls must stay up to be restarted at once when it exits. One that exits sooner counts as failing to start.',
  },
  deadLetters: {
    default: 1000,
    unit: 'count',
    meaning:
      'Refused and undeliverable calls that a router keeps for inspection. A further one replaces the oldest.',
  },
  serverNameLength: {
    default: 64,
    unit: 'characters',
    meaning: 'Length of the name of an upstream server. A longer name is rejected.',
  },
  exposedNameLength: {
    default: 64,
    unit: 'characters',
    meaning: 'Length of the name under which a router exposes a tool. A longer name is shortened.',
  },
  pinnedTools: {
    default: 10_000,
    unit: 'count',
    meaning:
      'Pinned tools per server. Further tools are reported as changes and wait for approval.',
  },
} as const satisfies Record<string, Limit>
