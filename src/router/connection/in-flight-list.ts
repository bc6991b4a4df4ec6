import type { Progress } from '../../client/requests/progress.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputRequest } from '../../mcp/types/input.ts'

/** A call in flight on a connection, as far as messages of the server are attributed to it. */
export interface InFlightCall {
  /**
   * Identifies the caller: a session, or an object that belongs to this call alone. A message of the
   * server that names no call is delivered only if all calls of the connection have the same owner.
   *
   * Stateless calls never share an owner, not even those of one principal or of one connection. A
   * principal says who may see a server request, not which call it belongs to: it may be several
   * programs, one of which answers automatically, and consent to what another call wants to do is worse
   * than a rejection. One connection may carry the calls of many callers, forwarded by another router.
   */
  readonly owner: unknown
  /** Sends a server request to the caller and settles with its answer. Absent if the caller takes none. */
  readonly ask?: (request: InputRequest, signal: AbortSignal) => Promise<unknown>
  /** Reports progress of the call to the caller. Absent if the caller did not ask for it. */
  readonly onProgress?: (progress: Progress) => void
  /** Delivers a log message of the call to the caller. */
  readonly onLog?: (params: Members) => void
  /** The list that holds the call, and its neighbors there. Written by `InFlightList` only. */
  list?: InFlightList
  previous?: InFlightCall
  following?: InFlightCall
}

/**
 * The calls in flight on one connection, in the order in which they were added.
 *
 * Not a Set: while entries come and go, a Set moves from table to table, each of which references the
 * next one, and keeps every call that was in flight alive until a full garbage collection, which takes
 * more time than the calls. Here the calls are linked to each other, so a call is in one list at a time:
 * adding it to a list removes it from any other.
 */
export class InFlightList implements Iterable<InFlightCall> {
  #first: InFlightCall | undefined
  #last: InFlightCall | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  has(call: InFlightCall): boolean {
    return call.list === this
  }

  /** Adds a call at the end; a call that is already in the list keeps its place. */
  add(call: InFlightCall): void {
    if (call.list === this) return
    call.list?.delete(call)
    call.list = this
    call.previous = this.#last
    if (this.#last === undefined) this.#first = call
    else this.#last.following = call
    this.#last = call
    this.#size++
  }

  /** Removes a call. Returns whether it was in the list. */
  delete(call: InFlightCall): boolean {
    if (call.list !== this) return false
    const { previous, following } = call
    if (previous === undefined) this.#first = following
    else previous.following = following
    if (following === undefined) this.#last = previous
    else following.previous = previous
    call.list = undefined
    call.previous = undefined
    call.following = undefined
    this.#size--
    return true
  }

  *[Symbol.iterator](): Generator<InFlightCall, void, undefined> {
    let call = this.#first
    while (call !== undefined) {
      const { following } = call
      yield call
      call = following
    }
  }
}
