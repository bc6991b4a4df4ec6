import type { Link } from '../../client/connection/connection.ts'
import { withMeta } from '../../client/connection/request-meta.ts'
import { isTimeout } from '../../client/errors.ts'
import type { Id } from '../../jsonrpc/message.ts'
import type { Waiter } from '../../jsonrpc/peer/pending.ts'
import type { Underway } from '../connection/request-attribution.ts'
import type { Errand, SendOptions } from '../forward/errand.ts'

/** The connection of a plain call, and the calls that it is one of. */
export interface PlainWay {
  readonly link: Link
  readonly underway: Underway
}

/**
 * A call as nearly every call is: nothing but the reply can come, and nothing but the deadline moves. A
 * class, because one is made for every call.
 */
export class PlainCall implements Waiter {
  takesWritten = false
  readonly #errand: Errand
  readonly #waiter: Waiter
  readonly #method: string
  readonly #way: PlainWay
  #id: Id | undefined
  #isOver = false

  constructor(waiter: Waiter, method: string, errand: Errand, way: PlainWay) {
    this.#errand = errand
    this.#waiter = waiter
    this.#method = method
    this.#way = way
  }

  /** To be called once. */
  send(params: object, { abort, timeoutMs, sender, takesWritten = false }: SendOptions): void {
    const { link, underway } = this.#way
    this.takesWritten = takesWritten
    const sent = withMeta(params, { sender, isPassedOn: true })
    underway.begin(this.#errand)
    const id = link.start(this, this.#method, sent, { timeoutMs })
    if (id === undefined || this.#isOver) return
    this.#id = id
    if (link.hasStreams) underway.name(id, this.#errand)
    abort.onAbort?.(reason => {
      if (!this.#isOver) underway.abandon(this.#errand, id, link)
      link.abandon(id, reason)
    })
  }

  resolve(result: unknown): void {
    this.#over(result)
    this.#waiter.resolve(result)
  }

  reject(error: unknown): void {
    // What it means is known only when whoever has ended the connection has said so.
    queueMicrotask(() => {
      const { link, underway } = this.#way
      if (this.#id !== undefined && isTimeout(error)) underway.abandon(this.#errand, this.#id, link)
      this.#over()
      this.#waiter.reject(link.failure(error, this.#method, this.#id, {}))
    })
  }

  #over(result?: unknown): void {
    this.#isOver = true
    this.#way.underway.end(this.#errand, this.#id, result)
  }
}
