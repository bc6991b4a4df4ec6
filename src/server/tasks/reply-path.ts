import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Calls } from '../../jsonrpc/handler.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { abortable, type Deferred, deferred } from '../../util/promises.ts'

/**
 * The connections from a task to its client, in session revisions: the request that waits for the result,
 * if there is one, else the session that created the task. Both may close while the task continues, and
 * another session may request the result.
 */
export class TaskReplyPath {
  #session: Calls | undefined
  readonly #waiting = new Set<Calls>()
  #arrival: Deferred<void> | undefined

  constructor(session: Calls | undefined) {
    this.#session = session
  }

  /** Adds the connection of a request that waits for the result. */
  join(calls: Calls): void {
    this.#waiting.add(calls)
    this.#arrival?.resolve()
    this.#arrival = undefined
  }

  /** Removes the connection of a request that no longer waits. */
  leave(calls: Calls): void {
    this.#waiting.delete(calls)
  }

  /** Sends a notification; drops it where no client is connected. */
  notify(method: string, params: object): void {
    try {
      const sent = this.#current()?.notify(method, params)
      if (sent !== undefined) sent.then(undefined, () => {})
    } catch {
      // A client that was disconnected polls the task when it is back.
    }
  }

  /**
   * Sends a request to the client. Waits until a client is connected, and sends the request again if the
   * connection closes before the response.
   */
  async ask(
    request: InputRequest,
    signal: AbortSignal,
    send: (calls: Calls, request: InputRequest) => Promise<unknown>,
  ): Promise<unknown> {
    for (;;) {
      const calls = this.#current()
      if (calls === undefined) {
        this.#arrival ??= deferred()
        await abortable(this.#arrival.promise, signal)
        continue
      }
      try {
        return await send(calls, request)
      } catch (error) {
        if (!(error instanceof ChannelError) || error.code !== 'closed') throw error
        this.#waiting.delete(calls)
        if (this.#session === calls) this.#session = undefined
      }
    }
  }

  /** The connection that joined last: an earlier one may be lost without being noticed yet. */
  #current(): Calls | undefined {
    return [...this.#waiting].at(-1) ?? this.#session
  }
}
