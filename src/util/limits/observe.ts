import type { Limit } from './limit.ts'

/** What is told of a process that serves: metrics and logs. */
export const observe = {
  metricLabelValues: {
    default: 200,
    unit: 'count',
    meaning:
      'Different values of one label of a metric. What has a further one counts under `other`.',
  },
  metricSeries: {
    default: 2000,
    unit: 'count',
    meaning:
      'Combinations of label values of one metric. What has a further one counts under `other` in all labels.',
  },
  metricLabelLength: {
    default: 128,
    unit: 'characters',
    meaning: 'The value of a label of a metric. A longer one counts under `other`.',
  },
  logLines: {
    default: 1000,
    unit: 'count',
    meaning:
      'Lines of the log that wait while stderr takes none. Further ones are dropped and counted.',
  },
  logCallsPerSecond: {
    default: 100,
    unit: 'count',
    meaning:
      'Lines of the log about single calls in a second. Further ones are dropped and counted.',
  },
  logText: {
    default: 1024,
    unit: 'characters',
    meaning: 'One text in a line of the log. The rest is left out.',
  },
  opsConnections: {
    default: 64,
    unit: 'count',
    meaning:
      'Connections at once to the address of `/healthz`, `/readyz` and `/metrics`, where it is one of its own. Further ones are closed.',
  },
} as const satisfies Record<string, Limit>
