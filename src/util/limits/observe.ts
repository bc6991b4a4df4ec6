import type { Limit } from './limit.ts'

/** Limits of metrics, logs and the operations endpoint. */
export const observeLimits = {
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
