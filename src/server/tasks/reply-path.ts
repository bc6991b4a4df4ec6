import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Calls } from '../../jsonrpc/handler.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { orAborted } from '../../util/abort.ts'
import { type Deferred, deferred } from '../../util/deferred.ts'

/** Whom a message can be given to. */
export type Way = Calls

/**
 * The ways from a task to whoever made it, in session revisions: the request that waits for its result,
 * if there is one, else the session it was made in. Both may end while the task goes on, and another
 * session may come for the result.
 */
export class TaskWay {
  #session: Way | undefined
  readonly #waiting = new Set<Way>()
  #arrival: Deferred<void> | undefined

  constructor(session: Way | undefined) {
    this.#session = session
  }

  /** Somebody waits for the result, and can be asked meanwhile. */
  join(way: Way): void {
    this.#waiting.add(way)
    this.#arrival?.resolve()
    this.#arrival = undefined
  }

  leave(way: Way): void {
    this.#waiting.delete(way)
  }

  /** Sends a notification if there is anybody to hear it. */
  notify(method: string, params: object): void {
    try {
      const told = this.#best()?.notify(method, params)
      if (told !== undefined) told.then(undefined, () => {})
    } catch {
      // Whoever is gone asks for the task when it is back.
    }
  }

  /**
   * Asks, again if the connection is lost before there is an answer, and as soon as there is anybody
   * to ask.
   */
  async ask(
    question: InputRequest,
    signal: AbortSignal,
    put: (way: Way, question: InputRequest) => Promise<unknown>,
  ): Promise<unknown> {
    for (;;) {
      const way = this.#best()
      if (way === undefined) {
        this.#arrival ??= deferred()
        await orAborted(this.#arrival.promise, signal)
        continue
      }
      try {
        return await put(way, question)
      } catch (error) {
        if (!(error instanceof ChannelError) || error.code !== 'closed') throw error
        this.#waiting.delete(way)
        if (this.#session === way) this.#session = undefined
      }
    }
  }

  /** The one who came last: an earlier one may have been given up unnoticed. */
  #best(): Way | undefined {
    return [...this.#waiting].at(-1) ?? this.#session
  }
}
