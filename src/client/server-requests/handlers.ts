import { invalidParams, methodNotFound } from '../../jsonrpc/error.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities } from '../../mcp/types/base.ts'
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
} from '../../mcp/types/elicitation.ts'
import type { ListRootsResult } from '../../mcp/types/roots.ts'
import type { SampleParams, SampleResult } from '../../mcp/types/sampling.ts'
import { isRecord } from '../../util/record.ts'
import { systemClock } from '../../util/time/clock.ts'
import type { Seams } from '../connection/proxy-hooks.ts'
import type { ClientOptions, QuestionContext, Roots } from '../options.ts'
import { capabilitiesOf, elicitorsOf } from './capabilities.ts'
import { filledIn } from './form.ts'
import { Pace } from './rate.ts'
import { checkedRoots, currentRoots } from './roots.ts'
import { messagesProblem } from './sampling-check.ts'

/** Something a server wants to know: a request of its own, or part of a result that needs input. */
export interface Question {
  readonly method: string
  readonly params?: unknown
}

/** What a question is answered with. */
export type Answer = ElicitResult | SampleResult | ListRootsResult

/** What handlers need beside the question. */
export interface AnswerContext extends QuestionContext {
  readonly revision: Revision
}

/**
 * Answers what servers ask, by the handlers of the client, the same way in every revision.
 *
 * A question that may not be asked, or not like this, is refused with an RpcError. What a handler
 * throws comes out as it is.
 */
export class Answerer {
  readonly #options: ClientOptions
  readonly #seams: Pick<Seams, 'capabilities'> | undefined
  readonly #declared = new Map<Revision, ClientCapabilities>()
  readonly #pace: Pace | undefined
  #roots: Roots | undefined

  constructor(options: ClientOptions, seams?: Pick<Seams, 'capabilities'>) {
    this.#options = options
    this.#seams = seams
    this.#roots = options.roots
    const { questionsPerMinute: most, clock = systemClock } = options
    this.#pace = most === undefined ? undefined : new Pace(most, clock)
    if (typeof options.roots === 'object') checkedRoots(options.roots)
  }

  /** Whether answering may take a person's or a model's time. */
  get isSlow(): boolean {
    return this.#options.elicit !== undefined || this.#options.sample !== undefined
  }

  /** What may be asked, in the words of a revision. */
  capabilities(revision: Revision): ClientCapabilities {
    let declared = this.#declared.get(revision)
    if (declared === undefined) {
      declared = this.#seams?.capabilities(revision) ?? capabilitiesOf(this.#options, revision)
      this.#declared.set(revision, declared)
    }
    return declared
  }

  /**
   * Throws a TypeError where there were none to begin with, because what is declared cannot change, and
   * for one that is no address of a file.
   */
  setRoots(roots: Roots): void {
    if (this.#options.roots === undefined) {
      throw new TypeError(
        'roots that change are given as an option first, if only as an empty list',
      )
    }
    this.#roots = typeof roots === 'function' ? roots : checkedRoots(roots)
  }

  /** Answers a question, or throws the RpcError that refuses it. */
  answer(question: Question, context: AnswerContext): Promise<Answer> {
    return this.prepare(question, context)()
  }

  /**
   * Looks at a question and gives what answers it, without having bothered anybody yet. Throws the
   * RpcError that refuses it.
   */
  prepare({ method, params }: Question, context: AnswerContext): () => Promise<Answer> {
    const { era, methods } = context.revision
    // Stateless revisions have no such requests of their own: there they travel inside of results.
    if (era === 'stateless' || methods.has(method)) {
      if (method === 'elicitation/create') return this.#elicit(params, context)
      if (method === 'sampling/createMessage') return this.#sample(params, context)
      if (method === 'roots/list') return this.#listRoots()
    }
    throw methodNotFound(method)
  }

  #elicit(params: unknown, context: AnswerContext): () => Promise<ElicitResult> {
    const { form, url } = elicitorsOf(this.#options)
    if (form === undefined && url === undefined) throw methodNotFound('elicitation/create')
    if (!isRecord(params) || typeof params.message !== 'string') {
      throw invalidParams('elicitation/create needs a message')
    }
    const { mode = 'form' } = params
    this.#pace?.count('elicitation/create')
    if (mode === 'form' && form !== undefined) {
      if (!isRecord(params.requestedSchema)) throw invalidParams('a form needs a requestedSchema')
      // The check: message and schema are there; the schema is looked at field by field.
      const asked = params as unknown as ElicitFormParams
      return async () => filledIn(asked.requestedSchema, await form(asked, context))
    }
    if (mode === 'url' && url !== undefined && context.revision.features.elicitation !== 'form') {
      if (typeof params.url !== 'string') throw invalidParams('a page needs a url')
      // The check: message and url are strings, and the mode is 'url'.
      const asked = params as unknown as ElicitUrlParams
      return async () => ({ action: (await url(asked, context)).action })
    }
    throw invalidParams('this client does not support that mode of elicitation', { data: { mode } })
  }

  #sample(params: unknown, context: AnswerContext): () => Promise<SampleResult> {
    const { sample, sampling } = this.#options
    if (sample === undefined) throw methodNotFound('sampling/createMessage')
    if (!isRecord(params) || !Array.isArray(params.messages)) {
      throw invalidParams('sampling/createMessage needs messages')
    }
    if (typeof params.maxTokens !== 'number') {
      throw invalidParams('sampling/createMessage needs maxTokens')
    }
    if ((params.tools !== undefined || params.toolChoice !== undefined) && !sampling?.tools) {
      throw invalidParams('this client did not declare sampling.tools')
    }
    const { samplingTools } = context.revision.features
    const problem = samplingTools ? messagesProblem(params.messages) : undefined
    if (problem !== undefined) throw invalidParams(`sampling/createMessage: ${problem}`)
    this.#pace?.count('sampling/createMessage')
    // The check: messages is a list and maxTokens a number; the rest is optional.
    const asked = params as unknown as SampleParams
    return async () => sample(asked, context)
  }

  #listRoots(): () => Promise<ListRootsResult> {
    const roots = this.#roots
    if (roots === undefined) throw methodNotFound('roots/list')
    return async () => ({ roots: [...(await currentRoots(roots))] })
  }
}
