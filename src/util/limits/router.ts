import type { Limit } from './limit.ts'

/** How a router spreads calls, holds them back and starts again what has ended. */
export const router = {
  breakerFailures: {
    default: 5,
    unit: 'count',
    meaning: 'Failures in a row after which an instance gets no calls for `breakerOpenMs`.',
  },
  breakerRatio: {
    default: 0.5,
    unit: 'share',
    meaning: 'Share of failures in the last `breakerWindow` calls that does the same.',
  },
  breakerWindow: {
    default: 10,
    unit: 'count',
    meaning: 'Calls that this share is taken of. Before there are as many it is not looked at.',
  },
  breakerOpenMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Time such an instance gets no calls. Then it is tried.',
  },
  breakerSuccesses: {
    default: 2,
    unit: 'count',
    meaning: 'Successes in a row of an instance being tried after which it gets calls as before.',
  },
  breakerProbes: {
    default: 1,
    unit: 'count',
    meaning: 'Calls at one time to an instance being tried. Others go elsewhere.',
  },
  loadHalfLifeMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time after which the latency or failure of a call weighs half as much in what is known of an instance.',
  },
  slowStartMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'Time in which the weight of an instance that came back grows from a tenth to all.',
  },
  outlierCalls: {
    default: 10,
    unit: 'count',
    meaning: 'Recent calls without which an instance is not compared with the others.',
  },
  outlierMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time an instance far from the others gets no calls, at first; twice as long each time after.',
  },
  outlierMaxMs: {
    default: 300_000,
    unit: 'ms',
    meaning:
      'Longest such time. An instance that has kept in line for as long is treated as at first.',
  },
  limitedCallers: {
    default: 10_000,
    unit: 'count',
    meaning:
      'Callers whose calls a limit counts at one time. Of more, the one heard of longest ago starts anew.',
  },
  callQueue: {
    default: 100,
    unit: 'count',
    meaning:
      'Calls waiting where `concurrent` is reached and no `queue` is named. A further one is answered -32010.',
  },
  overloadRetryMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'When a caller is told to try again that found such a queue full.',
  },
  retryAttempts: {
    default: 2,
    unit: 'count',
    meaning: 'Attempts of one call through a router altogether. The last failure is answered.',
  },
  retryBudget: {
    default: 0.2,
    unit: 'share',
    meaning: 'Share of the calls of the last `retryWindowMs` that may be made again.',
  },
  retryWindowMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'Time over which calls and their repetitions are counted.',
  },
  retryMinimum: {
    default: 3,
    unit: 'count',
    meaning: 'Repetitions allowed in that time however few the calls.',
  },
  restarts: {
    default: 5,
    unit: 'count',
    meaning: 'Restarts of an instance within `restartWithinMs`. Then it is put away.',
  },
  restartWithinMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Time over which restarts are counted.',
  },
  restartMinMs: {
    default: 100,
    unit: 'ms',
    meaning: 'Longest wait before the first restart; twice as long before each further one.',
  },
  restartMaxMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'Longest wait before any restart.',
  },
  restartSteadyMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'Time an instance must last for the waits to begin from `restartMinMs` again.',
  },
  serverNameLength: {
    default: 64,
    unit: 'characters',
    meaning: 'The name of a server behind a router. A longer one is refused.',
  },
  exposedNameLength: {
    default: 64,
    unit: 'characters',
    meaning: 'The name under which a router shows a tool. A longer one is shortened.',
  },
  pinnedTools: {
    default: 10_000,
    unit: 'count',
    meaning:
      'Tools of one server whose definitions are remembered. Further ones are reported, and wait for approval.',
  },
} as const satisfies Record<string, Limit>
