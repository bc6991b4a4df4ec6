import type { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { limits } from '../../util/limits/limits.ts'
import type { IncomingRequest } from '../request.ts'
import type { ServerRequestOptions } from '../tasks/scope.ts'
import { sendServerRequest } from '../tasks/server-request.ts'

/** Results of `ctx.once` by their keys, shared by all runs of one request. */
export type Effects = Map<string, Promise<unknown>>

/** What earlier runs of the same handler for the same request have collected. */
export interface PriorRuns {
  /** Responses to requests of `inputRequired`. */
  readonly answers: ReadonlyMap<string, unknown>
  /** Responses to requests of the context; the next run adds its own. */
  readonly replies?: Map<string, unknown>
  readonly effects: Effects
  /** The state that `inputRequired` was given. */
  readonly state: unknown
}

/** Sends a request to the client while the handler waits. */
export type CallClient = (request: InputRequest, key: string) => Promise<unknown>

/** Ends a handler at an input request without a response. Never leaves the server. */
class InputPending extends Error {
  constructor(key: string) {
    super(`waiting for the input response "${key}"; rethrow this error where isInputPending(error)`)
    this.name = 'InputPending'
  }
}

/**
 * Whether an error ends a handler because the client must answer first: `ctx.elicit`, `ctx.sample` and
 * `ctx.roots` throw it in revisions without calls to the client. A `catch` around them must throw it again:
 * the handler is run again with the response.
 */
export function isInputPending(error: unknown): boolean {
  return error instanceof InputPending
}

/**
 * The server requests of one run of a handler. Where the server can call the client, a request is a
 * call. Where it cannot, the run ends at the request, and the next run finds the response.
 *
 * Everything in it is created on first use: most handlers send no requests.
 */
export class InputRun {
  readonly #request: IncomingRequest
  readonly #prior: PriorRuns | undefined
  readonly #call: CallClient | undefined
  #effects: Effects | undefined
  #replies: Map<string, unknown> | undefined
  #open: Map<string, InputRequest> | undefined
  #keys: Set<string> | undefined
  #fault: RpcError | undefined
  #count = 0

  /** `call` replaces the way in which the caller's revision sends requests to the client. */
  constructor(request: IncomingRequest, prior?: PriorRuns, call?: CallClient) {
    this.#request = request
    this.#prior = prior
    this.#call = call
    this.#effects = prior?.effects
    this.#replies = prior?.replies
  }

  /** Responses to requests of `inputRequired`, by key. */
  get answers(): ReadonlyMap<string, unknown> {
    return this.#prior?.answers ?? none
  }

  /** Responses to requests of the context, in this run and in earlier ones. */
  get replies(): Map<string, unknown> {
    this.#replies ??= new Map()
    return this.#replies
  }

  /** The state that `inputRequired` was given in the run before. */
  get state(): unknown {
    return this.#prior?.state
  }

  /** Input requests of this run that have no response. */
  get open(): ReadonlyMap<string, InputRequest> {
    return this.#open ?? none
  }

  /** Whether no input request is open and no fault was found. */
  get isIdle(): boolean {
    return this.#open === undefined && this.#fault === undefined
  }

  /** The handler's misuse of requests, kept in case the handler catches the error. */
  get fault(): RpcError | undefined {
    return this.#fault
  }

  /** The results of `once`. */
  get effects(): Effects {
    this.#effects ??= new Map()
    return this.#effects
  }

  /**
   * Sends a request to the client, or returns the response that an earlier run got. `key` names the
   * request; by default its position among the requests of the handler.
   */
  async ask(request: InputRequest, key?: string, options?: ServerRequestOptions): Promise<unknown> {
    const name = key ?? `${this.#count}`
    this.#count++
    this.claim(name)
    if (this.#call !== undefined) return this.#call(request, name)
    if (this.replies.has(name)) return this.replies.get(name)
    const { caller, task } = this.#request
    if (caller.revision.features.serverRequests === 'call' || task?.isBegun) {
      const reply = await callClient(this.#request, request, name, options)
      // The handler may be run again, and must not ask the user twice.
      this.replies.set(name, reply)
      return reply
    }
    this.#open ??= new Map()
    this.#open.set(name, request)
    throw new InputPending(name)
  }

  /** Reserves a key for a request of this run. Throws an RpcError when another request has it. */
  claim(key: string): void {
    this.#keys ??= new Set()
    if (this.#keys.has(key)) {
      this.#fault ??= errors.internalError(undefined, {
        message: `Two input requests of one handler have the key "${key}"`,
      })
      throw this.#fault
    }
    this.#keys.add(key)
  }

  /** Whether a request of this run has the key. */
  hasAsked(key: string): boolean {
    return this.#keys?.has(key) ?? false
  }

  /**
   * Runs `effect` once for all runs of this request, and returns its result in each of them. The result
   * must be JSON. A failed effect may be tried again.
   */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    const { effects } = this
    const begun = effects.get(key)
    // The check: the result under a key was put there by the same line of the same handler.
    if (begun !== undefined) return begun as Promise<T>
    const result = (async () => effect())()
    effects.set(key, result)
    result.catch(() => {
      if (effects.get(key) === result) effects.delete(key)
    })
    return result
  }
}

const none: ReadonlyMap<string, never> = new Map<string, never>()

/**
 * Sends a request to the client on the connection of an incoming request, until that is cancelled; or
 * through the task that the incoming request has become.
 */
export function callClient(
  { exchange, session, caller, task }: IncomingRequest,
  request: InputRequest,
  key: string,
  options?: ServerRequestOptions,
): Promise<unknown> {
  if (task?.isBegun) return task.ask(request, key, options)
  const { back, signal } = exchange
  if (back === undefined) throw errors.capabilityNotSupported({ capability: request.method })
  const timeoutMs = limits.serverRequestMs.default
  return sendServerRequest(back, request, {
    caller,
    session,
    signal,
    timeoutMs,
    task: options?.task,
  })
}
