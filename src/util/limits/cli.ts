import type { Limit } from './limit.ts'

/** Limits of the command-line program. */
export const cliLimits = {
  listCacheBytes: {
    default: 64 * 1024 * 1024,
    unit: 'bytes',
    meaning:
      'Size of the file in which lists are remembered. A larger one is not read, and replaced.',
  },
  listCacheDelayMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Delay before changed lists are written to that file, together.',
  },
  typesCommentLength: {
    default: 2000,
    unit: 'characters',
    meaning:
      'Length of a description that `trunkline types` writes as a comment. The rest is cut off.',
  },
  checkReplyMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time `trunkline check` waits for each response, unless `--timeout` is given. Then the step fails.',
  },
  checkStartMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'Time `trunkline check` waits for the first response of a program that it starts, unless `--timeout` is given.',
  },
  checkNoReplyMs: {
    default: 300,
    unit: 'ms',
    meaning: 'Time `trunkline check` waits to confirm that no response is sent.',
  },
  checkExitMs: {
    default: 15_000,
    unit: 'ms',
    meaning:
      'Time a process has to exit after `trunkline check` closes its stdin. Then the step warns and the process is killed.',
  },
  checkCertificateMs: {
    default: 1_209_600_000,
    unit: 'ms',
    meaning: 'Remaining validity of a certificate below which `trunkline check` warns.',
  },
  checkFindings: {
    default: 10,
    unit: 'count',
    meaning:
      'Warnings and failures that the step `schemas` of `trunkline check` shows. The rest is counted.',
  },
  checkBodyBytes: {
    default: 16_777_216,
    unit: 'bytes',
    meaning:
      'Size of a response that `trunkline check` reads. A larger one is truncated and counts as invalid.',
  },
  upSlowNoticeMs: {
    default: 2000,
    unit: 'ms',
    meaning: 'Time after which `trunkline up` names the servers that are still starting.',
  },
  completionMs: {
    default: 300,
    unit: 'ms',
    meaning:
      'Time a server has to name its tools for the completion of a shell. Then none are offered.',
  },
  upRecoveredMs: {
    default: 2000,
    unit: 'ms',
    meaning:
      'Time that a failed server must stay up before `trunkline up` reports on a terminal that it is up again.',
  },
  benchSeconds: {
    default: 5,
    unit: 'count',
    meaning: 'Seconds that `trunkline bench` measures, unless `--seconds` is given.',
  },
  benchConcurrency: {
    default: 8,
    unit: 'count',
    meaning: 'Calls in flight in `trunkline bench`, unless `--concurrency` is given.',
  },
  maxWorkers: {
    default: 64,
    unit: 'count',
    meaning: 'Processes that `--workers` starts. More are refused.',
  },
  workerStarts: {
    default: 3,
    unit: 'count',
    meaning:
      'How often in a row a process of `--workers` may end before it serves. Then all of them are stopped.',
  },
  workerRestartMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'The longest pause before a process of `--workers` that has ended is replaced. The first one is short.',
  },
  workerStableMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time after which a process of `--workers` counts as stable: when it ends, it is replaced after a short pause again.',
  },
  workerMetricsMs: {
    default: 2000,
    unit: 'ms',
    meaning:
      'Time a process of `--workers` has to send its metrics. Then the response goes without them.',
  },
  watchDebounceMs: {
    default: 100,
    unit: 'ms',
    meaning:
      'Time without a further change after which `trunkline serve --watch` restarts the server.',
  },
} as const satisfies Record<string, Limit>
