import type { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { limits } from '../../util/limits/limits.ts'
import type { ServerRequest } from '../request.ts'
import { putQuestion } from '../tasks/ask.ts'
import type { AskOptions } from '../tasks/scope.ts'

/** Results of `once` by their keys, shared by all runs of one request. */
export type Effects = Map<string, Promise<unknown>>

/** What earlier runs of the same handler for the same request have brought. */
export interface Earlier {
  /** Answers to what `inputRequired` has asked. */
  readonly answers: ReadonlyMap<string, unknown>
  /** Answers to what the context has asked; those of the next run come on top. */
  readonly replies?: Map<string, unknown>
  readonly effects: Effects
  /** What `inputRequired` was given to come back with. */
  readonly state: unknown
}

/** Asks the client while the handler waits. */
export type CallBack = (question: InputRequest, key: string) => Promise<unknown>

/** Ends a handler at a question that has no answer yet. Never leaves the server. */
class Unanswered extends Error {
  constructor(key: string) {
    super(`waiting for the answer to "${key}"; this error is not to be caught`)
    this.name = 'Unanswered'
  }
}

/**
 * The questions of one run of a handler. Where the client can be called back, asking is a call. Where
 * it cannot, the run ends at the question, and another one finds the answer already there.
 *
 * Everything in it is made on first use: most handlers ask nothing.
 */
export class Asking {
  readonly #request: ServerRequest
  readonly #earlier: Earlier | undefined
  readonly #call: CallBack | undefined
  #effects: Effects | undefined
  #replies: Map<string, unknown> | undefined
  #open: Map<string, InputRequest> | undefined
  #keys: Set<string> | undefined
  #fault: RpcError | undefined
  #asked = 0

  /** `call` asks in another way than the caller's revision would. */
  constructor(request: ServerRequest, earlier?: Earlier, call?: CallBack) {
    this.#request = request
    this.#earlier = earlier
    this.#call = call
    this.#effects = earlier?.effects
    this.#replies = earlier?.replies
  }

  /** Answers to what `inputRequired` has asked, by key. */
  get answers(): ReadonlyMap<string, unknown> {
    return this.#earlier?.answers ?? nothing
  }

  /** Answers to questions of the context, in this run and in earlier ones. */
  get replies(): Map<string, unknown> {
    this.#replies ??= new Map()
    return this.#replies
  }

  get state(): unknown {
    return this.#earlier?.state
  }

  /** Questions of this run that have no answer. */
  get open(): ReadonlyMap<string, InputRequest> {
    return this.#open ?? nothing
  }

  /** Whether nothing is open and nothing is wrong. */
  get isIdle(): boolean {
    return this.#open === undefined && this.#fault === undefined
  }

  /** What is wrong with the way the handler asks, whatever it made of being told. */
  get fault(): RpcError | undefined {
    return this.#fault
  }

  get effects(): Effects {
    this.#effects ??= new Map()
    return this.#effects
  }

  /**
   * Asks, or gives the answer of an earlier run. `key` names the question; by default its place among
   * the questions of the handler.
   */
  async ask(question: InputRequest, key?: string, options?: AskOptions): Promise<unknown> {
    const name = key ?? `${this.#asked}`
    this.#asked++
    this.claim(name)
    if (this.#call !== undefined) return this.#call(question, name)
    if (this.replies.has(name)) return this.replies.get(name)
    const { caller, task } = this.#request
    if (caller.revision.era === 'session' || task?.isBegun) {
      const reply = await callBack(this.#request, question, name, options)
      // The handler may yet be run again, and nobody likes to be asked twice.
      this.replies.set(name, reply)
      return reply
    }
    this.#open ??= new Map()
    this.#open.set(name, question)
    throw new Unanswered(name)
  }

  /** Takes a key for a question of this run. Throws when another one has it. */
  claim(key: string): void {
    this.#keys ??= new Set()
    if (this.#keys.has(key)) {
      this.#fault ??= errors.internalError(undefined, {
        message: `Two questions of one handler have the key "${key}"`,
      })
      throw this.#fault
    }
    this.#keys.add(key)
  }

  /** Whether a question of this run has the key. */
  hasAsked(key: string): boolean {
    return this.#keys?.has(key) ?? false
  }

  /**
   * Runs `effect` once for all runs of this request, and gives every one of them its result, which must
   * be JSON. One that fails may be tried again.
   */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    const { effects } = this
    const begun = effects.get(key)
    // The check: what is kept under a key was put there by the same line of the same handler.
    if (begun !== undefined) return begun as Promise<T>
    const result = (async () => effect())()
    effects.set(key, result)
    result.catch(() => {
      if (effects.get(key) === result) effects.delete(key)
    })
    return result
  }
}

const nothing: ReadonlyMap<string, never> = new Map<string, never>()

/**
 * Asks by a call, on the connection of the request, for as long as the request is wanted; or in the way
 * of the task that the request has become.
 */
export function callBack(
  { exchange, session, caller, task }: ServerRequest,
  question: InputRequest,
  key: string,
  options?: AskOptions,
): Promise<unknown> {
  if (task?.isBegun) return task.ask(question, key, options)
  const { back, signal } = exchange
  if (back === undefined) throw errors.capabilityNotSupported({ capability: question.method })
  const timeoutMs = limits.questionMs.default
  return putQuestion(back, question, { caller, session, signal, timeoutMs, task: options?.task })
}
