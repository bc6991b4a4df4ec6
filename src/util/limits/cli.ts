import type { Limit } from './limit.ts'

/** Limits of the command-line program. */
export const cli = {
  checkReplyMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time `trunkline check` waits for each response, unless `--timeout` is given. Then the step fails.',
  },
  checkNoReplyMs: {
    default: 300,
    unit: 'ms',
    meaning: 'Time `trunkline check` waits to confirm that no response is sent.',
  },
  checkExitMs: {
    default: 3000,
    unit: 'ms',
    meaning:
      'Time a process has to exit after `trunkline check` closes its stdin. Then the step fails and the process is killed.',
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
  watchDebounceMs: {
    default: 100,
    unit: 'ms',
    meaning:
      'Time without a further change after which `trunkline serve --watch` restarts the server.',
  },
} as const satisfies Record<string, Limit>
