import { limits } from '../../util/limits/limits.ts'
import type {
  BreakerOptions,
  CallLimits,
  HealthOptions,
  RestartOptions,
  RetryOptions,
  RouterOptions,
  ToolRules,
  UpstreamLimits,
} from '../options.ts'
import { count, type Field, group, list, map, ms, name, number, text, words } from './field.ts'

/** What callers see of the tools of a server. */
export const tools: Record<keyof ToolRules, Field> = {
  allow: {
    type: list(name),
    meaning: 'Only these. `*` stands for anything.',
    default: '(all)',
    example: ['read_*', 'list'],
  },
  deny: {
    type: list(name),
    meaning: 'All but these. Denied wins over allowed.',
    default: [],
    example: ['delete_*'],
  },
  rename: {
    type: map('tool', name),
    meaning: 'Other names, by those that the server gives; the prefix is put in front of them.',
    example: { search: 'find' },
  },
  describe: {
    type: map('tool', text),
    meaning: 'Other descriptions.',
    example: { search: 'Finds papers by their titles.' },
  },
  pin: {
    type: words('off', 'warn', 'block'),
    meaning:
      'What happens when the definition of a tool is not the one it was first seen with: nothing, a warning, or that it cannot be called.',
    default: 'warn',
    example: 'block',
  },
}

/** How many calls are let through. */
export const callLimits: Record<keyof CallLimits, Field> = {
  perSecond: {
    type: number(0.001, 1_000_000),
    meaning: 'Calls per second, in the long run.',
    default: '(any number)',
    example: 10,
  },
  burst: {
    type: count(1, 1_000_000),
    meaning: 'Calls that may come at once after a pause. Needs `perSecond`.',
    default: '(as many as `perSecond`)',
    example: 20,
  },
  concurrent: {
    type: count(1, 1_000_000),
    meaning: 'Calls at one time.',
    default: '(any number)',
    example: 8,
  },
  queue: {
    type: count(0, 1_000_000),
    meaning: 'Calls that wait where `concurrent` is reached; one more is refused.',
    default: limits.callQueue.default,
    example: 50,
  },
}

const perCaller: Field = {
  type: group('callLimits'),
  meaning: 'The same for each caller by itself.',
  example: { perSecond: 2 },
}

/** The same for one server. */
export const serverLimits: Record<keyof UpstreamLimits, Field> = {
  ...callLimits,
  perCaller,
  tools: {
    type: map('tool', group('callLimits')),
    meaning: 'The same for single tools, by the names that the server gives them.',
    example: { slow_search: { concurrent: 1 } },
  },
}

/** The same for all servers together. */
export const routerLimits: Record<keyof NonNullable<RouterOptions['limits']>, Field> = {
  ...callLimits,
  perCaller,
}

/** When an instance counts as broken. */
export const breaker: Record<keyof BreakerOptions, Field> = {
  failures: {
    type: count(1, 1000),
    meaning: 'Failures in a row after which it gets none.',
    default: limits.breakerFailures.default,
    example: 3,
  },
  ratio: {
    type: number(0.01, 1),
    meaning: 'The share of failures in the window that does the same.',
    default: limits.breakerRatio.default,
    example: 0.25,
  },
  window: {
    type: count(1, 10_000),
    meaning: 'Calls that this share is taken of. Before there are as many it is not looked at.',
    default: limits.breakerWindow.default,
    example: 20,
  },
  openMs: {
    type: ms(),
    meaning: 'How long it gets none before it is tried.',
    default: limits.breakerOpenMs.default,
    example: 10_000,
  },
  successes: {
    type: count(1, 1000),
    meaning: 'Successes in a row, while it is tried, after which it gets calls as before.',
    default: limits.breakerSuccesses.default,
    example: 3,
  },
}

/** How what ended is started again. */
export const restart: Record<keyof RestartOptions, Field> = {
  most: {
    type: count(0, 1000),
    meaning: 'How often within `withinMs`. One more, and it is put away until somebody looks.',
    default: limits.restarts.default,
    example: 3,
  },
  withinMs: {
    type: ms(),
    meaning: 'The time over which that is counted.',
    default: limits.restartWithinMs.default,
    example: 120_000,
  },
  minMs: {
    type: ms(),
    meaning: 'The longest wait before the first attempt; twice as long before each further one.',
    default: limits.restartMinMs.default,
    example: 500,
  },
  maxMs: {
    type: ms(),
    meaning: 'The longest wait before any.',
    default: limits.restartMaxMs.default,
    example: 60_000,
  },
}

/** Calls that are made again. */
export const retry: Record<keyof RetryOptions, Field> = {
  attempts: {
    type: count(1, 10),
    meaning: 'Attempts of one call altogether; 1 is none but the first.',
    default: limits.retryAttempts.default,
    example: 3,
  },
  budget: {
    type: number(0, 1),
    meaning: 'The share of calls that may be made again.',
    default: limits.retryBudget.default,
    example: 0.1,
  },
  tools: {
    type: list(name),
    meaning:
      'Tools that may be called twice, by your word and by the names that the server gives them. `*` stands for anything.',
    default: [],
    example: ['get_*', 'search'],
  },
}

/** Asking instances whether they live. */
export const health: Record<keyof HealthOptions, Field> = {
  everyMs: {
    type: ms(0),
    meaning: 'How often; 0 for never.',
    default: limits.healthEveryMs.default,
    example: 60_000,
  },
  timeoutMs: {
    type: ms(),
    meaning: 'How long the answer may take.',
    default: limits.healthTimeoutMs.default,
    example: 2000,
  },
  failures: {
    type: count(1, 1000),
    meaning: 'Answers missed in a row after which it is connected to, or started, anew.',
    default: limits.healthFailures.default,
    example: 2,
  },
}
