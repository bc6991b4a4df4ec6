import { metaKeys, readTrace, type TraceContext } from '../../mcp/meta.ts'

export type { TraceContext }

/**
 * The trace that a message belongs to, from its `_meta`; undefined where it names none.
 *
 * What is malformed is left out, and `tracestate` together with `traceparent`, so that whatever comes
 * back may be passed on, also as headers. Anything may be given: it comes from outside.
 */
export function traceOf(meta: unknown): TraceContext | undefined {
  return readTrace({ _meta: meta })
}

/**
 * The same `_meta` with this trace in place of whatever trace it had; without one, of none. What is
 * malformed in the trace is left out. Nothing that was given is changed.
 */
export function withTrace(
  meta: Readonly<Record<string, unknown>> | undefined,
  trace: TraceContext | undefined,
): Record<string, unknown> {
  const sound = traceOf(trace)
  const rest: Record<string, unknown> = { ...meta }
  for (const key of traceKeys) delete rest[key]
  if (sound?.traceparent !== undefined) rest[metaKeys.traceparent] = sound.traceparent
  if (sound?.tracestate !== undefined) rest[metaKeys.tracestate] = sound.tracestate
  if (sound?.baggage !== undefined) rest[metaKeys.baggage] = sound.baggage
  return rest
}

const traceKeys = [metaKeys.traceparent, metaKeys.tracestate, metaKeys.baggage]
