import type { Family, HistogramSeries, MetricDefinition, Series } from './registry.ts'

/** A metric of ours: what it is, and what OpenTelemetry calls the same thing, where it has a name for it. */
export interface MetricRow extends Omit<MetricDefinition, 'name'> {
  readonly otel?: string
}

const duration = 'mcp.server.operation.duration'

/** Every metric there is, by name. `docs/observe.md` shows this table and is checked against it. */
export const metricTable = {
  trunkline_calls_total: {
    type: 'counter',
    labels: ['server', 'method', 'outcome'],
    help: 'Requests answered, by how that ended.',
    otel: `the count of ${duration}`,
  },
  trunkline_call_errors_total: {
    type: 'counter',
    labels: ['server', 'kind'],
    help: 'Requests answered with an error, by its kind.',
    otel: `the count of ${duration} by error.type, where it is a number`,
  },
  trunkline_call_duration_seconds: {
    type: 'histogram',
    labels: ['server', 'method'],
    help: 'How long requests took.',
    otel: duration,
  },
  trunkline_tool_call_duration_seconds: {
    type: 'histogram',
    labels: ['server', 'tool'],
    help: 'How long calls of each tool took.',
    otel: `${duration} by gen_ai.tool.name`,
  },
  trunkline_tool_errors_total: {
    type: 'counter',
    labels: ['server', 'tool'],
    help: 'Calls of each tool that failed, in the tool or on the way to it.',
    otel: `the count of ${duration} by gen_ai.tool.name and error.type`,
  },
  trunkline_calls_in_flight: {
    type: 'gauge',
    labels: ['server'],
    help: 'Requests being answered.',
  },
  trunkline_queue_length: {
    type: 'gauge',
    labels: ['server'],
    help: 'Requests waiting for their turn.',
  },
  trunkline_call_retries_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Attempts of requests after the first.',
  },
  trunkline_received_bytes_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Bytes from callers, at the addresses where the endpoint is served.',
  },
  trunkline_sent_bytes_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Bytes to callers, at the same addresses.',
  },
  trunkline_upstream_received_bytes_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Bytes from servers behind a router.',
  },
  trunkline_upstream_sent_bytes_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Bytes to servers behind a router.',
  },
  trunkline_limit_refusals_total: {
    type: 'counter',
    labels: ['server', 'scope', 'limit'],
    help: 'Requests refused because there were too many.',
  },
  trunkline_breaker_state: {
    type: 'gauge',
    labels: ['server', 'instance'],
    help: 'Circuit breakers: 0 closed, 1 half-open, 2 open.',
  },
  trunkline_breaker_opened_total: {
    type: 'counter',
    labels: ['server'],
    help: 'How often circuit breakers opened.',
  },
  trunkline_instances_up: {
    type: 'gauge',
    labels: ['server'],
    help: 'Instances that are running or connected.',
  },
  trunkline_instance_restarts_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Attempts to start instances, or to connect to them, again.',
  },
  trunkline_instance_quarantines_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Instances put away because they failed too often.',
  },
  trunkline_sessions: {
    type: 'gauge',
    labels: [],
    help: 'Connections that last, sessions over HTTP included.',
  },
  trunkline_session_duration_seconds: {
    type: 'histogram',
    labels: [],
    help: 'How long connections lasted.',
    otel: 'mcp.server.session.duration',
  },
  trunkline_tool_changes_total: {
    type: 'counter',
    labels: ['server', 'change'],
    help: 'Tools that are not what they were when they were first seen.',
  },
  trunkline_questions_total: {
    type: 'counter',
    labels: ['server', 'method'],
    help: 'Questions that servers asked callers.',
  },
  trunkline_config_reloads_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'How often the configuration was read again: ok, error.',
  },
  trunkline_log_lines_dropped_total: {
    type: 'counter',
    labels: [],
    help: 'Lines of the log that were dropped.',
  },
  trunkline_event_loop_lag_seconds: {
    type: 'gauge',
    labels: ['stat'],
    help: 'Lateness of timers since the last scrape: mean, p99, max.',
    otel: 'nodejs.eventloop.delay.mean, .p99, .max',
  },
  trunkline_build_info: {
    type: 'gauge',
    labels: ['version', 'node'],
    help: 'Always 1; the labels tell what is running.',
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    labels: [],
    help: 'Memory of the process.',
    otel: 'process.memory.usage',
  },
  process_cpu_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'Processor time of the process.',
    otel: 'process.cpu.time',
  },
  process_start_time_seconds: {
    type: 'gauge',
    labels: [],
    help: 'When the process was started, in seconds since 1970.',
  },
  nodejs_heap_size_used_bytes: {
    type: 'gauge',
    labels: [],
    help: 'Memory of JavaScript that is in use.',
    otel: 'v8js.memory.heap.used',
  },
} as const satisfies Readonly<Record<string, MetricRow>>

/** The name of a metric in the table. */
export type MetricName = keyof typeof metricTable

/** The metrics of the table, once a registry has them. */
export interface MetricFamilies {
  readonly number: (name: MetricName) => Family<Series>
  readonly histogram: (name: MetricName) => Family<HistogramSeries>
}
