import { RpcError } from '../jsonrpc/error.ts'
import type { Exchange } from '../jsonrpc/handler.ts'
import type { Id } from '../jsonrpc/message.ts'
import { methodRow } from '../mcp/methods.ts'
import { causeLabel } from '../util/error-cause.ts'
import { isRecord } from '../util/objects.ts'
import type { CallerInfo } from './caller.ts'
import { callCounters, hasCallCounters } from './counters.ts'
import { type CallFinished, events, type Outcome } from './events.ts'

// Kept in a constant, because reading the global getter costs as much as reading the clock.
export const clock = performance

/** What is known of a call when it starts. */
export interface CallInfo {
  /** The method of the request, such as `tools/call`. */
  readonly method: string
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name?: string
  /** The id of the request; undefined for a notification. */
  readonly id?: Id | null
  /** The server that handles the call, if it is known already. */
  readonly server?: string
  /** The caller, or a function that finds it, because most subscribers never read it. */
  readonly caller?: CallerInfo | (() => CallerInfo)
}

/** Whether there are subscribers or counters for calls. If not, publishers must not create spans. */
export function hasCallSubscribers(): boolean {
  return hasCallCounters() || events.callFailed.hasSubscribers || hasCallEventSubscribers()
}

/** Whether there are subscribers that need an event for each call, even if it succeeds synchronously. */
export function hasCallEventSubscribers(): boolean {
  return events.callFinished.hasSubscribers || events.callStarted.hasSubscribers
}

/**
 * The span of one call: publishes `callStarted` when it is created and `callFinished` when it ends.
 *
 * A publisher creates one per call, only if `hasCallSubscribers()` returns true, and sets `server`,
 * `instance` and `retries` as soon as they are known.
 */
export class CallSpan implements CallFinished {
  /** The method of the request, such as `tools/call`. */
  readonly method: string
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name: string | undefined
  /** The id of the request; undefined for a notification. */
  readonly id: Id | null | undefined
  /** When the request arrived, in milliseconds of `performance.now()`. */
  readonly startedMs: number
  /** The instance of the server that handles the call; undefined if there is only one. */
  instance: string | undefined
  /** How often the router retried the call. */
  retries: number | undefined
  /** How the call ended; `'ok'` until then. */
  outcome: Outcome = 'ok'
  /** The name of the error in the error catalog, if the outcome is `'error'`. */
  kind: string | undefined
  /** The code of that error in the catalog. */
  code: number | undefined
  /** What is at the root of that error, such as `HTTP 503`, if that is known. */
  reason: string | undefined
  /** How long the call took, in milliseconds; -1 until it ends. */
  durationMs = -1
  #server: string | undefined
  readonly #caller: CallInfo['caller']

  /** Publishes `callStarted`. `startedMs` is in the past if the span is created only after the call started. */
  constructor(info: CallInfo, startedMs = clock.now()) {
    this.method = info.method
    this.name = info.name
    this.id = info.id
    this.#server = info.server
    this.#caller = info.caller
    this.startedMs = startedMs
    callCounters.started(this)
    events.callStarted.publish(this)
  }

  /** The server that handles the call. Setting another one publishes `callRouted`, until the span ends. */
  get server(): string | undefined {
    return this.#server
  }

  set server(to: string | undefined) {
    const from = this.#server
    // A call may go to a server after it was answered, as a task: its span has ended, and stays as it is.
    if (to === from || this.durationMs >= 0) return
    this.#server = to
    callCounters.rerouted(from ?? '', to ?? '', this)
    if (events.callRouted.hasSubscribers) events.callRouted.publish({ call: this, from, to })
  }

  /** The caller of the request, found on first access. */
  get caller(): CallerInfo {
    const caller = this.#caller
    return (typeof caller === 'function' ? caller() : caller) ?? {}
  }

  /** Ends the span with the outcome of a result: `ok`, `tool-error` or `input-required`. */
  succeed(result: unknown): void {
    this.end(outcomeOf(result))
  }

  /** Ends the span with an error, or as cancelled if `isAborted`: whatever the handler stopped with. */
  fail(error: unknown, isAborted = false): void {
    if (isAborted) {
      this.end('cancelled')
      return
    }
    this.reason = causeLabel(error)
    if (error instanceof RpcError) this.end('error', error.kind ?? `code ${error.code}`, error.code)
    else this.end('error', 'internal_error', -32603)
  }

  /**
   * Ends the span with the result of a handler, now or when the promise settles, and returns the result
   * unchanged. The span observes the promise without delaying it. A call that was cancelled counts as that,
   * even if its handler continued and returned a result, which is not sent.
   */
  follow<T>(result: T, exchange: Pick<Exchange, 'signal' | 'settled'>): T {
    if (result instanceof Promise) {
      result.then(
        value => (exchange.settled === true ? this.end('cancelled') : this.succeed(value)),
        (error: unknown) => this.fail(error, exchange.signal.aborted),
      )
    } else {
      this.succeed(result)
    }
    return result
  }

  /** Publishes `callFinished`. Only the first call has an effect. */
  end(outcome: Outcome, kind?: string, code?: number): void {
    if (this.durationMs >= 0) return
    this.durationMs = clock.now() - this.startedMs
    this.outcome = outcome
    this.kind = kind
    this.code = code
    callCounters.finished(this)
    if (outcome === 'error') events.callFailed.publish(this)
    events.callFinished.publish(this)
  }
}

/** Returns the subject of a request: the name of a tool or prompt, or the URI of a resource. */
export function nameIn(method: string, params: unknown): string | undefined {
  if (!isRecord(params)) return undefined
  // Most calls are tool calls, and a literal property access is much faster than a lookup by key.
  const name = method === 'tools/call' ? params.name : otherSubject(method, params)
  return typeof name === 'string' ? name : undefined
}

function otherSubject(method: string, params: Readonly<Record<string, unknown>>): unknown {
  const key = methodRow(method)?.subject
  // The id of a task says nothing about it to an operator.
  return key === undefined || key === 'taskId' ? undefined : params[key]
}

/** Returns the outcome that a result stands for. */
export function outcomeOf(result: unknown): Outcome {
  if (!isRecord(result)) return 'ok'
  if (result.isError === true) return 'tool-error'
  return result.resultType === 'input_required' ? 'input-required' : 'ok'
}
