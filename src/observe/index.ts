export { type CallFacts, callsAreHeard, LiveCall } from './call.ts'
export type { CallerFacts } from './caller.ts'
export type { EventChannel } from './event-channel.ts'
export {
  type BreakerChanged,
  type BreakerState,
  type CallBegun,
  type CallEnded,
  type CallRouted,
  type ConfigReloaded,
  events,
  type InstanceEnded,
  type InstanceQuarantined,
  type InstanceRestarted,
  type InstanceStarted,
  type LimitRefused,
  type Outcome,
  type QuestionAsked,
  type QueueChanged,
  type SessionClosed,
  type SessionOpened,
  type ToolChanged,
} from './events.ts'
export {
  type Answering,
  beside,
  type HealthLevel,
  type HealthReport,
  type HealthState,
  Ops,
  type OpsOptions,
  type OpsReply,
  type OpsRequest,
} from './health/health.ts'
export { listenOps, type OpsListener } from './health/ops-server.ts'
export type { LogEventsOptions } from './log/events.ts'
export type { LogFormat, LogLevel } from './log/line.ts'
export { Log, type LogOptions, type LogStream } from './log/log.ts'
export {
  defaultBuckets,
  type Family,
  type HistogramSeries,
  type MetricDefinition,
  Registry,
  type RegistryOptions,
  type Series,
} from './metrics/registry.ts'
export { type Observable, type ObserveOptions, type Observer, observe } from './observe.ts'
export { type ObservedOptions, observed, sessionsOf } from './observed.ts'
export { type TraceContext, traceOf, withTrace } from './tracing/context.ts'
export { type Tracing, type TracingOptions, tracing } from './tracing/trace.ts'
