import { KiB, type Limit } from './limit.ts'

/** Limits of metrics, logs and the operations endpoint. */
export const observeLimits = {
  auditQueue: {
    default: 10_000,
    unit: 'count',
    meaning:
      'Records that wait to be written to an audit log. Then calls wait, or are not recorded but counted, as the option `onFull` says.',
  },
  auditSyncMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'How long records may be in the memory of the system before an audit log is synced to its disk. A failed write is tried again after the same time.',
  },
  auditLockMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time after which the lock of an audit log counts as abandoned, because its process ended while it wrote.',
  },
  auditTextLength: {
    default: 1024,
    unit: 'characters',
    meaning: 'Length of a text in an audit log, such as a name. A longer one is cut.',
  },
  auditLineBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning: 'Length of the last line of an audit log. A file with a longer one is not continued.',
  },
  metricLabelValues: {
    default: 200,
    unit: 'count',
    meaning: 'Different values of one label of a metric. Further values are counted under `other`.',
  },
  metricSeries: {
    default: 2000,
    unit: 'count',
    meaning:
      'Combinations of label values of one metric. Further ones are counted under `other` in all labels.',
  },
  metricLabelLength: {
    default: 128,
    unit: 'characters',
    meaning: 'Length of a label value of a metric. A longer one is counted under `other`.',
  },
  logLines: {
    default: 1000,
    unit: 'count',
    meaning: 'Log lines buffered while stderr is blocked. Further ones are dropped and counted.',
  },
  logCallsPerSecond: {
    default: 100,
    unit: 'count',
    meaning: 'Log lines about calls per second. Further ones are dropped and counted.',
  },
  logText: {
    default: 1024,
    unit: 'characters',
    meaning: 'Length of one text in a log line. The rest is cut.',
  },
  hiddenValues: {
    default: 4096,
    unit: 'count',
    meaning:
      'Values of environment variables that messages and logs show by name. The oldest are forgotten.',
  },
  opsConnections: {
    default: 64,
    unit: 'count',
    meaning:
      'Open connections to a separate address of `/healthz`, `/readyz` and `/metrics`. Further ones are closed.',
  },
} as const satisfies Record<string, Limit>
