import type { Middleware } from '../jsonrpc/handler.ts'
import type { TraceContext } from '../mcp/meta.ts'
import type { Profile } from '../mcp/profile.ts'
import { shareTrace } from '../mcp/trace-context.ts'
import { type HealthReport, Ops, type OpsOptions } from './health/health.ts'
import { listenOps, type OpsListener } from './health/ops-server.ts'
import { type LogEventsOptions, logEvents } from './log/events.ts'
import type { LogLevel } from './log/line.ts'
import { Log } from './log/log.ts'
import { collect } from './metrics/collect.ts'
import { Registry, type RegistryOptions } from './metrics/registry.ts'
import type { TrafficSource } from './metrics/traffic-metrics.ts'
import { observed } from './observed.ts'
import { type TracingOptions, tracing } from './tracing/trace.ts'

/** What can be observed: a server takes middleware, a router tells of itself. */
export interface Observable extends TrafficSource {
  use?(middleware: Middleware): unknown
  /** How well it works, for `/readyz`. */
  health?(): HealthReport
  /** How it says errors on the wire; as the specification wants it unless said. */
  readonly profile?: Profile
  /** Whether it publishes the events of its calls by itself, as a router does. */
  readonly isObserved?: boolean
}

/** What is switched on. */
export interface ObserveOptions extends Pick<OpsOptions, 'allowedHosts' | 'allowedOrigins'> {
  /** The server or router in question. Without one, whatever publishes events is heard all the same. */
  readonly endpoint?: Observable
  /** What the endpoint is called in events and metrics, where it is a plain server. */
  readonly server?: string
  /** Whether numbers are kept; they are unless this is `false`. */
  readonly metrics?: boolean | RegistryOptions
  /** Which lines are written to stderr; none unless said. */
  readonly logs?: LogLevel | LogEventsOptions | false
  /**
   * Whether requests become spans of OpenTelemetry, where that is installed, and whether those that
   * this process makes name the span that they are made in; not unless said.
   */
  readonly traces?: boolean | TracingOptions
}

/** Metrics, logs and traces of this process, until it is closed. */
export interface Observer extends AsyncDisposable {
  /** Settles when tracing has found OpenTelemetry, or that it is not there. Never rejects. */
  readonly ready: Promise<void>
  /** The numbers so far as text for Prometheus; empty where metrics are off. */
  metricsText(): string
  /** The numbers, for more of one's own; undefined where they are off. */
  readonly registry: Registry | undefined
  /** The log, for more lines; undefined where it is off. */
  readonly log: Log | undefined
  /** Answers `/healthz`, `/readyz` and `/metrics`: see `beside` and `listen`. */
  readonly ops: Ops
  /** Serves those on an address of its own, which ends with the observer. */
  listen(address: string): Promise<OpsListener>
  /** The trace of whatever is running now; undefined where there is none. */
  currentTrace(): TraceContext | undefined
  /** Listens to nothing any more. Idempotent. */
  close(): Promise<void>
}

/**
 * Switches on metrics, logs and traces with one call: `observe({ endpoint: server, logs: 'info' })`.
 *
 * Events are heard from the whole process, whichever server they come from. Given to a plain server
 * before other middleware, it also sees what that refuses. A server keeps its middleware when the
 * observer is closed; it then costs a few looks at who might listen.
 */
export function observe(options: ObserveOptions = {}): Observer {
  const { endpoint, metrics = true, logs = false, traces = false } = options
  const lines: LogEventsOptions | undefined =
    logs === false ? undefined : typeof logs === 'string' ? { level: logs } : logs
  const log = lines && new Log(lines)
  const registry = metrics === false ? undefined : new Registry(metrics === true ? {} : metrics)
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
  if (endpoint !== undefined) join(endpoint, options.server, tracer?.middleware)
  const ops = new Ops({
    allowedHosts: options.allowedHosts,
    allowedOrigins: options.allowedOrigins,
    health: endpoint?.health === undefined ? undefined : () => healthOf(endpoint),
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
      // It may have been closed while the address was bound.
      if (closing !== undefined) await listener.close()
      return listener
    },
    currentTrace: () => tracer?.current(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Endpoints that tell of their calls already: twice would count each call twice. */
const telling = new WeakSet<Observable>()
/** The same for spans. */
const traced = new WeakSet<Observable>()

function join(endpoint: Observable, server: string | undefined, spans: Middleware | undefined) {
  if (endpoint.isObserved !== true && !telling.has(endpoint)) {
    telling.add(endpoint)
    endpoint.use?.(observed({ server }))
  }
  if (spans !== undefined && !traced.has(endpoint)) {
    traced.add(endpoint)
    endpoint.use?.(spans)
  }
}

function healthOf(endpoint: Observable): HealthReport {
  return endpoint.health?.() ?? { level: 'ok' }
}
