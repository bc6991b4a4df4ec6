import type { TextMapPropagator } from '@opentelemetry/api'
import type { Sampler } from '@opentelemetry/sdk-trace-node'

/** A span that has ended, as tests look at it. */
export interface ToldSpan {
  readonly name: string
  readonly kind: number
  readonly status: { readonly code: number; readonly message?: string }
  readonly attributes: Readonly<Record<string, unknown>>
  readonly traceId: string
  readonly spanId: string
  /** The `tracestate` that it goes on with. */
  readonly traceState?: string
  /** The id of the span that it is a child of. */
  readonly parent?: string
  /** The ids of the spans that it links to. */
  readonly links: readonly string[]
  readonly events: readonly string[]
  readonly scope: { readonly name: string; readonly version?: string }
}

export interface Telemetry {
  /** What the SDK was not content with: a span that ended twice, an attribute of a wrong type. */
  readonly complaints: readonly string[]
  /** The spans that have ended and are to be kept, in the order in which they began. */
  spans(): readonly ToldSpan[]
  /** The names of those that have not ended. */
  unfinished(): readonly string[]
  /** Begins anew. */
  forget(): void
}

export interface TelemetryOptions {
  readonly sampler?: Sampler
  /** Where each span is written when it ends, as a line of JSON. */
  readonly file?: string
  /** Null for none at all; those of the W3C for traces and baggage unless said. */
  readonly propagator?: TextMapPropagator | null
}

/** Sets up the SDK of OpenTelemetry, with its contexts and formats, and spans that stay in memory. */
export declare function registerTelemetry(options?: TelemetryOptions): Telemetry

/** Takes all of it away again. */
export declare function unregisterTelemetry(): void
