import { metaKeys, readTrace, type TraceContext } from '../../mcp/meta.ts'

export type { TraceContext }

/**
 * Reads the trace context from the `_meta` of a message; undefined if there is none.
 *
 * Malformed members are left out, and `tracestate` together with `traceparent`, so that the result is safe
 * to propagate, also as HTTP headers. `meta` may be any value, because it comes from a peer.
 */
export function traceOf(meta: unknown): TraceContext | undefined {
  return readTrace({ _meta: meta })
}

/**
 * Returns a copy of `_meta` with this trace context instead of the one it had; with undefined, without any.
 * Malformed members of the trace context are left out.
 */
export function withTrace(
  meta: Readonly<Record<string, unknown>> | undefined,
  trace: TraceContext | undefined,
): Record<string, unknown> {
  const valid = traceOf(trace)
  const rest: Record<string, unknown> = { ...meta }
  for (const key of traceKeys) delete rest[key]
  if (valid?.traceparent !== undefined) rest[metaKeys.traceparent] = valid.traceparent
  if (valid?.tracestate !== undefined) rest[metaKeys.tracestate] = valid.tracestate
  if (valid?.baggage !== undefined) rest[metaKeys.baggage] = valid.baggage
  return rest
}

const traceKeys = [metaKeys.traceparent, metaKeys.tracestate, metaKeys.baggage]
