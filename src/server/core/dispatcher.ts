import { asRead, unreadParams } from '../../jsonrpc/codec/raw-json.ts'
import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { RpcNotification, RpcRequest } from '../../jsonrpc/message.ts'
import { type Caller, statelessCaller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Profile } from '../../mcp/profile.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { Implementation, Members, ServerCapabilities } from '../../mcp/types/base.ts'
import type { Sealer } from '../crypto/seal.ts'
import type { Cursors } from '../features/cursor.ts'
import type { MakeOffer, Offer } from '../features/feature-provider.ts'
import { setLevel } from '../features/logging.ts'
import { Rounds } from '../input/request-state.ts'
import type { ServerInfo } from '../options.ts'
import type { Answer, Params, ServerRequest } from '../request.ts'
import { listen } from '../subscriptions/listen.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { type TaskOptions, Tasks } from '../tasks/tasks.ts'
import type { ServerCache } from './cache-hints.ts'
import { checkExtensions, OwnMethods } from './custom-methods.ts'
import { discover, initialize, type Self, unsupportedVersion } from './lifecycle.ts'
import { heard } from './notices.ts'
import { Wording } from './result-encoder.ts'
import type { Session } from './session.ts'

export interface SwitchboardOptions {
  readonly profile: Profile
  readonly revisions: readonly Revision[]
  readonly pageSize: number
  readonly cache: ServerCache | undefined
  readonly extensions: Readonly<Record<string, Members>> | undefined
  readonly experimental: Readonly<Record<string, Members>> | undefined
  readonly sealer: Sealer
  readonly cursors: Cursors
  readonly subscriptions: Subscriptions
  readonly tasks: TaskOptions | undefined
  readonly onError: (error: unknown, message?: RpcRequest | RpcNotification) => void
}

/**
 * From a message to the feature that answers it: finds out who asks, whether there is such a method
 * for them, and says the result and the errors in the words of their revision.
 */
export class Switchboard<O extends Offer> implements Self {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly revisions: readonly Revision[]
  readonly profile: Profile
  readonly tasks: Tasks
  /** What requests for features are answered with. */
  readonly offer: O
  /** Those that the protocol does not have. */
  readonly methods = new OwnMethods()
  readonly wording: Wording
  readonly #options: SwitchboardOptions
  /** Without such a revision, what a request says of itself is let be, as servers of old do. */
  readonly #isStateless: boolean
  readonly #methods: ReadonlyMap<string, (request: ServerRequest) => Answer>

