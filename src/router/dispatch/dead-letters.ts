import { RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { events, type Undelivered } from '../../observe/events.ts'
import { causeLabel } from '../../util/error-cause.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { checkRange } from '../../util/range.ts'
import type { DeadLetterOptions } from '../options.ts'

/** A call that a router refused or could not deliver. */
export interface DeadLetter extends Undelivered {
  /** When, in milliseconds since 1970. */
  readonly at: number
  /** The params of the call, if they are kept. */
  readonly params?: unknown
}

/** The call of a dead letter, as far as it is known. */
export interface UndeliveredCall {
  readonly method: string
  /** The exposed or upstream name of the tool or prompt, or the URI of the resource. */
  readonly name: string | undefined
  readonly caller: Caller
  readonly params: unknown
}

/**
 * The newest calls that were refused by a limit, could not be delivered, or whose outcome is unknown. A call
 * that its server answered, with an error too, is none of them. Bounded; by default without params, which
 * may be secret.
 */
export class DeadLetters {
  readonly #max: number
  readonly #keepsParams: boolean
  /** A ring buffer: the oldest letter is at `#count % #max` once it is full. */
  readonly #letters: DeadLetter[] = []
  #count = 0

  /** Throws a RangeError for options out of range. */
  constructor({ max = limits.deadLetters.default, params = false }: DeadLetterOptions = {}) {
    this.#max = checkRange('deadLetters.max', max, { min: 0, max: 1_000_000, integer: true })
    this.#keepsParams = params
  }

  /** How many there have been, those included that are no longer kept. */
  get count(): number {
    return this.#count
  }

  /** Returns the letters that are kept, the oldest first. */
  list(): readonly DeadLetter[] {
    const oldest = this.#letters.length < this.#max ? 0 : this.#count % this.#max
    return [...this.#letters.slice(oldest), ...this.#letters.slice(0, oldest)]
  }

  /** Adds a call that failed with this error, if the error is one of the router and not of the server. */
  add(server: string, call: UndeliveredCall, error: unknown): void {
    if (!(error instanceof RpcError)) return
    const undelivered = undeliveredOf(server, call, error)
    if (this.#max > 0) {
      const letter: DeadLetter = {
        at: Date.now(),
        ...undelivered,
        ...(this.#keepsParams && { params: call.params }),
      }
      this.#letters[this.#count % this.#max] = letter
    }
    this.#count++
    if (events.undelivered.hasSubscribers) events.undelivered.publish(undelivered)
  }
}

function undeliveredOf(
  server: string,
  { method, name, caller }: UndeliveredCall,
  error: RpcError,
): Undelivered {
  const { outcome, retryAfterMs, limit } = isRecord(error.data) ? error.data : {}
  const reason = causeLabel(error)
  return {
    server,
    method,
    name,
    principal: caller.principal?.id,
    code: error.code,
    kind: error.kind,
    message: error.message,
    outcome: outcome === 'unknown' ? 'unknown' : 'not-executed',
    ...(reason !== undefined && { reason }),
    ...(typeof limit === 'string' && { limit }),
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
  }
}
