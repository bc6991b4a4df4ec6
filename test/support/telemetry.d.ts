import type { TextMapPropagator } from '@opentelemetry/api'
import type { Sampler } from '@opentelemetry/sdk-trace-node'

/** A finished span, as plain data. */
export interface ToldSpan {
  readonly name: string
  readonly kind: number
  readonly status: { readonly code: number; readonly message?: string }
  readonly attributes: Readonly<Record<string, unknown>>
  readonly traceId: string
  readonly spanId: string
  /** The `tracestate` that the span propagates. */
  readonly traceState?: string
  /** The id of the parent span. */
  readonly parent?: string
  /** The ids of the linked spans. */
  readonly links: readonly string[]
  readonly events: readonly string[]
  readonly scope: { readonly name: string; readonly version?: string }
}

export interface Telemetry {
  /** Warnings and errors of the SDK, such as a span that ended twice or an attribute of a wrong type. */
  readonly complaints: readonly string[]
  /** Returns the finished spans that were sampled, in the order in which they started. */
  spans(): readonly ToldSpan[]
  /** Returns the names of the spans that have not ended. */
  unfinished(): readonly string[]
  /** Discards all spans. */
  forget(): void
}

export interface TelemetryOptions {
  readonly sampler?: Sampler
  /** The file to which each span is written when it ends, as a line of JSON. */
  readonly file?: string
  /** Null for none; the W3C propagators for trace context and baggage by default. */
  readonly propagator?: TextMapPropagator | null
}

/** Registers the OpenTelemetry SDK with its context manager, propagators and an in-memory exporter. */
export declare function registerTelemetry(options?: TelemetryOptions): Telemetry

/** Unregisters the SDK. */
export declare function unregisterTelemetry(): void
