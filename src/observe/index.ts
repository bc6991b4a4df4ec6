export type { OriginPolicy, RequestOrigin } from '../util/origin.ts'
export { type CountedStream, Traffic } from '../util/traffic.ts'
export { AuditLog, type AuditLogOptions, openAuditLog } from './audit/audit-log.ts'
export type {
  AuditOutcome,
  AuditRecord,
  AuditSink,
  CallAudit,
  ChangeAudit,
  ExchangeAudit,
  GrantAudit,
  KeyAudit,
  LoginAudit,
} from './audit/record.ts'
export { type AuditCheck, verifyAuditLog } from './audit/verify.ts'
export { type CallInfo, CallSpan, hasCallSubscribers } from './call.ts'
export type { CallerInfo } from './caller.ts'
export type {
  EngineChanged,
  ForwardOutcome,
  NodeAdopted,
  NodeJoined,
  NodeLeft,
  RequestForwarded,
  SessionAdopted,
  SessionFenced,
  SessionsHandedOff,
} from './cluster/events.ts'
export { type ClusterNodeStatus, type ClusterPeer, clusterNodes } from './cluster/nodes.ts'
export type { EventChannel } from './event-channel.ts'
export {
  type BreakerChanged,
  type BreakerState,
  type CallAttempted,
  type CallFinished,
  type CallProgressed,
  type CallRecorded,
  type CallRouted,
  type CallStarted,
  type CallWaited,
  type ConfigReloaded,
  events,
  type HealthMissed,
  type InstanceExited,
  type InstanceQuarantined,
  type InstanceRestarted,
  type InstanceStarted,
  type LimitRefused,
  type ListFailed,
  type ListRecovered,
  type LogWritten,
  type Outcome,
  type QueueChanged,
  type ServerRequestSent,
  type SessionClosed,
  type SessionOpened,
  type ToolChanged,
  type Undelivered,
} from './events.ts'
export {
  type ClusterNodeHealth,
  type HealthLevel,
  type HealthReport,
  type HealthState,
  Ops,
  type OpsOptions,
  type OpsReply,
  type OpsRequest,
  type RequestHandler,
  type RetiringHandler,
  withOps,
} from './health/health.ts'
export { listenOps, type OpsListener } from './health/ops-server.ts'
export type { LogEventsOptions } from './log/events.ts'
export type { LogFormat, LogLine, LogLineLevel } from './log/line.ts'
export { Log, type LogOptions, type LogStream } from './log/log.ts'
export {
  defaultBuckets,
  type HistogramSeries,
  type MetricDefinition,
  type MetricFamily,
  type MetricReading,
  MetricRegistry,
  type MetricRegistryOptions,
  type Series,
} from './metrics/registry.ts'
export type { TrafficSource } from './metrics/traffic-metrics.ts'
export { type Observable, type ObserveOptions, type Observer, observe } from './observe.ts'
export { type ObservedOptions, observed, withSessionEvents } from './observed.ts'
export { type TraceContext, traceOf, withTrace } from './tracing/context.ts'
export { type Tracing, type TracingOptions, tracing } from './tracing/trace.ts'
