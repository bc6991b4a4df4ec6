import type { Middleware } from '../jsonrpc/handler.ts'
import type { TraceContext } from '../mcp/meta.ts'
import type { Profile } from '../mcp/profile.ts'
import { shareTrace } from '../mcp/trace-context.ts'
import { withClusterHealth } from './cluster/health.ts'
import { type HealthReport, Ops, type OpsOptions } from './health/health.ts'
import { listenOps, type OpsListener } from './health/ops-server.ts'
import { type LogEventsOptions, logEvents } from './log/events.ts'
import type { LogLineLevel } from './log/line.ts'
import { Log } from './log/log.ts'
import { collect } from './metrics/collect.ts'
import { MetricRegistry, type MetricRegistryOptions } from './metrics/registry.ts'
import type { TrafficSource } from './metrics/traffic-metrics.ts'
import { observed } from './observed.ts'
import { checkObserveOptions } from './option-table.ts'
import { type TracingOptions, tracing } from './tracing/trace.ts'

/** An endpoint that can be observed: a server accepts middleware, a router publishes its own events. */
export interface Observable extends TrafficSource {
  /** Adds a middleware. */
  use?(middleware: Middleware): unknown
  /** Returns the health of the endpoint, for `/readyz`. */
  health?(): HealthReport
  /** The error profile of the endpoint; that of the specification by default. */
  readonly profile?: Profile
  /** Whether the endpoint publishes call events of its own, as a router does. */
  readonly isObserved?: boolean
}

/** Options of `observe`. */
export interface ObserveOptions extends Pick<OpsOptions, 'allowedHosts' | 'allowedOrigins'> {
  /** The server or router to observe. Without it, the events of the whole process are still collected. */
  readonly endpoint?: Observable
  /** The name of the endpoint in events and metrics, if it is a plain server. */
  readonly server?: string
  /** Whether to collect metrics; true by default. */
  readonly metrics?: boolean | MetricRegistryOptions
  /** The level of the log on stderr, or its options; no log by default. */
  readonly logs?: LogLineLevel | LogEventsOptions | false
  /**
   * Whether to create OpenTelemetry spans for requests, if OpenTelemetry is installed, and to propagate the
   * current span in the requests that this process sends; false by default.
   */
  readonly traces?: boolean | TracingOptions
}

/** Collects metrics, logs and traces of this process until it is closed. */
export interface Observer extends AsyncDisposable {
  /** Settles when tracing has loaded OpenTelemetry, or found that it is not installed. Never rejects. */
  readonly ready: Promise<void>
  /** Returns the metrics as Prometheus text; empty if metrics are off. */
  metricsText(): string
  /** The metric registry, to which you can add metrics; undefined if metrics are off. */
  readonly registry: MetricRegistry | undefined
  /** The log, to which you can write lines; undefined if the log is off. */
  readonly log: Log | undefined
  /** Handles `/healthz`, `/readyz` and `/metrics`: see `withOps` and `listen`. */
  readonly ops: Ops
  /** Serves these paths on a separate address, until the observer is closed. */
  listen(address: string): Promise<OpsListener>
  /** Returns the trace context of the current span; undefined if there is none. */
  currentTrace(): TraceContext | undefined
  /** Unsubscribes from all events and closes the listeners. Idempotent. */
  close(): Promise<void>
}

/**
 * Turns on metrics, logs and traces with one call: `observe({ endpoint: server, logs: 'info' })`.
 *
 * The observer collects the events of all servers of the process. Call it before other middleware is added
 * to a plain server, so that it also sees requests that the middleware refuses. A server keeps the added
 * middleware when the observer is closed; its overhead is then a few branches per call.
 */
export function observe(options: ObserveOptions = {}): Observer {
  checkObserveOptions(options)
  const { endpoint, metrics = true, logs = false, traces = false } = options
  const lines: LogEventsOptions | undefined =
    logs === false ? undefined : typeof logs === 'string' ? { level: logs } : logs
  const log = lines && new Log(lines)
  const registry =
    metrics === false ? undefined : new MetricRegistry(metrics === true ? {} : metrics)
  const { profile } = endpoint ?? {}
  const tracer =
    traces === false ? undefined : tracing({ profile, ...(traces === true ? {} : traces) })
  const ends = [
    ...(registry === undefined
      ? []
      : [
          collect(registry, {
            endpoint,
            server: options.server,
            droppedLines: () => log?.dropped ?? 0,
          }),
        ]),
    ...(log === undefined ? [] : [logEvents(log, lines)]),
    ...(tracer === undefined ? [] : [shareTrace(tracer)]),
  ]
  if (endpoint !== undefined) addMiddleware(endpoint, options.server, tracer?.middleware)
  const ops = new Ops({
    allowedHosts: options.allowedHosts,
    allowedOrigins: options.allowedOrigins,
    health: () => withClusterHealth(endpoint?.health?.() ?? { level: 'ok' }),
    metrics: registry === undefined ? undefined : () => registry.text(),
    onError: error => log?.write('error', 'health or metrics failed', { error }),
  })
  const listeners = new Set<OpsListener>()
  let closing: Promise<void> | undefined
  const end = async () => {
    for (const stop of ends) stop()
    await ops.close()
    await Promise.all(Array.from(listeners, listener => listener.close()))
    log?.close()
  }
  const close = () => {
    closing ??= end()
    return closing
  }
  return {
    ready: Promise.resolve(tracer?.ready).then(() => {}),
    metricsText: () => registry?.text() ?? '',
    registry,
    log,
    ops,
    listen: async address => {
      const listener = await listenOps(ops, address)
      listeners.add(listener)
      // The observer may have been closed while the address was being bound.
      if (closing !== undefined) await listener.close()
      return listener
    },
    currentTrace: () => tracer?.current(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Endpoints that already have the `observed` middleware: a second one would count each call twice. */
const observedEndpoints = new WeakSet<Observable>()
/** Endpoints that already have the tracing middleware. */
const tracedEndpoints = new WeakSet<Observable>()

function addMiddleware(
  endpoint: Observable,
  server: string | undefined,
  spans: Middleware | undefined,
) {
  if (endpoint.isObserved !== true && !observedEndpoints.has(endpoint)) {
    observedEndpoints.add(endpoint)
    endpoint.use?.(observed({ server }))
  }
  if (spans !== undefined && !tracedEndpoints.has(endpoint)) {
    tracedEndpoints.add(endpoint)
    endpoint.use?.(spans)
  }
}
