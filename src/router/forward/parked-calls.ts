import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest, InputRequests } from '../../mcp/types/input.ts'
import type { IncomingRequest } from '../../server/request.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import { randomHex } from '../../util/random.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'

/** What a caller that waits for a parked call gets: the outcome of the call, or server requests. */
export type ParkedCallEvent<T> =
  | { readonly type: 'completed'; readonly outcome: T }
  | { readonly type: 'input-required'; readonly requests: InputRequests }

interface OpenRequest {
  readonly request: InputRequest
  readonly answer: Deferred<unknown>
}

/**
 * A call of a stateless caller to a server that sends its requests during the call. The call continues
 * while the caller is answered with the server requests, and until it retries with the answers.
 */
export class ParkedCall<T> {
  readonly id = randomHex(16)
  /** Gives up the call to the server. */
  readonly stop = new AbortController()
  /** The request of the caller that waits now, or waited last. */
  request: IncomingRequest
  readonly #open = new Map<string, OpenRequest>()
  #lastKey = 0
  #outcome: Promise<T> | undefined
  #event: Deferred<void> = deferred()
  #isCompleted = false

  constructor(request: IncomingRequest) {
    this.request = request
  }

  /** Starts the call. `next` settles with its outcome. */
  begin(outcome: Promise<T>): void {
    this.#outcome = outcome
    const complete = (): void => {
      this.#isCompleted = true
      this.#event.resolve()
    }
    outcome.then(complete, complete)
  }

  /**
   * Sends a server request, and settles with its answer, which may come with another request of the
   * caller. Rejects when the server cancels its request, and when the call is given up.
   */
  ask(request: InputRequest, signal: AbortSignal): Promise<unknown> {
    const key = `q${++this.#lastKey}`
    const answer = deferred<unknown>()
    this.#open.set(key, { request, answer })
    const stopped = AbortSignal.any([signal, this.stop.signal])
    const onAbort = (): void => {
      if (this.#open.delete(key)) answer.reject(stopped.reason)
    }
    stopped.addEventListener('abort', onAbort, { once: true })
    if (stopped.aborted) onAbort()
    answer.promise.then(
      () => stopped.removeEventListener('abort', onAbort),
      () => {},
    )
    // In a microtask, so that server requests that are sent together reach the caller together.
    queueMicrotask(() => this.#event.resolve())
    return answer.promise
  }

  /** Takes the answers by the keys of the server requests. Answers without a request are ignored. */
  answer(answers: ReadonlyMap<string, unknown>): void {
    for (const [key, { answer }] of [...this.#open]) {
      if (!answers.has(key)) continue
      this.#open.delete(key)
      answer.resolve(answers.get(key))
    }
  }

  /**
   * Waits for the end of the call or for a server request. Rejects as the call fails. If the request of
   * the caller that waits is cancelled, the call is given up.
   */
  async next(): Promise<ParkedCallEvent<T>> {
    const { signal } = this.request.exchange
    const onAbort = (): void => this.stop.abort(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      // The event may be an old one: of a server request that has been answered meanwhile.
      while (this.#open.size === 0 && !this.#isCompleted) {
        await this.#event.promise
        this.#event = deferred()
      }
      if (this.#open.size > 0) return { type: 'input-required', requests: this.#requests() }
      // The check: the call was started, or it would not have completed.
      return { type: 'completed', outcome: await (this.#outcome as Promise<T>) }
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  #requests(): InputRequests {
    return Object.fromEntries(Array.from(this.#open, ([key, { request }]) => [key, request]))
  }
}

interface KeptCall<T> {
  readonly call: ParkedCall<T>
  readonly stopTimer: () => void
}

/** The calls that are parked until their callers retry. A call is given up after `parkedMs`. */
export class ParkedCalls<T> {
  readonly #deadlines: Deadlines
  readonly #parkedMs: number
  readonly #calls = new Map<string, KeptCall<T>>()

  constructor(deadlines: Deadlines, parkedMs: number = limits.parkedMs.default) {
    this.#deadlines = deadlines
    // The state that the caller retries with is not valid for longer.
    this.#parkedMs = Math.min(parkedMs, limits.serverRequestMs.default)
  }

  get size(): number {
    return this.#calls.size
  }

  /** Keeps a call until it is taken. At the limit `parkedCalls` the oldest call is given up. */
  keep(call: ParkedCall<T>): void {
    if (this.#calls.size >= limits.parkedCalls.default) this.#giveUpOldest()
    const alarm = timed(() => {
      this.#calls.delete(call.id)
      const message = 'The server request was not answered in time'
      call.stop.abort(errors.timeout(undefined, { message }))
    })
    this.#deadlines.start(alarm, this.#parkedMs)
    this.#calls.set(call.id, { call, stopTimer: () => this.#deadlines.stop(alarm) })
  }

  /** The oldest, because its caller will most likely not retry, whereas the one that parks now waits. */
  #giveUpOldest(): void {
    for (const id of this.#calls.keys()) {
      const message = 'Too many calls are waiting for answers'
      this.take(id)?.stop.abort(errors.customServerError({ reason: message }, { message }))
      return
    }
  }

  /** Takes a call, once; undefined if it was given up or taken before. */
  take(id: string): ParkedCall<T> | undefined {
    const kept = this.#calls.get(id)
    this.#calls.delete(id)
    kept?.stopTimer()
    return kept?.call
  }

  /** Gives up all of them. */
  close(): void {
    for (const id of [...this.#calls.keys()]) {
      this.take(id)?.stop.abort(
        errors.customServerError(undefined, { message: 'The router is closing' }),
      )
    }
  }
}
