import { invalidParams, RpcError } from '../jsonrpc/error.ts'
import type { Exchange } from '../jsonrpc/handler.ts'
import type { RpcNotification, RpcRequest } from '../jsonrpc/message.ts'
import { type Caller, statelessCaller } from '../mcp/caller.ts'
import { toWire } from '../mcp/error-wire.ts'
import { errors } from '../mcp/errors.ts'
import { metaKeys } from '../mcp/meta.ts'
import { methodRow } from '../mcp/methods.ts'
import type { Profile } from '../mcp/profile.ts'
import { implementationFor } from '../mcp/revisions/shape.ts'
import type { Revision } from '../mcp/revisions.ts'
import type { CacheHints, Implementation, ServerCapabilities } from '../mcp/types/base.ts'
import { complete } from './completion.ts'
import type { Cursors } from './cursor.ts'
import { discover, initialize, type Self, unsupportedVersion } from './lifecycle.ts'
import { listen } from './listen.ts'
import { setLevel } from './logging.ts'
import type { ServerInfo } from './options.ts'
import { Prompts } from './prompts.ts'
import { type Answer, isRecord, type Params, type ServerRequest, whenReady } from './request.ts'
import { Resources } from './resources.ts'
import type { Sealer } from './seal.ts'
import type { Session } from './session.ts'
import type { Subscriptions } from './subscriptions.ts'
import { Tools } from './tools.ts'

export interface AnswersOptions {
  readonly profile: Profile
  readonly revisions: readonly Revision[]
  readonly pageSize: number
  readonly cache: CacheHints | undefined
  readonly sealer: Sealer
  readonly cursors: Cursors
  readonly subscriptions: Subscriptions
  readonly onError: (error: unknown, message?: RpcRequest | RpcNotification) => void
}

/**
 * From a message to the feature that answers it: finds out who asks, whether there is such a method
 * for them, and says the result and the errors in the words of their revision.
 */
export class Answers implements Self {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly revisions: readonly Revision[]
  readonly profile: Profile
  readonly tools: Tools
  readonly resources: Resources
  readonly prompts: Prompts
  readonly #options: AnswersOptions
  readonly #methods: ReadonlyMap<string, (request: ServerRequest) => Answer>

  constructor({ instructions, ...info }: ServerInfo, options: AnswersOptions) {
    this.info = info
    this.instructions = instructions
    this.revisions = options.revisions
    this.profile = options.profile
    this.#options = options
    const { subscriptions, pageSize, sealer, cursors } = options
    const host = { sealer, cursors, pageSize, onError: this.#report }
    this.tools = new Tools(host, () => subscriptions.announce({ type: 'tools' }))
    this.resources = new Resources(host, () => subscriptions.announce({ type: 'resources' }))
    this.prompts = new Prompts(host, () => subscriptions.announce({ type: 'prompts' }))
    this.#methods = this.#table(subscriptions)
  }

  /** What this server can do, as a revision says it. */
  capabilities({ features, era }: Revision): ServerCapabilities {
    const completes = this.prompts.hasCompleters || this.resources.hasCompleters
    const subscribe = era === 'session' ? true : undefined
    return {
      ...(this.tools.isUsed && { tools: { listChanged: true } }),
      ...(this.resources.isUsed && { resources: { subscribe, listChanged: true } }),
      ...(this.prompts.isUsed && { prompts: { listChanged: true } }),
      ...(completes && features.completionsCapability && { completions: {} }),
      logging: {},
    }
  }

  /** Answers one message; throws the error as it goes on the wire. */
  answer(
    message: RpcRequest | RpcNotification,
    exchange: Exchange,
    session: Session | undefined,
  ): unknown {
    let caller: Caller | undefined
    try {
      const params = paramsOf(message)
      if (message.type === 'notification') return undefined
      caller = statelessCaller(params, exchange.envelope.principal, this.revisions, requested =>
        unsupportedVersion(this, requested),
      )
      const result =
        caller === undefined && message.method === 'initialize' && session !== undefined
          ? initialize(this, session, params)
          : this.#dispatch(message, params, exchange, session, caller)
      return result instanceof Promise
        ? result.catch(error => this.#throw(error, message, caller ?? session?.caller))
        : result
    } catch (error) {
      return this.#throw(error, message, caller ?? session?.caller)
    }
  }

  #dispatch(
    message: RpcRequest,
    params: Params,
    exchange: Exchange,
    session: Session | undefined,
    stateless: Caller | undefined,
  ): Answer {
    const { method, id } = message
    const caller = stateless ?? session?.caller
    if (caller === undefined) {
      if (method === 'ping' && session !== undefined) return {}
      throw errors.notInitialized(undefined, {
        message: 'Server not initialized; send initialize first, or _meta with every request',
      })
    }
    const row = methodRow(method)
    const answer = this.#methods.get(method)
    if (
      row === undefined ||
      answer === undefined ||
      !this.#exists(method, row.capability, caller)
    ) {
      throw errors.methodNotFound({ method })
    }
    const request: ServerRequest = { method, params, id, caller, exchange, session }
    if (caller.revision.era === 'session') return answer(request)
    return whenReady(answer(request), result =>
      this.#complete(result, caller, row.cacheable === true),
    )
  }

  #exists(method: string, capability: string | undefined, { revision }: Caller): boolean {
    if (!revision.methods.has(method)) return false
    if (method === 'initialize') {
      throw errors.notInitialized(undefined, { message: 'Already initialized' })
    }
    if (capability === 'tools') return this.tools.isUsed
    if (capability === 'resources') return this.resources.isUsed
    return capability !== 'prompts' || this.prompts.isUsed
  }

