import type { Limit } from './limit.ts'

/** How long the commands wait, and how much they do. */
export const cli = {
  checkReplyMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time a server has for each answer of `trunkline check`, unless `--timeout` says otherwise. Then the step fails.',
  },
  checkSilenceMs: {
    default: 300,
    unit: 'ms',
    meaning: 'Time `trunkline check` listens for an answer that must not come.',
  },
  checkExitMs: {
    default: 3000,
    unit: 'ms',
    meaning:
      'Time a program has to leave after the end of its input in `trunkline check`. Then the step fails and the program is killed.',
  },
  checkCertificateMs: {
    default: 1_209_600_000,
    unit: 'ms',
    meaning: 'Time a certificate must still be valid. With less `trunkline check` warns.',
  },
  checkFindings: {
    default: 10,
    unit: 'count',
    meaning: 'Findings of one kind that a step of `trunkline check` shows. The rest is counted.',
  },
  checkBodyBytes: {
    default: 16_777_216,
    unit: 'bytes',
    meaning: 'One answer that `trunkline check` reads. A longer one is cut off and cannot be read.',
  },
  upNoticeMs: {
    default: 2000,
    unit: 'ms',
    meaning:
      'Time after which `trunkline up` names the servers that it is still waiting for, before it says what it serves.',
  },
  benchSeconds: {
    default: 5,
    unit: 'count',
    meaning: 'Seconds that `trunkline bench` measures, unless `--seconds` says otherwise.',
  },
  benchConcurrency: {
    default: 8,
    unit: 'count',
    meaning:
      'Calls under way at one time in `trunkline bench`, unless `--concurrency` says otherwise.',
  },
  watchMs: {
    default: 100,
    unit: 'ms',
    meaning: 'Time without a further change after which `trunkline serve --watch` starts again.',
  },
} as const satisfies Record<string, Limit>
