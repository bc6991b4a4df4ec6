import { collectCluster } from '../cluster/metrics.ts'
import { addCallCounters } from '../counters.ts'
import { type BreakerState, events } from '../events.ts'
import { CallMetrics } from './collect-calls.ts'
import { measureProcess } from './process-metrics.ts'
import type { HistogramSeries, MetricFamily, MetricRegistry, Series } from './registry.ts'
import { type MetricFamilies, metricTable } from './table.ts'
import { measureTraffic, type TrafficSource } from './traffic-metrics.ts'

/** Sources of metrics that are not events. */
export interface CollectOptions {
  /** The endpoint whose traffic is measured. */
  readonly endpoint?: TrafficSource
  /** The name of the endpoint: the label `server`. */
  readonly server?: string
  /** Returns the number of lines that the log has dropped so far. */
  readonly droppedLines?: () => number
}

/**
 * Adds the metrics of `metricTable` to a registry and updates them from the events of this process. Returns
 * a function that stops it. Throws a TypeError if the registry already has these metrics.
 */
export function collect(registry: MetricRegistry, options: CollectOptions = {}): () => void {
  const { endpoint = {}, server = '', droppedLines = () => 0 } = options
  const metrics = makeMetrics(registry)
  measureTraffic(registry, metrics, endpoint, server)
  const endMeasuring = measureProcess(registry, metrics, droppedLines)
  const ends = [
    addCallCounters(new CallMetrics(metrics)),
    ...collectInstances(metrics),
    ...collectSessions(metrics),
    ...collectRest(metrics),
    ...collectCluster(registry, metrics),
    endMeasuring,
  ]
  return () => {
    for (const end of ends) end()
  }
}

function makeMetrics(registry: MetricRegistry): MetricFamilies {
  const numbers = new Map<string, MetricFamily<Series>>()
  const histograms = new Map<string, MetricFamily<HistogramSeries>>()
  for (const [name, { type, help, labels }] of Object.entries(metricTable)) {
    if (type === 'histogram') {
      histograms.set(name, registry.histogram({ name, type, help, labels }))
    } else {
      numbers.set(name, registry.number({ name, type, help, labels }))
    }
  }
  return {
    number: name => present(numbers.get(name), name),
    histogram: name => present(histograms.get(name), name),
  }
}

function present<T>(family: T | undefined, name: string): T {
  if (family === undefined) throw new TypeError(`metric ${name} has another type`)
  return family
}

const stateValue: Readonly<Record<BreakerState, number>> = { closed: 0, 'half-open': 1, open: 2 }

function collectInstances({ number }: MetricFamilies): (() => void)[] {
  const up = new Map<string, Set<string>>()
  const upGauge = number('trunkline_instances_up')
  const changed = (server: string, change: (running: Set<string>) => void) => {
    const running = up.get(server) ?? new Set<string>()
    up.set(server, running)
    change(running)
    upGauge.at(server).value = running.size
  }
  return [
    events.instanceStarted.subscribe(({ server, instance }) => {
      changed(server, running => running.add(instance))
    }),
    events.instanceExited.subscribe(({ server, instance }) => {
      changed(server, running => running.delete(instance))
    }),
    events.instanceRestarted.subscribe(({ server }) => {
      number('trunkline_instance_restarts_total').at(server).value += 1
    }),
    events.instanceQuarantined.subscribe(({ server }) => {
      number('trunkline_instance_quarantines_total').at(server).value += 1
    }),
    events.breakerChanged.subscribe(({ server, instance, to }) => {
      number('trunkline_breaker_state').at(server, instance).value = stateValue[to]
      if (to === 'open') number('trunkline_breaker_opened_total').at(server).value += 1
    }),
    events.configReloaded.subscribe(({ ok, removed = [] }) => {
      number('trunkline_config_reloads_total').at(ok ? 'ok' : 'error').value += 1
      // Counters stay, because they must not decrease; gauges of removed servers would be wrong.
      for (const server of removed) {
        up.delete(server)
        for (const name of serverGauges) number(name).remove('server', server)
      }
    }),
  ]
}

const serverGauges = [
  'trunkline_instances_up',
  'trunkline_breaker_state',
  'trunkline_queue_length',
] as const

function collectSessions({ number, histogram }: MetricFamilies): (() => void)[] {
  const open = new Set<number>()
  const gauge = number('trunkline_sessions').at()
  const durations = histogram('trunkline_session_duration_seconds').at()
  return [
    events.sessionOpened.subscribe(({ session }) => {
      open.add(session)
      gauge.value = open.size
    }),
    events.sessionClosed.subscribe(({ session, durationMs }) => {
      open.delete(session)
      gauge.value = open.size
      durations.observe(durationMs / 1000)
    }),
  ]
}

function collectRest({ number }: MetricFamilies): (() => void)[] {
  return [
    events.queueChanged.subscribe(({ server, length }) => {
      number('trunkline_queue_length').at(server).value = length
    }),
    events.limitRefused.subscribe(({ server = '', scope, limit }) => {
      number('trunkline_limit_refusals_total').at(server, scope, limit).value += 1
    }),
    events.toolChanged.subscribe(({ server, change }) => {
      number('trunkline_tool_changes_total').at(server, change).value += 1
    }),
    events.serverRequestSent.subscribe(({ server, method }) => {
      number('trunkline_server_requests_total').at(server, method).value += 1
    }),
  ]
}