  /** What the stateless revisions add to a result. */
  #complete(result: Params, caller: Caller, isCacheable: boolean): Params {
    const meta = isRecord(result._meta) ? result._meta : {}
    const _meta = { ...meta, [metaKeys.serverInfo]: implementationFor(caller.revision, this.info) }
    if (result.resultType !== undefined) return { ...result, _meta }
    if (!isCacheable) return { resultType: 'complete', ...result, _meta }
    const { ttlMs = 0, cacheScope = 'private' } = this.#options.cache ?? {}
    return { resultType: 'complete', ttlMs, cacheScope, ...result, _meta }
  }

  #table(subscriptions: Subscriptions): ReadonlyMap<string, (request: ServerRequest) => Answer> {
    const { tools, resources, prompts } = this
    return new Map<string, (request: ServerRequest) => Answer>([
      ['initialize', () => ({})],
      ['ping', () => ({})],
      ['server/discover', request => discover(this, request.caller)],
      ['tools/list', request => tools.list(request)],
      ['tools/call', request => tools.call(request)],
      ['resources/list', request => resources.list(request)],
      ['resources/templates/list', request => resources.listTemplates(request)],
      ['resources/read', request => resources.read(request)],
      ['resources/subscribe', request => resources.subscribe(request)],
      ['resources/unsubscribe', request => resources.unsubscribe(request)],
      ['prompts/list', request => prompts.list(request)],
      ['prompts/get', request => prompts.get(request)],
      ['completion/complete', request => complete(request, prompts, resources)],
      ['logging/setLevel', setLevel],
      [
        'subscriptions/listen',
        request =>
          listen(request, subscriptions, {
            tools: tools.isUsed,
            prompts: prompts.isUsed,
            resources: resources.isUsed,
          }),
      ],
    ])
  }

  /** The error in the numbers of whoever asked; what is no protocol error is reported and hidden. */
  #throw(error: unknown, message: RpcRequest | RpcNotification, caller: Caller | undefined): never {
    if (!(error instanceof RpcError)) this.#options.onError(error, message)
    const known = error instanceof RpcError ? error : errors.internalError()
    const wire = toWire(known, { profile: this.profile, revision: caller?.revision })
    throw new RpcError(wire.code, wire.message, { data: wire.data })
  }

  readonly #report = (error: unknown, request: ServerRequest): void => {
    const { method, params, id } = request
    this.#options.onError(error, { type: 'request', id, method, params })
  }
}

function paramsOf({ params }: RpcRequest | RpcNotification): Params {
  if (params === undefined) return {}
  if (Array.isArray(params)) throw invalidParams('params must be an object')
  // The check: what is no array is an object, by the decoder.
  return params as Params
}
