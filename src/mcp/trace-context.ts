import type { TraceContext } from './meta.ts'

/** A provider of the current trace, such as a tracing library. */
export interface TraceSource {
  /** Returns the trace of the current execution context; undefined if there is none. */
  current(): TraceContext | undefined
  /** Runs a function outside of any trace, and returns its result. */
  outside<T>(run: () => T): T
}

/** The registered sources. They are global to the process, as the current trace is. */
const sources: TraceSource[] = []

/**
 * Registers a source, so that outgoing requests carry its current trace. Returns a function that
 * removes it. With several sources, the first one is used.
 */
export function shareTrace(source: TraceSource): () => void {
  sources.push(source)
  return () => {
    const at = sources.indexOf(source)
    if (at !== -1) sources.splice(at, 1)
  }
}

/** Whether a source is registered; without one, callers skip all work for traces. */
export function isTraced(): boolean {
  return sources.length > 0
}

/** Returns the current trace. Without a source this only checks the length of a list. */
export function ambientTrace(): TraceContext | undefined {
  return sources[0]?.current()
}

/**
 * Runs background work outside of any trace, such as reconnecting or liveness checks: a call, or a
 * timer that a call has set, may start it, but it is not part of that call.
 */
export function outsideTraces<T>(run: () => T): T {
  const source = sources[0]
  return source === undefined ? run() : source.outside(run)
}

/**
 * Returns `_meta` with the current trace instead of its own; its baggage stays unless the current trace
 * has baggage. Returns the argument unchanged if there is no current trace.
 */
export function withinTrace<M extends Readonly<Record<string, unknown>> | undefined>(
  meta: M,
): M | Record<string, unknown> {
  const trace = ambientTrace()
  if (trace === undefined) return meta
  const within: Record<string, unknown> = { ...meta }
  if (trace.traceparent !== undefined) {
    within.traceparent = trace.traceparent
    if (trace.tracestate !== undefined) within.tracestate = trace.tracestate
    // `tracestate` belongs to its `traceparent`; the one of another parent would be wrong.
    else delete within.tracestate
  }
  if (trace.baggage !== undefined) within.baggage = trace.baggage
  return within
}
