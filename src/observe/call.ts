import { RpcError } from '../jsonrpc/error.ts'
import type { Exchange } from '../jsonrpc/handler.ts'
import type { Id } from '../jsonrpc/message.ts'
import { isRecord } from '../util/objects.ts'
import type { CallerInfo } from './caller.ts'
import { callCounters, hasCallCounters } from './counters.ts'
import { type CallFinished, events, type Outcome } from './events.ts'

// Kept in a constant, because reading the global getter costs as much as reading the clock.
export const clock = performance

/** What is known of a call when it starts. */
export interface CallInfo {
  readonly method: string
  readonly name?: string
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
  readonly method: string
  readonly name: string | undefined
  readonly id: Id | null | undefined
  readonly startedMs: number
  instance: string | undefined
  retries: number | undefined
  outcome: Outcome = 'ok'
  kind: string | undefined
  code: number | undefined
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

  /** The server that handles the call. Setting another one publishes `callRouted`. */
  get server(): string | undefined {
    return this.#server
  }

  set server(to: string | undefined) {
    const from = this.#server
    if (to === from) return
    this.#server = to
    callCounters.rerouted(from ?? '', to ?? '', this)
    if (events.callRouted.hasSubscribers) events.callRouted.publish({ call: this, from, to })
  }

  get caller(): CallerInfo {
    const caller = this.#caller
    return (typeof caller === 'function' ? caller() : caller) ?? {}
  }

  /** Ends the span with the outcome of a result: `ok`, `tool-error` or `input-required`. */
  succeed(result: unknown): void {
    this.end(outcomeOf(result))
  }

  /** Ends the span with an error, or as cancelled if `isAborted` and the error is not an RpcError. */
  fail(error: unknown, isAborted = false): void {
    if (error instanceof RpcError) this.end('error', error.kind ?? `code ${error.code}`, error.code)
    else if (isAborted) this.end('cancelled')
    else this.end('error', 'internal_error', -32603)
  }

  /**
   * Ends the span with the result of a handler, now or when the promise settles, and returns the result
   * unchanged. The span observes the promise without delaying it.
   */
  follow<T>(result: T, exchange: Pick<Exchange, 'signal'>): T {
    if (result instanceof Promise) {
      result.then(
        value => this.succeed(value),
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
  const key = subjects.get(method)
  return key === undefined ? undefined : params[key]
}

const subjects: ReadonlyMap<string, string> = new Map([
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['resources/subscribe', 'uri'],
  ['resources/unsubscribe', 'uri'],
])

/** Returns the outcome that a result stands for. */
export function outcomeOf(result: unknown): Outcome {
  if (!isRecord(result)) return 'ok'
  if (result.isError === true) return 'tool-error'
  return result.resultType === 'input_required' ? 'input-required' : 'ok'
}