  constructor(
    { instructions, ...info }: ServerInfo,
    makeOffer: MakeOffer<O>,
    options: SwitchboardOptions,
  ) {
    this.info = info
    this.instructions = instructions
    this.revisions = options.revisions
    this.#isStateless = options.revisions.some(({ era }) => era === 'stateless')
    this.profile = options.profile
    this.#options = options
    this.wording = new Wording({ ...options, info })
    checkExtensions(options.extensions)
    const { subscriptions, pageSize, cursors } = options
    const rounds = new Rounds(options.sealer)
    this.tasks = new Tasks(
      { profile: options.profile, pageSize, cursors, subscriptions, onError: this.#report },
      options.tasks,
    )
    this.offer = makeOffer({
      rounds,
      cursors,
      pageSize,
      tasks: this.tasks,
      subscriptions,
      onError: this.#report,
    })
    this.#methods = this.#table(subscriptions)
  }

  /** What this server can do, as a revision says it. */
  capabilities({ features, era }: Revision): ServerCapabilities {
    const { experimental } = this.#options
    const { offered } = this.offer
    const extensions = {
      ...(offered.tasks && features.tasks === 'extension' && { [tasksExtension]: {} }),
      ...(features.extensions && this.#options.extensions),
    }
    const subscribe = era === 'session' ? true : undefined
    return {
      ...(offered.tools && { tools: { listChanged: true } }),
      ...(offered.resources && { resources: { subscribe, listChanged: true } }),
      ...(offered.prompts && { prompts: { listChanged: true } }),
      ...(offered.completions && features.completionsCapability && { completions: {} }),
      logging: {},
      ...(offered.tasks && features.tasks === 'core' && coreTasks),
      ...(Object.keys(extensions).length > 0 && { extensions }),
      ...(experimental !== undefined && { experimental }),
    }
  }

  /**
   * Answers one message. Its errors have yet to be said in the words of whoever asked; with `isBare` so
   * has a result that comes later, by `wording.completed`.
   */
  answer(
    message: RpcRequest | RpcNotification,
    exchange: Exchange,
    session: Session | undefined,
    isBare = false,
  ): unknown {
    const params = paramsOf(isBare ? unreadParams(message) : message.params)
    if (message.type === 'notification') return this.#hear(message, params, exchange, session)
    const caller = this.#statelessCaller(params, exchange, session)
    return caller === undefined && message.method === 'initialize' && session !== undefined
      ? initialize(this, session, params)
      : this.#dispatch(message, params, exchange, session, caller, isBare)
  }

  readonly #unsupported = (requested: string): RpcError => unsupportedVersion(this, requested)

  #statelessCaller(
    params: Params,
    { envelope }: Exchange,
    session: Session | undefined,
  ): Caller | undefined {
    if (!this.#isStateless) return undefined
    const principal = envelope.principal ?? session?.envelope.principal
    return statelessCaller(params, principal, this.revisions, this.#unsupported)
  }

  #hear(
    message: RpcNotification,
    params: Params,
    exchange: Exchange,
    session: Session | undefined,
  ): unknown {
    if (session !== undefined) heard(message, params, session)
    const { method } = message
    if (!this.methods.has(method)) return undefined
    const caller = this.#statelessCaller(params, exchange, session) ?? session?.caller
    if (caller === undefined) return undefined
    return this.methods.answer({ method, params, id: null, caller, exchange, session })
  }

  #dispatch(
    message: RpcRequest,
    params: Params,
    exchange: Exchange,
    session: Session | undefined,
    stateless: Caller | undefined,
    isBare: boolean,
  ): Answer {
    const { method, id } = message
    const caller = stateless ?? session?.caller
    if (caller === undefined) {
      if (method === 'ping' && session !== undefined) return {}
      throw errors.notInitialized(undefined, {
        message: 'Server not initialized; send initialize first, or _meta with every request',
      })
    }
    // Whoever asks for something is past the opening, whether it has said so or not.
    if (session !== undefined && stateless === undefined && method !== 'ping') {
      session.isReady = true
    }
    const answer = this.#answerTo(method, caller)
    if (answer === undefined) throw errors.methodNotFound({ method })
    const takesWritten = isBare && exchange.takesWritten === true
    const request: ServerRequest = { method, params, id, caller, exchange, session, takesWritten }
    const answered = answer(request)
    if (caller.revision.era === 'session') return answered
    if (isBare && answered instanceof Promise) return answered
    return answered instanceof Promise
      ? answered.then(result => this.wording.complete(result, caller.revision, method))
      : this.wording.complete(answered, caller.revision, method)
  }

  #answerTo(method: string, caller: Caller): ((request: ServerRequest) => Answer) | undefined {
    const row = methodRow(method)
    if (row === undefined) return this.methods.has(method) ? this.#answerOwn : undefined
    return this.#exists(method, row.capability, caller) ? this.#methods.get(method) : undefined
  }

  readonly #answerOwn = (request: ServerRequest): Answer => this.methods.answer(request)

  #exists(method: string, capability: string | undefined, { revision }: Caller): boolean {
    if (!revision.methods.has(method)) return false
    const { offered } = this.offer
    if (capability === 'tools') return offered.tools
    if (method.startsWith('tasks/')) return offered.tasks
    if (capability === 'resources') return offered.resources
    // Before it had a capability of its own, completion belonged to prompts and resources.
    if (capability === 'completions') {
      const isImplied = !revision.features.completionsCapability
      return offered.completions || (isImplied && (offered.prompts || offered.resources))
    }
    return capability !== 'prompts' || offered.prompts
  }

  #table(subscriptions: Subscriptions): ReadonlyMap<string, (request: ServerRequest) => Answer> {
    const { tasks } = this
    const { offered, methods } = this.offer
    return new Map<string, (request: ServerRequest) => Answer>([
      ['ping', () => ({})],
      ['server/discover', request => discover(this, request.caller)],
      ...methods,
      ['logging/setLevel', methods.get('logging/setLevel') ?? setLevel],
      ['tasks/get', request => tasks.get(request)],
      ['tasks/result', request => tasks.result(request)],
      ['tasks/list', request => tasks.list(request)],
      ['tasks/cancel', request => tasks.cancel(request)],
      ['tasks/update', request => tasks.update(request)],
      [
        'subscriptions/listen',
        request =>
          listen(request, subscriptions, {
            tools: offered.tools,
            prompts: offered.prompts,
            resources: offered.resources,
            tasks: offered.tasks ? (caller, ids) => tasks.audible(caller, ids) : undefined,
          }),
      ],
    ])
  }

  readonly #report = (error: unknown, request: ServerRequest): void => {
    const { method, params, id } = request
    this.#options.onError(error, { type: 'request', id, method, params: asRead(params) })
  }
}

/** How the revision with tasks in its core says that tools can be called as such. */
const coreTasks: ServerCapabilities = {
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
}

function paramsOf(params: RpcRequest['params']): Params {
  if (params === undefined) return {}
  if (Array.isArray(params)) throw invalidParams('params must be an object')
  // The check: what is no array is an object, by the decoder.
  return params as Params
}
