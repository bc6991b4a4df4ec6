import { RpcError } from '../jsonrpc/error.ts'
import { errors } from '../mcp/errors.ts'
import type { InputRequest, InputRequests } from '../mcp/types/input.ts'
import { limits } from '../util/limits.ts'
import { isRecord, type Params, type ServerRequest } from './request.ts'
import type { SealBinding, Sealer } from './seal.ts'

/** What a handler may return instead of a result: questions, and a state to come back with. */
export interface InputRequired {
  readonly [needsInput]: true
  readonly requests: InputRequests
  readonly state: unknown
}

const needsInput = Symbol('input required')

/**
 * Asks the client several things at once and lets the handler be run again with the answers, which it
 * then finds in `ctx.answers`, and the state in `ctx.state`. `await ctx.elicit(…)` does the same for
 * one question at a time and reads better.
 */
export function inputRequired(requests: InputRequests, state?: unknown): InputRequired {
  return { [needsInput]: true, requests, state }
}

/** Ends a handler at a question that has no answer yet. Never leaves the server. */
class Unanswered extends Error {
  constructor(key: string) {
    super(`waiting for the answer to "${key}"; this error is not to be caught`)
    this.name = 'Unanswered'
  }
}

/** What earlier rounds have brought. Travels sealed, and so must be JSON. */
interface Earlier {
  readonly answers: Readonly<Record<string, unknown>>
  readonly kept: Readonly<Record<string, unknown>>
  readonly state?: unknown
  readonly round: number
}

const none: Earlier = { answers: {}, kept: {}, round: 0 }

/**
 * The questions of one handler. Where the client can be called back, asking is a call. Where it
 * cannot, the first run of the handler ends at the question; the request is answered with what is
 * needed, and the retry runs the handler again with the answers already there.
 */
export class Asking {
  readonly answers: ReadonlyMap<string, unknown>
  readonly state: unknown
  readonly #request: ServerRequest
  readonly #kept: Map<string, unknown>
  readonly #open = new Map<string, InputRequest>()
  #asked = 0

  constructor(request: ServerRequest, earlier: Earlier = none) {
    this.#request = request
    this.answers = new Map(Object.entries(earlier.answers))
    this.#kept = new Map(Object.entries(earlier.kept))
    this.state = earlier.state
  }

  /** Questions of this run that have no answer. */
  get open(): ReadonlyMap<string, InputRequest> {
    return this.#open
  }

  get kept(): ReadonlyMap<string, unknown> {
    return this.#kept
  }

  /** Asks, or gives the answer that an earlier round has brought. `key` names the question. */
  async ask(question: InputRequest, key = `${this.#asked}`): Promise<unknown> {
    this.#asked++
    const { exchange, caller } = this.#request
    if (caller.revision.era === 'session') {
      if (exchange.back === undefined)
        throw errors.capabilityNotSupported({ capability: question.method })
      return exchange.back.call(question.method, question.params, { signal: exchange.signal })
    }
    if (this.answers.has(key)) return this.answers.get(key)
    this.#open.set(key, question)
    throw new Unanswered(key)
  }

  /** Runs `effect` once for all rounds of this request; its result must be JSON. */
  async once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    // The check: what is kept under a key was put there by the same line of the same handler.
    if (this.#kept.has(key)) return this.#kept.get(key) as T
    const value = await effect()
    this.#kept.set(key, value)
    return value
  }
}

/** Runs a handler that may ask, through as many rounds as the caller's revision lets it. */
export function runAsking<T>(
  request: ServerRequest,
  sealer: Sealer,
  run: (asking: Asking) => T | Promise<T>,
): T | Params | Promise<T | Params> {
  const { params, caller } = request
  if (caller.revision.era === 'session') return runWithCalls(request, run)
  if (params.requestState === undefined && params.inputResponses === undefined) {
    return runRound(request, sealer, none, run)
  }
  return earlierRounds(request, sealer).then(earlier => runRound(request, sealer, earlier, run))
}

