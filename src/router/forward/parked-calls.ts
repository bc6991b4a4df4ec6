import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest, InputRequests } from '../../mcp/types/input.ts'
import type { ServerRequest } from '../../server/request.ts'
import { type Deferred, deferred } from '../../util/deferred.ts'
import { limits } from '../../util/limits/limits.ts'
import { randomHex } from '../../util/random.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'

/** What a held call has come to: its end, or questions that it waits for. */
export type News<T> =
  | { readonly type: 'over'; readonly outcome: T }
  | { readonly type: 'asked'; readonly requests: InputRequests }

interface OpenQuestion {
  readonly question: InputRequest
  readonly answer: Deferred<unknown>
}

/**
 * A call of a stateless caller to a server that can only ask while the call is under way. The call goes
 * on while the caller is told what is asked, and while it comes back with the answer.
 */
export class HeldCall<T> {
  readonly id = randomHex(16)
  /** Gives up the call to the server. */
  readonly stop = new AbortController()
  /** The request of the caller that waits at the moment, or waited last. */
  request: ServerRequest
  readonly #questions = new Map<string, OpenQuestion>()
  #asked = 0
  #outcome: Promise<T> | undefined
  #news: Deferred<void> = deferred()
  #isOver = false

  constructor(request: ServerRequest) {
    this.request = request
  }

  /** Begins the call. What it was is told by `next`. */
  begin(outcome: Promise<T>): void {
    this.#outcome = outcome
    const over = (): void => {
      this.#isOver = true
      this.#news.resolve()
    }
    outcome.then(over, over)
  }

  /**
   * Puts a question, and settles with the answer, which may come with another request. Rejects when the
   * server does not want to know any more, and when the call is given up.
   */
  ask(question: InputRequest, signal: AbortSignal): Promise<unknown> {
    const key = `q${++this.#asked}`
    const answer = deferred<unknown>()
    this.#questions.set(key, { question, answer })
    const ends = AbortSignal.any([signal, this.stop.signal])
    const onAbort = (): void => {
      if (this.#questions.delete(key)) answer.reject(ends.reason)
    }
    ends.addEventListener('abort', onAbort, { once: true })
    if (ends.aborted) onAbort()
    answer.promise.then(
      () => ends.removeEventListener('abort', onAbort),
      () => {},
    )
    // Those that are asked together are told together.
    queueMicrotask(() => this.#news.resolve())
    return answer.promise
  }

  /** Brings answers by the keys of their questions. Those that nobody asked for are left alone. */
  answer(answers: ReadonlyMap<string, unknown>): void {
    for (const [key, { answer }] of [...this.#questions]) {
      if (!answers.has(key)) continue
      this.#questions.delete(key)
      answer.resolve(answers.get(key))
    }
  }

  /** Waits for the end of the call or for a question. The request that waits can give the call up. */
  async next(): Promise<News<T>> {
    const { signal } = this.request.exchange
    const onAbort = (): void => this.stop.abort(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      // News may be old: of a question that has been told and answered meanwhile.
      while (this.#questions.size === 0 && !this.#isOver) {
        await this.#news.promise
        this.#news = deferred()
      }
      if (this.#questions.size > 0) return { type: 'asked', requests: this.#requests() }
      // The check: it has been begun, or it would not be over.
      return { type: 'over', outcome: await (this.#outcome as Promise<T>) }
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  #requests(): InputRequests {
    return Object.fromEntries(Array.from(this.#questions, ([key, { question }]) => [key, question]))
  }
}

/** The calls that are held until their callers come back. One that nobody comes back for is given up. */
export class HeldCalls<T> {
  readonly #deadlines: Deadlines
  readonly #heldMs: number
  readonly #calls = new Map<string, { readonly call: HeldCall<T>; readonly expire: () => void }>()

  constructor(deadlines: Deadlines, heldMs: number = limits.heldMs.default) {
    this.#deadlines = deadlines
    // What the caller comes back with is good for no longer.
    this.#heldMs = Math.min(heldMs, limits.questionMs.default)
  }

  get size(): number {
    return this.#calls.size
  }

  /** Keeps a call until it is taken. Where too many are kept, the one that was kept longest is given up. */
  keep(call: HeldCall<T>): void {
    if (this.#calls.size >= limits.heldCalls.default) this.#giveUpOldest()
    const alarm = timed(() => {
      this.#calls.delete(call.id)
      call.stop.abort(
        errors.timeout(undefined, { message: 'Nobody answered the question in time' }),
      )
    })
    this.#deadlines.start(alarm, this.#heldMs)
    this.#calls.set(call.id, { call, expire: () => this.#deadlines.stop(alarm) })
  }

  /** Most likely nobody comes back for it; whoever asks now certainly waits for an answer. */
  #giveUpOldest(): void {
    for (const id of this.#calls.keys()) {
      const message = 'Too many calls are waiting for answers'
      this.take(id)?.stop.abort(errors.customServerError({ reason: message }, { message }))
      return
    }
  }

  /** Takes a call, once; undefined where it has been given up or taken. */
  take(id: string): HeldCall<T> | undefined {
    const kept = this.#calls.get(id)
    this.#calls.delete(id)
    kept?.expire()
    return kept?.call
  }

  /** Gives all of them up. */
  close(): void {
    for (const id of [...this.#calls.keys()]) {
      this.take(id)?.stop.abort(
        errors.customServerError(undefined, { message: 'The router closes' }),
      )
    }
  }
}
