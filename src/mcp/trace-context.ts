import type { TraceContext } from './meta.ts'

/** Whoever knows of traces in this process. */
export interface TraceSource {
  /** The trace of whatever is running at the moment; undefined where there is none. */
  current(): TraceContext | undefined
  /** Runs something as part of no trace, wherever it is begun, and gives what it gives. */
  outside<T>(run: () => T): T
}

/** A process has one trace at a time, whoever tells it: like the events of a process, it is nobody's. */
const sources: TraceSource[] = []

/**
 * From now on the requests that leave this process name the trace that they are made in, until the
 * function that comes back is called. Where several know it, the first one is asked.
 */
export function shareTrace(source: TraceSource): () => void {
  sources.push(source)
  return () => {
    const at = sources.indexOf(source)
    if (at !== -1) sources.splice(at, 1)
  }
}

/** Whether anybody knows of traces: without that nothing need be made of them. */
export function isTraced(): boolean {
  return sources.length > 0
}

/** The trace of whatever is running now. A look at a list where nobody traces. */
export function ambientTrace(): TraceContext | undefined {
  return sources[0]?.current()
}

/**
 * Runs what goes on by itself, such as opening a connection again or asking for signs of life: it may
 * be begun by a call, or by a timer that a call has set, and is no part of either.
 */
export function outsideTraces<T>(run: () => T): T {
  const source = sources[0]
  return source === undefined ? run() : source.outside(run)
}

/**
 * The same `_meta` as a child of what is running now: with its trace in place of the one before, whose
 * baggage stays unless there is other. Gives back what was given where nothing is known of a trace.
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
    // A state belongs to its parent: that of another one would be a lie.
    else delete within.tracestate
  }
  if (trace.baggage !== undefined) within.baggage = trace.baggage
  return within
}
