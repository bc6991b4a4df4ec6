import { RpcError } from '../jsonrpc/error.ts'
import type { Exchange } from '../jsonrpc/handler.ts'
import type { Id } from '../jsonrpc/message.ts'
import { isRecord } from '../util/record.ts'
import type { CallerFacts } from './caller.ts'
import { allTallies, isTallied } from './counters.ts'
import { type CallEnded, events, type Outcome } from './events.ts'

// The global is a getter, which costs as much again as a look at the clock.
export const clock = performance

/** What is known of a call when it comes. */
export interface CallFacts {
  readonly method: string
  readonly name?: string
  readonly id?: Id | null
  /** Which server is to answer, where that is known already. */
  readonly server?: string
  /** Who makes it, or how to find that out: of most calls nobody asks. */
  readonly caller?: CallerFacts | (() => CallerFacts)
}

/** Whether anybody wants to know of calls: without that, nothing is made of them. */
export function callsAreHeard(): boolean {
  return isTallied() || events.callFailed.isHeard || everyCallIsHeard()
}

/** Whether somebody wants an event for each of them, also for those that are answered well and at once. */
export function everyCallIsHeard(): boolean {
  return events.callEnded.isHeard || events.callBegun.isHeard
}

/**
 * One call that somebody wants to hear of: told when it is made, and once more when it ends.
 *
 * Whoever publishes makes one per call, and only where `callsAreHeard()` says so; which server
 * and instance answer, and how often it was tried, is written to it on the way.
 */
export class LiveCall implements CallEnded {
  readonly method: string
  readonly name: string | undefined
  readonly id: Id | null | undefined
  readonly beganMs: number
  instance: string | undefined
  retries: number | undefined
  outcome: Outcome = 'ok'
  kind: string | undefined
  code: number | undefined
  durationMs = -1
  #server: string | undefined
  readonly #caller: CallFacts['caller']

  /** Tells that a call begins, or has begun before it was clear that anybody had to be told. */
  constructor(facts: CallFacts, beganMs = clock.now()) {
    this.method = facts.method
    this.name = facts.name
    this.id = facts.id
    this.#server = facts.server
    this.#caller = facts.caller
    this.beganMs = beganMs
    allTallies.begun(this)
    events.callBegun.publish(this)
  }

  /** Which server answers. Whoever finds that out on the way writes it here, and it is told. */
  get server(): string | undefined {
    return this.#server
  }

  set server(to: string | undefined) {
    const from = this.#server
    if (to === from) return
    this.#server = to
    allTallies.moved(from ?? '', to ?? '', this)
    if (events.callRouted.isHeard) events.callRouted.publish({ call: this, from, to })
  }

  get caller(): CallerFacts {
    const caller = this.#caller
    return (typeof caller === 'function' ? caller() : caller) ?? {}
  }

  /** The call was answered with a result, which tells by itself what it is. */
  succeed(result: unknown): void {
    this.end(outcomeOf(result))
  }

  /** The call failed; `isAborted` tells whether it had been given up before. */
  fail(error: unknown, isAborted = false): void {
    if (error instanceof RpcError) this.end('error', error.kind ?? `code ${error.code}`, error.code)
    else if (isAborted) this.end('cancelled')
    else this.end('error', 'internal_error', -32603)
  }

  /**
   * Has the call end with its answer, at once or when that settles, and gives the answer back. Beside
   * it, not in its way: whoever waits for it waits no longer.
   */
  follow<T>(answer: T, exchange: Pick<Exchange, 'signal'>): T {
    if (answer instanceof Promise) {
      answer.then(
        result => this.succeed(result),
        (error: unknown) => this.fail(error, exchange.signal.aborted),
      )
    } else {
      this.succeed(answer)
    }
    return answer
  }

  /** Tells how it ended. What comes later than the first time is not told. */
  end(outcome: Outcome, kind?: string, code?: number): void {
    if (this.durationMs >= 0) return
    this.durationMs = clock.now() - this.beganMs
    this.outcome = outcome
    this.kind = kind
    this.code = code
    allTallies.ended(this)
    if (outcome === 'error') events.callFailed.publish(this)
    events.callEnded.publish(this)
  }
}

/** What a request is about: the name of a tool or prompt, or the address of a resource. */
export function nameIn(method: string, params: unknown): string | undefined {
  if (!isRecord(params)) return undefined
  // Most calls are of tools, and a member that is named here is found much faster than one of a table.
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

/** What a result tells of how a call ended. */
export function outcomeOf(result: unknown): Outcome {
  if (!isRecord(result)) return 'ok'
  if (result.isError === true) return 'tool-error'
  return result.resultType === 'input_required' ? 'input-required' : 'ok'
}