function runWithCalls<T>(
  request: ServerRequest,
  run: (asking: Asking) => T | Promise<T>,
): T | Promise<T> {
  const first = run(new Asking(request))
  if (!(first instanceof Promise))
    return isInputRequired(first) ? callRounds(request, first, run) : first
  return first.then(result => (isInputRequired(result) ? callRounds(request, result, run) : result))
}

async function callRounds<T>(
  request: ServerRequest,
  needed: InputRequired,
  run: (asking: Asking) => T | Promise<T>,
): Promise<T> {
  const answers: Record<string, unknown> = Object.create(null)
  let next: InputRequired = needed
  for (let round = 1; round <= limits.inputRounds.default; round++) {
    const asking = new Asking(request)
    const asked = Object.entries(next.requests)
    const replies = await Promise.all(asked.map(([, question]) => asking.ask(question)))
    asked.forEach(([key], i) => {
      answers[key] = replies[i]
    })
    const result = await run(new Asking(request, { answers, kept: {}, state: next.state, round }))
    if (!isInputRequired(result)) return result
    next = result
  }
  throw tooManyRounds()
}

function runRound<T>(
  request: ServerRequest,
  sealer: Sealer,
  earlier: Earlier,
  run: (asking: Asking) => T | Promise<T>,
): T | Params | Promise<T | Params> {
  const asking = new Asking(request, earlier)
  const settle = (result: T): T | Promise<T | Params> => {
    if (isInputRequired(result)) {
      return needInput(
        request,
        sealer,
        asking,
        earlier,
        Object.entries(result.requests),
        result.state,
      )
    }
    return asking.open.size === 0
      ? result
      : needInput(request, sealer, asking, earlier, [...asking.open])
  }
  const fail = (error: unknown): Promise<Params> => {
    // Whatever the handler made of being ended, the open question is what the client must know.
    if (asking.open.size === 0) return Promise.reject(error)
    return needInput(request, sealer, asking, earlier, [...asking.open])
  }
  try {
    const result = run(asking)
    return result instanceof Promise ? result.then(settle, fail) : settle(result)
  } catch (error) {
    return fail(error)
  }
}

async function needInput(
  request: ServerRequest,
  sealer: Sealer,
  asking: Asking,
  earlier: Earlier,
  questions: readonly (readonly [string, InputRequest])[],
  state?: unknown,
): Promise<Params> {
  if (earlier.round >= limits.inputRounds.default) throw tooManyRounds()
  const carried: Earlier = {
    answers: Object.fromEntries(asking.answers),
    kept: Object.fromEntries(asking.kept),
    state,
    round: earlier.round + 1,
  }
  const ttlMs = limits.requestStateMs.default
  return {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(questions),
    requestState: await sealer.seal(carried, bindingOf(request), { ttlMs }),
  }
}

async function earlierRounds(request: ServerRequest, sealer: Sealer): Promise<Earlier> {
  const { requestState, inputResponses } = request.params
  const responses = isRecord(inputResponses) ? inputResponses : {}
  // Without a state nothing was asked: answers to no question are ignored.
  if (requestState === undefined) return none
  if (typeof requestState !== 'string') throw badState('malformed')
  const opened = await sealer.open(requestState, bindingOf(request))
  if (!opened.ok) throw badState(opened.why)
  // The check: only this file seals for this purpose.
  const earlier = opened.value as Earlier
  return { ...earlier, answers: { ...earlier.answers, ...responses } }
}

function bindingOf({ method, params, caller }: ServerRequest): SealBinding {
  return { purpose: 'requestState', principal: caller.principal?.id, method, params }
}

export function isInputRequired(value: unknown): value is InputRequired {
  return typeof value === 'object' && value !== null && needsInput in value
}

function badState(why: string): RpcError {
  return new RpcError(-32602, 'Invalid requestState', {
    kind: 'invalid_params',
    data: { details: `requestState is ${why}` },
  })
}

function tooManyRounds(): RpcError {
  return errors.internalError(undefined, { message: 'Too many rounds of questions' })
}
