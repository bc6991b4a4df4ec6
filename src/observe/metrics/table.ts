import type { HistogramSeries, MetricDefinition, MetricFamily, Series } from './registry.ts'

/** A metric of this package. */
export interface MetricRow extends Omit<MetricDefinition, 'name'> {
  /** The corresponding OpenTelemetry metric, if there is one. */
  readonly otel?: string
}

const duration = 'mcp.server.operation.duration'

/** All metrics by name. A test checks `docs/observe.md` against this table. */
export const metricTable = {
  trunkline_calls_total: {
    type: 'counter',
    labels: ['server', 'method', 'outcome'],
    help: 'Handled requests by outcome.',
    otel: `the count of ${duration}`,
  },
  trunkline_call_errors_total: {
    type: 'counter',
    labels: ['server', 'kind'],
    help: 'Requests that failed with an error, by kind.',
    otel: `the count of ${duration} by error.type, where it is a number`,
  },
  trunkline_call_duration_seconds: {
    type: 'histogram',
    labels: ['server', 'method'],
    help: 'Duration of requests.',
    otel: duration,
  },
  trunkline_tool_call_duration_seconds: {
    type: 'histogram',
    labels: ['server', 'tool'],
    help: 'Duration of calls by tool.',
    otel: `${duration} by gen_ai.tool.name`,
  },
  trunkline_tool_errors_total: {
    type: 'counter',
    labels: ['server', 'tool'],
    help: 'Failed calls by tool, in the tool or before it was reached.',
    otel: `the count of ${duration} by gen_ai.tool.name and error.type`,
  },
  trunkline_calls_in_flight: {
    type: 'gauge',
    labels: ['server'],
    help: 'Requests in flight.',
  },
  trunkline_queue_length: {
    type: 'gauge',
    labels: ['server'],
    help: 'Queued requests.',
  },
  trunkline_call_retries_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Retries of requests.',
  },
  trunkline_received_bytes_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Bytes received from callers, at the addresses where the endpoint is served.',
  },
  trunkline_sent_bytes_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Bytes sent to callers, at the addresses where the endpoint is served.',
  },
  trunkline_upstream_received_bytes_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Bytes received from upstream servers of a router.',
  },
  trunkline_upstream_sent_bytes_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Bytes sent to upstream servers of a router.',
  },
  trunkline_limit_refusals_total: {
    type: 'counter',
    labels: ['server', 'scope', 'limit'],
    help: 'Requests refused because a limit was reached.',
  },
  trunkline_breaker_state: {
    type: 'gauge',
    labels: ['server', 'instance'],
    help: 'State of circuit breakers: 0 closed, 1 half-open, 2 open.',
  },
  trunkline_breaker_opened_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Number of times that circuit breakers opened.',
  },
  trunkline_instances_up: {
    type: 'gauge',
    labels: ['server'],
    help: 'Instances that are running or connected.',
  },
  trunkline_instance_restarts_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Attempts to restart or reconnect instances.',
  },
  trunkline_instance_quarantines_total: {
    type: 'counter',
    labels: ['server'],
    help: 'Instances quarantined because they failed too often.',
  },
  trunkline_sessions: {
    type: 'gauge',
    labels: [],
    help: 'Open connections, including sessions over HTTP.',
  },
  trunkline_session_duration_seconds: {
    type: 'histogram',
    labels: [],
    help: 'Duration of connections and sessions.',
    otel: 'mcp.server.session.duration',
  },
  trunkline_tool_changes_total: {
    type: 'counter',
    labels: ['server', 'change'],
    help: 'Tools that were added, removed or changed.',
  },
  trunkline_server_requests_total: {
    type: 'counter',
    labels: ['server', 'method'],
    help: 'Requests that upstream servers sent to callers.',
  },
  trunkline_config_reloads_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Configuration reloads by outcome: ok, error.',
  },
  trunkline_cluster_nodes: {
    type: 'gauge',
    labels: ['path', 'state'],
    help: 'Nodes that serve a path, this one included: up, draining.',
  },
  trunkline_cluster_nodes_left_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Other nodes that left: drained, left, expelled.',
  },
  trunkline_cluster_sessions: {
    type: 'gauge',
    labels: ['path'],
    help: 'Sessions that this node owns.',
  },
  trunkline_cluster_unsaved_sessions: {
    type: 'gauge',
    labels: ['path'],
    help: 'Owned sessions with changes that the engine does not have yet.',
  },
  trunkline_cluster_forwarding: {
    type: 'gauge',
    labels: ['path'],
    help: 'Requests and streams that other nodes are serving for this one.',
  },
  trunkline_cluster_forwarded_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Requests of sessions on other nodes: ok, unknown, unavailable, not-found, local, disconnected.',
  },
  trunkline_cluster_forward_duration_seconds: {
    type: 'histogram',
    labels: [],
    help: 'Duration of requests that another node has served, without event streams.',
  },
  trunkline_cluster_adopted_sessions_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Sessions of nodes that are gone: continued here, or ended.',
  },
  trunkline_cluster_handed_off_sessions_total: {
    type: 'counter',
    labels: [],
    help: 'Sessions handed to other nodes while draining.',
  },
  trunkline_cluster_fenced_sessions_total: {
    type: 'counter',
    labels: [],
    help: 'Sessions dropped because another node owns them.',
  },
  trunkline_cluster_lease_seconds: {
    type: 'gauge',
    labels: ['path'],
    help: 'Remaining time of the lease of this node.',
  },
  trunkline_cluster_engine_up: {
    type: 'gauge',
    labels: ['engine'],
    help: 'Whether the engine of the cluster can be reached: 1 or 0.',
  },
  trunkline_cluster_engine_lost_total: {
    type: 'counter',
    labels: ['engine'],
    help: 'Number of times that the engine became unreachable.',
  },
  trunkline_cluster_engine_emptied_total: {
    type: 'counter',
    labels: ['engine'],
    help: 'Number of times that the engine came back without its data.',
  },
  trunkline_log_lines_dropped_total: {
    type: 'counter',
    labels: [],
    help: 'Dropped log lines.',
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
    help: 'Always 1; the labels have the versions.',
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    labels: [],
    help: 'Resident memory of the process.',
    otel: 'process.memory.usage',
  },
  process_cpu_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'CPU time of the process.',
    otel: 'process.cpu.time',
  },
  process_open_fds: {
    type: 'gauge',
    labels: [],
    help: 'Open file handles of the process; NaN if the system does not report them.',
    otel: 'process.open_file_descriptor.count',
  },
  process_max_fds: {
    type: 'gauge',
    labels: [],
    help: 'Limit of open file handles; NaN if the system does not report it.',
  },
  process_start_time_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Start time of the process, in seconds since 1970.',
  },
  nodejs_heap_size_used_bytes: {
    type: 'gauge',
    labels: [],
    help: 'Used heap memory.',
    otel: 'v8js.memory.heap.used',
  },
} as const satisfies Readonly<Record<string, MetricRow>>

/** The name of a metric in the table. */
export type MetricName = keyof typeof metricTable

/** Access to the metrics of the table in a registry. */
export interface MetricFamilies {
  readonly number: (name: MetricName) => MetricFamily<Series>
  readonly histogram: (name: MetricName) => MetricFamily<HistogramSeries>
}
