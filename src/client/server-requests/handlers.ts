import { invalidParams, methodNotFound } from '../../jsonrpc/error.ts'
import { readServerName } from '../../mcp/meta.ts'
import { isServerRequest, type ServerRequestMethod } from '../../mcp/methods.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities } from '../../mcp/types/base.ts'
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
} from '../../mcp/types/elicitation.ts'
import type { InputResponse } from '../../mcp/types/input.ts'
import type { ListRootsResult } from '../../mcp/types/roots.ts'
import type { SampleParams, SampleResult } from '../../mcp/types/sampling.ts'
import { isRecord } from '../../util/objects.ts'
import { systemClock } from '../../util/time/clock.ts'
import type { ProxyHooks } from '../connection/proxy-hooks.ts'
import type { ClientOptions, Roots, ServerRequestContext } from '../options.ts'
import { capabilitiesOf, elicitorsOf } from './capabilities.ts'
import { checkedRoots, currentRoots, filledIn, messagesProblem } from './checks.ts'
import { ServerRequestRate } from './rate.ts'

/** A request of the server to this client: sent as a request in a session, or as an input request in a result. */
export interface ServerToClientRequest {
  readonly method: string
  readonly params?: unknown
}

/** The context of a server request. */
export interface HandlerContext extends ServerRequestContext {
  readonly revision: Revision
}

/** Validates the params of a server request and returns the function that runs its handler. */
type Prepare = (params: unknown, context: HandlerContext) => () => Promise<InputResponse>

/**
 * Passes server requests to the handlers in the client options, in the same way in every revision.
 *
 * A request that this client does not support, or with invalid params, is refused with an RpcError. Errors
 * that a handler throws are rethrown unchanged.
 */
export class ServerRequestHandlers {
  readonly #options: ClientOptions
  readonly #hooks: Pick<ProxyHooks, 'capabilities'> | undefined
  readonly #declared = new Map<Revision, ClientCapabilities>()
  readonly #rate: ServerRequestRate | undefined
  readonly #preparations: Readonly<Record<ServerRequestMethod, Prepare>> = {
    'elicitation/create': (params, context) => this.#elicit(params, context),
    'sampling/createMessage': (params, context) => this.#sample(params, context),
    'roots/list': () => this.#listRoots(),
  }
  #roots: Roots | undefined

  constructor(options: ClientOptions, hooks?: Pick<ProxyHooks, 'capabilities'>) {
    this.#options = options
    this.#hooks = hooks
    this.#roots = options.roots
    const { serverRequestsPerMinute: max, clock = systemClock } = options
    this.#rate = max === undefined ? undefined : new ServerRequestRate(max, clock)
    if (typeof options.roots === 'object') checkedRoots(options.roots)
  }

  /** Whether a handler may wait for a user or a model. */
  get isSlow(): boolean {
    return this.#options.elicit !== undefined || this.#options.sample !== undefined
  }

  /** Returns the capabilities to declare in a revision. */
  capabilities(revision: Revision): ClientCapabilities {
    let declared = this.#declared.get(revision)
    if (declared === undefined) {
      declared = this.#hooks?.capabilities(revision) ?? capabilitiesOf(this.#options, revision)
      this.#declared.set(revision, declared)
    }
    return declared
  }

  /**
   * Replaces the roots. Throws a TypeError if the client was opened without roots, because declared
   * capabilities cannot change, and for a root that is not a `file://` URL.
   */
  setRoots(roots: Roots): void {
    if (this.#options.roots === undefined) {
      throw new TypeError('setRoots() requires the option "roots", which may be an empty array')
    }
    this.#roots = typeof roots === 'function' ? roots : checkedRoots(roots)
  }

  /** Handles a server request. Throws the RpcError that refuses it. */
  answer(request: ServerToClientRequest, context: HandlerContext): Promise<InputResponse> {
    return this.prepare(request, context)()
  }

  /**
   * Validates a server request and returns a function that runs its handler. Throws the RpcError that
   * refuses the request.
   */
  prepare(
    { method, params }: ServerToClientRequest,
    context: HandlerContext,
  ): () => Promise<InputResponse> {
    const { features, methods } = context.revision
    // Revisions in which the requests are part of results do not list their methods.
    const isDefined = features.serverRequests === 'retry' || methods.has(method)
    if (!isDefined || !isServerRequest(method)) throw methodNotFound(method)
    const server = readServerName(params) ?? context.server
    const known = server === undefined ? context : { ...context, server }
    return this.#preparations[method](params, known)
  }

  #elicit(params: unknown, context: HandlerContext): () => Promise<ElicitResult> {
    const { form, url } = elicitorsOf(this.#options)
    if (form === undefined && url === undefined) throw methodNotFound('elicitation/create')
    if (!isRecord(params) || typeof params.message !== 'string') {
      throw invalidParams('elicitation/create requires a message')
    }
    const { mode = 'form' } = params
    this.#rate?.count('elicitation/create')
    if (mode === 'form' && form !== undefined) {
      if (!isRecord(params.requestedSchema))
        throw invalidParams('mode "form" requires a requestedSchema')
      // The check: message and schema are there; the schema is checked field by field.
      const request = params as unknown as ElicitFormParams
      return async () => filledIn(request.requestedSchema, await form(request, context))
    }
    if (mode === 'url' && url !== undefined && context.revision.features.elicitation !== 'form') {
      if (typeof params.url !== 'string') throw invalidParams('mode "url" requires a url')
      // The check: message and url are strings, and the mode is 'url'.
      const request = params as unknown as ElicitUrlParams
      return async () => ({ action: (await url(request, context)).action })
    }
    throw invalidParams('this client does not support this elicitation mode', { data: { mode } })
  }

  #sample(params: unknown, context: HandlerContext): () => Promise<SampleResult> {
    const { sample, sampling } = this.#options
    if (sample === undefined) throw methodNotFound('sampling/createMessage')
    if (!isRecord(params) || !Array.isArray(params.messages)) {
      throw invalidParams('sampling/createMessage requires messages')
    }
    if (typeof params.maxTokens !== 'number') {
      throw invalidParams('sampling/createMessage requires maxTokens')
    }
    if ((params.tools !== undefined || params.toolChoice !== undefined) && !sampling?.tools) {
      throw invalidParams('this client did not declare sampling.tools')
    }
    const { samplingTools } = context.revision.features
    const problem = samplingTools ? messagesProblem(params.messages) : undefined
    if (problem !== undefined) throw invalidParams(`sampling/createMessage: ${problem}`)
    this.#rate?.count('sampling/createMessage')
    // The check: messages is an array and maxTokens a number; the rest is optional.
    const request = params as unknown as SampleParams
    return async () => sample(request, context)
  }

  #listRoots(): () => Promise<ListRootsResult> {
    const roots = this.#roots
    if (roots === undefined) throw methodNotFound('roots/list')
    return async () => ({ roots: [...(await currentRoots(roots))] })
  }
}
