import { isRecord } from '../util/objects.ts'
import { checkOptions, type OptionTable, type OptionTableOf } from '../util/options.ts'
import type { LogEventsOptions } from './log/events.ts'
import { logLineLevels } from './log/line.ts'
import type { MetricRegistryOptions } from './metrics/registry.ts'
import type { TracingOptions } from './tracing/trace.ts'

const observeTable: OptionTable = {
  endpoint: 'object',
  server: 'string',
  metrics: 'any',
  logs: 'any',
  traces: 'any',
  allowedHosts: 'strings',
  allowedOrigins: 'strings',
}

const metricsTable: OptionTableOf<MetricRegistryOptions> = {
  maxLabelValues: 'max',
  maxSeries: 'max',
  buckets: 'array',
}

const logsTable: OptionTableOf<LogEventsOptions> = {
  level: logLineLevels,
  format: ['json', 'text'],
  color: 'boolean',
  stream: 'object',
  maxLines: 'max',
  now: 'function',
  reloads: 'boolean',
  instances: 'boolean',
}

const tracesTable: OptionTableOf<TracingOptions> = { load: 'function', profile: 'any' }

/** Throws a TypeError for unknown or invalid options of `observe`. */
export function checkObserveOptions(options: {
  readonly metrics?: unknown
  readonly logs?: unknown
  readonly traces?: unknown
}): void {
  checkOptions(options, observeTable)
  const { metrics, logs, traces } = options
  if (isRecord(metrics)) checkOptions(metrics, metricsTable, '"metrics": ')
  else if (metrics !== undefined) checkOptions({ metrics }, { metrics: 'boolean' })
  if (isRecord(logs)) checkOptions(logs, logsTable, '"logs": ')
  else if (logs !== false) checkOptions({ logs }, { logs: logLineLevels })
  if (isRecord(traces)) checkOptions(traces, tracesTable, '"traces": ')
  else if (traces !== undefined) checkOptions({ traces }, { traces: 'boolean' })
}
