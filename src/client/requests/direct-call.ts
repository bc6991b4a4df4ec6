import type { Id } from '../../jsonrpc/message.ts'
import type { ReplyHandler } from '../../jsonrpc/peer/pending.ts'
import type { Negotiated } from '../connection/negotiate.ts'
import { isComplete } from './input-rounds.ts'
import type { RequestRun } from './request-run.ts'

/** A request that was sent on a connection. */
export interface SentRequest {
  readonly run: RequestRun
  readonly opened: Negotiated
  readonly params: object | undefined
  /** Undefined while the request is being sent, and for good if it was refused at once. */
  readonly id: Id | undefined
}

/** Takes over direct calls that did not complete with their first response. */
export interface DirectCallHost {
  /** Continues a request whose first result is not final. */
  continue(sent: SentRequest, result: unknown): Promise<unknown>
  /** Retries a failed request if that is allowed; rejects otherwise. */
  recover(sent: SentRequest, error: unknown): Promise<unknown>
}

/**
 * The fast path of a request: sent at once, and settled by its first response, with a single promise. If
 * that response is not final or the request fails, the host continues.
 */
export class DirectCall<T> implements ReplyHandler, SentRequest {
  readonly run: RequestRun
  readonly opened: Negotiated
  readonly params: object | undefined
  id: Id | undefined
  readonly #host: DirectCallHost
  readonly #read: (result: unknown) => T | Promise<T>
  readonly #settle: (outcome: T | Promise<T>) => void

  constructor(
    host: DirectCallHost,
    run: RequestRun,
    opened: Negotiated,
    params: object | undefined,
    read: (result: unknown) => T | Promise<T>,
    settle: (outcome: T | Promise<T>) => void,
  ) {
    this.#host = host
    this.run = run
    this.opened = opened
    this.params = params
    this.#read = read
    this.#settle = settle
  }

  resolve(result: unknown): void {
    const { resultTypes } = this.opened.server.revision.features
    if (resultTypes && !isComplete(result)) {
      this.#settle(this.#host.continue(this, result).then(this.#read))
      return
    }
    try {
      this.#settle(this.#read(result))
    } catch (error) {
      this.#settle(Promise.reject(error))
    }
  }

  reject(error: unknown): void {
    this.#settle(this.#host.recover(this, error).then(this.#read))
  }
}
