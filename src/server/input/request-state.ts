import { asRead } from '../../jsonrpc/codec/raw-json.ts'
import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest, InputRequests } from '../../mcp/types/input.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { SealBinding, Sealer } from '../crypto/seal.ts'
import type { Params, ServerRequest } from '../request.ts'
import { questionFor } from './input-requests.ts'
import type { Asking, Earlier, Effects } from './input-run.ts'

/** What a retry brings: the rounds before it, opened and with the new answers. */
export interface Round extends Earlier {
  /** Stands for the request through all of its rounds. */
  readonly request: string
  /** How often it has been answered with questions. */
  readonly count: number
  /** Whether its answers came without a state: only the handler tells which of them it has asked for. */
  readonly isUnasked?: boolean
}

/** Questions that a handler has put together itself. */
export interface OwnQuestions {
  /** As they are sent. */
  readonly posed: ReadonlyMap<string, InputRequest>
  /** As the handler put them: what the answers are checked with. */
  readonly requests: InputRequests
  readonly state: unknown
}

/** What travels with the client between two rounds. JSON, and sealed. */
interface Carried {
  readonly request: string
  readonly count: number
  readonly answers: readonly (readonly [key: string, answer: unknown])[]
  readonly replies: readonly (readonly [key: string, answer: unknown])[]
  /** Without a second entry it is undefined, which JSON has no word for. */
  readonly effects: readonly (readonly [key: string] | readonly [key: string, result: unknown])[]
  readonly state?: unknown
  /** What was asked: with the question, where only the handler's own words tell what answers it. */
  readonly asked: readonly (readonly [key: string] | readonly [key: string, InputRequest])[]
}

/**
 * Requests that are answered in several rounds: what is known so far is sealed and travels with the
 * client. Only the effects of `once` are remembered here too, so that a round that is sent twice does
 * nothing twice; another process of the same server knows those from before the last question.
 */
export class Rounds {
  readonly #sealer: Sealer
  readonly #effects = new Map<string, Effects>()

  constructor(sealer: Sealer) {
    this.#sealer = sealer
  }

  /** Ends a round: the result that asks the questions that are open, and the handler's own. */
  async ask(
    request: ServerRequest,
    asking: Asking,
    round: Round | undefined,
    own?: OwnQuestions,
  ): Promise<Params> {
    const count = (round?.count ?? 0) + 1
    if (count > limits.inputRounds.default) throw tooManyRounds()
    const id = round?.request ?? crypto.randomUUID()
    // Effects that have begun must have ended, or the next round would begin them again.
    const effects = await settled(asking.effects)
    this.#remember(id, asking.effects)
    const posed = [...asking.open, ...(own?.posed ?? [])]
    // Of answers without a state, what the context has not asked for would only make this one grow.
    const isKept = (key: string) =>
      !round?.isUnasked || (asking.hasAsked(key) && !own?.posed.has(key))
    const carried: Carried = {
      request: id,
      count,
      answers: [...asking.answers],
      replies: [...asking.replies].filter(([key]) => isKept(key)),
      effects,
      state: own === undefined ? asking.state : own.state,
      asked: posed.map(([key]) => {
        const question = own?.posed.has(key) ? own.requests[key] : undefined
        return question === undefined ? [key] : [key, question]
      }),
    }
    const ttlMs = limits.questionMs.default
    const requestState = await this.#sealer.seal(carried, bindingOf(request), { ttlMs })
    if (posed.length === 0) return { resultType: 'input_required', requestState }
    const inputRequests = Object.fromEntries(posed)
    return { resultType: 'input_required', inputRequests, requestState }
  }

  /**
   * Begins the next round: what was known, and the answers to what was asked. Others are ignored, so
   * that no answer can be changed later. Answers without a state are taken for what the context of the
   * handler asks under these keys: they are the client's own either way, and are checked in the same
   * way. What `inputRequired` asks is not known without a state, and is asked.
   */
  async open(request: ServerRequest): Promise<Round | undefined> {
    const { requestState, inputResponses = {} } = request.params
    if (!isRecord(inputResponses)) {
      const details = 'inputResponses must be an object'
      throw invalidParams(details, { data: { details } })
    }
    if (requestState === undefined) return unasked(inputResponses)
    if (typeof requestState !== 'string') throw badState('malformed')
    const opened = await this.#sealer.open(requestState, bindingOf(request))
    if (!opened.ok) throw badState(opened.why)
    // The check: only this file seals for this purpose.
    const carried = opened.value as Carried
    const answers = new Map(carried.answers)
    const replies = new Map(carried.replies)
    for (const [key, question] of carried.asked) {
      if (!Object.hasOwn(inputResponses, key)) continue
      const answer = inputResponses[key]
      // What the context has asked it checks itself, with the schema that was given to it.
      if (question === undefined) replies.set(key, answer)
      else answers.set(key, await questionFor(request.caller, question).accept(answer, key))
    }
    const { request: id, count, state } = carried
    return { request: id, count, state, answers, replies, effects: this.#effectsOf(carried) }
  }

  #effectsOf({ request, effects }: Carried): Effects {
    const remembered = this.#effects.get(request)
    if (remembered !== undefined) return remembered
    const known: Effects = new Map(effects.map(([key, result]) => [key, Promise.resolve(result)]))
    this.#remember(request, known)
    return known
  }

  #remember(request: string, effects: Effects): void {
    this.#effects.delete(request)
    this.#effects.set(request, effects)
    if (this.#effects.size <= limits.onceRequests.default) return
    for (const oldest of this.#effects.keys()) {
      this.#effects.delete(oldest)
      break
    }
  }
}

/** The answer to a handler that does not stop asking. */
export function tooManyRounds(): RpcError {
  return errors.internalError(undefined, { message: 'Too many rounds of questions' })
}

function unasked(answers: Readonly<Record<string, unknown>>): Round | undefined {
  const replies = new Map(Object.entries(answers))
  if (replies.size === 0) return undefined
  return {
    request: crypto.randomUUID(),
    count: 0,
    isUnasked: true,
    answers: new Map(),
    replies,
    effects: new Map(),
    state: undefined,
  }
}

async function settled(effects: Effects): Promise<Carried['effects']> {
  let size = -1
  while (size !== effects.size) {
    size = effects.size
    await Promise.allSettled(effects.values())
  }
  const results = Array.from(
    effects,
    async ([key, result]): Promise<[string] | [string, unknown]> => {
      const value = await result
      return value === undefined ? [key] : [key, value]
    },
  )
  return Promise.all(results)
}

function bindingOf({ method, params, caller }: ServerRequest): SealBinding {
  const principal = caller.principal?.id
  return { purpose: 'requestState', principal, method, params: asRead(params) }
}

function badState(why: 'malformed' | 'forged' | 'foreign' | 'expired'): RpcError {
  return invalidParams('Invalid requestState', { data: { details: `requestState is ${why}` } })
}
