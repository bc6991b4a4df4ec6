import { parseRaw } from '../../jsonrpc/codec/raw-json.ts'
import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest, InputRequests } from '../../mcp/types/input.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import type { SealBinding, Sealer } from '../../util/crypto/seal.ts'
import { jsonMemory } from '../../util/json-memory.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { Warning } from '../../util/warning.ts'
import type { IncomingRequest, NamedParams } from '../request.ts'
import { prepareInputRequest } from './input-requests.ts'
import type { Effects, InputRun, PriorRuns } from './input-run.ts'

/** The state of a retry: what the rounds before it collected, and the new responses. */
export interface InputRound extends PriorRuns {
  /** The id of the request through all of its rounds. */
  readonly request: string
  /** How often the request was answered with input requests. */
  readonly count: number
  /** Whether the responses came without a state: only the handler shows which of them it requests. */
  readonly isUnsolicited?: boolean
}

/** The input requests that a handler returned by `inputRequired`. */
export interface ReturnedRequests {
  /** Encoded for the caller's revision. */
  readonly encoded: ReadonlyMap<string, InputRequest>
  /** As the handler returned them; the responses are checked against these. */
  readonly requests: InputRequests
  readonly state: unknown
}

/** The content of `requestState`, which the client keeps between two rounds. JSON, and sealed. */
interface SealedState {
  readonly request: string
  readonly count: number
  readonly answers: readonly (readonly [key: string, answer: unknown])[]
  readonly replies: readonly (readonly [key: string, answer: unknown])[]
  /** A pair without a second entry stands for undefined, which JSON does not have. */
  readonly effects: readonly (readonly [key: string] | readonly [key: string, result: unknown])[]
  readonly state?: unknown
  /** The open requests; with the request itself where the handler made it, to check the response. */
  readonly open: readonly (readonly [key: string] | readonly [key: string, InputRequest])[]
}

/**
 * Stateless requests in several rounds. The state between two rounds is sealed and kept by the client.
 * Only the effects of `once` are also remembered in this process, so that a round that is sent twice
 * runs no effect twice. Other processes of the same server find the effects in the state.
 */
export class InputRounds {
  readonly #sealer: Sealer
  readonly #report: (error: unknown, request: IncomingRequest) => void
  readonly #effects = new BoundedMap<Effects>(limits.onceRequests.default, limits.onceBytes.default)

  /** `report` receives warnings for the author of a handler. */
  constructor(sealer: Sealer, report: (error: unknown, request: IncomingRequest) => void) {
    this.#sealer = sealer
    this.#report = report
  }

  /**
   * Warns that a handler went on although an input request has no response yet; with the error that it
   * threw then, unless it returned a result.
   */
  warnContinued(request: IncomingRequest, error?: unknown): void {
    const { method, params } = request
    const handler = `${method} "${params.name ?? params.uri}"`
    const dropped = error === undefined ? 'its result' : `its error (${messageOf(error)})`
    this.#report(
      new Warning(
        `${handler}: the handler went on while the client must answer first, and ${dropped} is dropped. ` +
          'Await requests to the client, and in a catch around them: if (isInputPending(error)) throw error',
      ),
      request,
    )
  }

  /** Ends a round. Returns the result with the open input requests and those the handler returned. */
  async ask(
    request: IncomingRequest,
    run: InputRun,
    round: InputRound | undefined,
    returned?: ReturnedRequests,
  ): Promise<NamedParams> {
    const count = (round?.count ?? 0) + 1
    if (count > limits.inputRounds.default) throw tooManyRounds()
    const id = round?.request ?? crypto.randomUUID()
    // Effects that have started must settle first, or the next round would start them again.
    const effects = await settled(run.effects)
    const requests = [...run.open, ...(returned?.encoded ?? [])]
    // Unsolicited responses that the context has not requested would only make the state grow.
    const isKept = (key: string) =>
      !round?.isUnsolicited || (run.hasAsked(key) && !returned?.encoded.has(key))
    const state: SealedState = {
      request: id,
      count,
      answers: [...run.answers],
      replies: [...run.replies].filter(([key]) => isKept(key)),
      effects,
      state: returned === undefined ? run.state : returned.state,
      open: requests.map(([key]) => {
        const request = returned?.encoded.has(key) ? returned.requests[key] : undefined
        return request === undefined ? [key] : [key, request]
      }),
    }
    const ttlMs = limits.serverRequestMs.default
    const requestState = await this.#sealer.seal(state, bindingOf(request), { ttlMs })
    this.#effects.set(id, run.effects, requestState.length)
    if (requests.length === 0) return { resultType: 'input_required', requestState }
    const inputRequests = Object.fromEntries(requests)
    return { resultType: 'input_required', inputRequests, requestState }
  }

  /**
   * Begins the next round: opens the state and adds the responses to the open requests. Other responses
   * are ignored, so that no response can be changed later. Responses without a state are taken for the
   * requests that the context of the handler makes under these keys: they come from the client either
   * way, and are checked in the same way. Requests of `inputRequired` are unknown without a state, and
   * are made.
   */
  async open(request: IncomingRequest): Promise<InputRound | undefined> {
    const { requestState, inputResponses = {} } = request.params
    if (!isRecord(inputResponses)) {
      const details = 'inputResponses must be an object'
      throw invalidParams(details, { data: { details } })
    }
    if (requestState === undefined) return unsolicited(inputResponses)
    if (typeof requestState !== 'string') throw badState('malformed')
    const opened = await this.#sealer.open(requestState, bindingOf(request))
    if (!opened.ok) throw badState(opened.why)
    // The check: only this file seals for this purpose.
    const sealed = opened.value as SealedState
    const answers = new Map(sealed.answers)
    const replies = new Map(sealed.replies)
    for (const [key, open] of sealed.open) {
      if (!Object.hasOwn(inputResponses, key)) continue
      const response = inputResponses[key]
      // The context checks the responses to its requests itself, with the schema that it was given.
      if (open === undefined) replies.set(key, response)
      else answers.set(key, await prepareInputRequest(request.caller, open).accept(response, key))
    }
    const { request: id, count, state } = sealed
    return { request: id, count, state, answers, replies, effects: this.#effectsOf(sealed) }
  }

  #effectsOf({ request, effects }: SealedState): Effects {
    const remembered = this.#effects.get(request)
    if (remembered !== undefined) return remembered
    const known: Effects = new Map(effects.map(([key, result]) => [key, Promise.resolve(result)]))
    this.#effects.set(request, known, jsonMemory(effects))
    return known
  }
}

/** The error for a handler that exceeds the limit `inputRounds`. */
export function tooManyRounds(): RpcError {
  return errors.internalError(undefined, { message: 'Too many rounds of input requests' })
}

function unsolicited(responses: Readonly<Record<string, unknown>>): InputRound | undefined {
  const replies = new Map(Object.entries(responses))
  if (replies.size === 0) return undefined
  return {
    request: crypto.randomUUID(),
    count: 0,
    isUnsolicited: true,
    answers: new Map(),
    replies,
    effects: new Map(),
    state: undefined,
  }
}

async function settled(effects: Effects): Promise<SealedState['effects']> {
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function bindingOf({ method, params, caller }: IncomingRequest): SealBinding {
  const principal = caller.principal?.id
  return { purpose: 'requestState', principal, method, params: parseRaw(params) }
}

function badState(why: 'malformed' | 'forged' | 'foreign' | 'expired'): RpcError {
  return invalidParams('Invalid requestState', { data: { details: `requestState is ${why}` } })
}
