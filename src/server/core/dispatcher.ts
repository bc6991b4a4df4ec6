import { cancelledIn } from '../../jsonrpc/cancellation.ts'
import { parseRaw, rawParams } from '../../jsonrpc/codec/raw-json.ts'
import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { RpcNotification, RpcRequest } from '../../jsonrpc/message.ts'
import { type Caller, statelessCaller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { skillsExtension, tasksExtension } from '../../mcp/extension.ts'
import { listKinds } from '../../mcp/list-changes.ts'
import { methodRow } from '../../mcp/methods.ts'
import { canonicalNotification, canonicalRequest } from '../../mcp/names.ts'
import type { Profile } from '../../mcp/profile.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { Implementation, Members, ServerCapabilities } from '../../mcp/types/base.ts'
import type { Sealer } from '../../util/crypto/seal.ts'
import type { FeatureProvider, MakeProvider } from '../features/feature-provider.ts'
import { setLevel } from '../features/logging.ts'
import type { Cursors } from '../features/pagination.ts'
import { InputRounds } from '../input/request-state.ts'
import type { ServerInfo } from '../options.ts'
import type { HandlerResult, IncomingRequest, NamedParams } from '../request.ts'
import { openListenStream } from '../subscriptions/listen.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import type { TaskOptions } from '../tasks/registry.ts'
import { Tasks } from '../tasks/tasks.ts'
import { CustomMethods, checkExtensions } from './custom-methods.ts'
import type { EventListeners } from './events.ts'
import { discover, initialize, type ServerIdentity, unsupportedVersion } from './lifecycle.ts'
import type { LocalCall } from './local-call.ts'
import { type ContextFactory, RequestScope } from './request-scope.ts'
import { mcpCancellation, type ServerSession } from './session.ts'

/** The options of a dispatcher. */
export interface DispatcherOptions {
  readonly profile: Profile
  readonly revisions: readonly Revision[]
  readonly pageSize: number
  readonly extensions: Readonly<Record<string, Members>> | undefined
  readonly experimental: Readonly<Record<string, Members>> | undefined
  readonly sealer: Sealer
  readonly cursors: Cursors
  readonly subscriptions: Subscriptions
  readonly tasks: TaskOptions | undefined
  /** The methods of lists that clients may share between principals. */
  readonly publicLists: ReadonlySet<string>
  readonly context: ContextFactory<unknown> | undefined
  readonly events: EventListeners
  readonly onError: (error: unknown, message?: RpcRequest | RpcNotification) => void
}

type RequestHandler = (request: IncomingRequest) => HandlerResult

/**
 * Routes a message to the feature that handles it, if the method exists for the caller. Results and
 * errors are those of the feature: the endpoint encodes them for the caller's revision.
 */
export class Dispatcher<P extends FeatureProvider> implements ServerIdentity {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly revisions: readonly Revision[]
  readonly profile: Profile
  readonly tasks: Tasks
  /** The features that answer requests. */
  readonly features: P
  /** The methods that the protocol does not have. */
  readonly methods = new CustomMethods()
  /** The environment and the middlewares of requests. */
  readonly scope: RequestScope
  readonly #options: DispatcherOptions
  readonly #handlers: ReadonlyMap<string, RequestHandler>

  constructor(
    { instructions, ...info }: ServerInfo,
    makeProvider: MakeProvider<P>,
    options: DispatcherOptions,
  ) {
    this.info = info
    this.instructions = instructions
    this.revisions = options.revisions
    this.profile = options.profile
    this.#options = options
    this.scope = new RequestScope(options.context)
    checkExtensions(options.extensions)
    const { subscriptions, pageSize, cursors } = options
    this.tasks = new Tasks(
      {
        profile: options.profile,
        pageSize,
        cursors,
        subscriptions,
        onError: this.#report,
        mayUseTask: (tool, caller) => this.features.mayUseTask?.(tool, caller) !== false,
      },
      options.tasks,
    )
    this.features = makeProvider({
      rounds: new InputRounds(options.sealer, this.#report),
      cursors,
      pageSize,
      tasks: this.tasks,
      subscriptions,
      publicLists: options.publicLists,
      maxToolDescription: options.profile.maxToolDescription,
      onError: this.#report,
    })
    this.#handlers = this.#table(subscriptions)
  }

  /** The capabilities of this server in a revision. */
  capabilities({ features }: Revision): ServerCapabilities {
    const { experimental } = this.#options
    const { available } = this.features
    const extensions = {
      ...(available.tasks && features.tasks === 'extension' && { [tasksExtension]: {} }),
      ...(available.skills && features.extensions && { [skillsExtension]: available.skills }),
      ...(features.extensions && this.#options.extensions),
    }
    const lists = listKinds.filter(kind => available[kind])
    const subscribe = features.subscriptions === 'session' ? true : undefined
    return {
      ...Object.fromEntries(lists.map(kind => [kind, { listChanged: true }])),
      ...(available.resources && { resources: { subscribe, listChanged: true } }),
      ...(available.completions && features.completionsCapability && { completions: {} }),
      logging: {},
      ...(available.tasks && features.tasks === 'core' && coreTasks),
      ...(Object.keys(extensions).length > 0 && { extensions }),
      ...(experimental !== undefined && { experimental }),
    }
  }

  /**
   * Reads the caller of a stateless request from its `_meta`; returns undefined for a request of a
   * session. Throws an RpcError for an invalid `_meta` and for a revision that is not served.
   */
  callerOf(
    message: RpcRequest | RpcNotification,
    { envelope }: Exchange,
    session: ServerSession | undefined,
  ): Caller | undefined {
    const principal = envelope.principal ?? session?.envelope.principal
    return statelessCaller(rawParams(message), principal, this.revisions, this.#unsupported)
  }

  /**
   * Answers one message with the result of its feature, or throws. `caller` is the caller of a stateless
   * request. `acceptsRaw` says whether members of the result may be raw JSON.
   */
  answer(
    message: RpcRequest | RpcNotification,
    exchange: Exchange,
    session: ServerSession | undefined,
    caller: Caller | undefined,
    acceptsRaw: boolean,
  ): unknown {
    const params = paramsOf(rawParams(message))
    if (message.type === 'notification') return this.#notified(message, params, exchange, session)
    return caller === undefined && message.method === 'initialize' && session !== undefined
      ? initialize(this, session, params, exchange.envelope.principal)
      : this.#dispatch(message, params, exchange, session, caller, acceptsRaw)
  }

  /** Calls a tool without a connection: as any request, but without the middlewares of `use`. */
  call({ params, caller, exchange }: LocalCall): HandlerResult {
    const message: RpcRequest = { type: 'request', id: 0, method: 'tools/call', params }
    return this.#dispatch(message, params, exchange, undefined, caller, false)
  }

  readonly #unsupported = (requested: string): RpcError => unsupportedVersion(this, requested)

  #notified(
    message: RpcNotification,
    params: NamedParams,
    exchange: Exchange,
    session: ServerSession | undefined,
  ): unknown {
    if (session !== undefined) {
      handleNotification(message, params, session, this.#options.events)
    }
    const { method } = message
    if (!this.methods.has(method)) return undefined
    const caller = this.callerOf(message, exchange, session) ?? sessionCaller(session, exchange)
    if (caller === undefined) return undefined
    const { env } = exchange.envelope
    const request = { method, params, id: null, caller, exchange, session, env }
    return env === undefined
      ? this.scope.run(request, this.#answerCustom)
      : this.methods.answer(request)
  }

  #dispatch(
    message: RpcRequest,
    params: NamedParams,
    exchange: Exchange,
    session: ServerSession | undefined,
    stateless: Caller | undefined,
    acceptsRaw: boolean,
  ): HandlerResult {
    const { id } = message
    const method = this.profile.methodAliases ? canonicalRequest(message.method) : message.method
    const caller = stateless ?? sessionCaller(session, exchange)
    if (caller === undefined) {
      if (method === 'ping' && session !== undefined && this.profile.earlyPing) return {}
      throw errors.notInitialized(undefined, {
        message: 'Server not initialized; send initialize first, or _meta with every request',
      })
    }
    // A client that sends requests has been initialized, even if it never sent the notification.
    if (session !== undefined && stateless === undefined && method !== 'ping') {
      session.markReady()
    }
    const handler = this.#handlerOf(method, caller)
    if (handler === undefined) throw errors.methodNotFound({ method })
    const { env } = exchange.envelope
    const request = { method, params, id, caller, exchange, session, acceptsRaw, env }
    if (this.scope.isIdle(method)) return handler(request)
    const needsEnv = env === undefined && (methodRow(method) === undefined || this.#usesEnv(method))
    return needsEnv ? this.scope.run(request, handler) : this.scope.runEntered(request, handler)
  }

  /** Whether the handler of a method, or a middleware around it, sees the environment. */
  #usesEnv(method: string): boolean {
    return this.features.methods.has(method) || this.scope.hasAround(method)
  }

  #handlerOf(method: string, caller: Caller): RequestHandler | undefined {
    const row = methodRow(method)
    if (row === undefined) return this.methods.has(method) ? this.#answerCustom : undefined
    return this.#exists(method, row.capability, caller) ? this.#handlers.get(method) : undefined
  }

  readonly #answerCustom = (request: IncomingRequest): HandlerResult => this.methods.answer(request)

  #exists(method: string, capability: string | undefined, { revision }: Caller): boolean {
    if (!revision.methods.has(method)) return false
    const { available } = this.features
    if (capability === 'tools') return available.tools
    if (method.startsWith('tasks/')) return available.tasks
    if (capability === 'resources') return available.resources
    if (capability === 'skills') return available.skills !== undefined
    // Before completion had a capability of its own, prompts and resources implied it.
    if (capability === 'completions') {
      const isImplied = !revision.features.completionsCapability
      return available.completions || (isImplied && (available.prompts || available.resources))
    }
    return capability !== 'prompts' || available.prompts
  }

  #table(subscriptions: Subscriptions): ReadonlyMap<string, RequestHandler> {
    const { tasks } = this
    const { available, methods, isVisible } = this.features
    return new Map<string, RequestHandler>([
      ['ping', () => ({})],
      ['server/discover', request => discover(this, request.caller)],
      ...methods,
      ['logging/setLevel', methods.get('logging/setLevel') ?? setLevel],
      ['tasks/get', request => tasks.designOf(request.caller).get(request)],
      ['tasks/result', request => tasks.core.result(request)],
      ['tasks/list', request => tasks.core.list(request)],
      ['tasks/cancel', request => tasks.designOf(request.caller).cancel(request)],
      ['tasks/update', request => tasks.extension.update(request)],
      [
        'subscriptions/listen',
        request =>
          openListenStream(request, subscriptions, {
            tools: available.tools,
            prompts: available.prompts,
            resources: available.resources,
            tasks: available.tasks
              ? (caller, ids) => tasks.extension.visibleTasks(caller, ids)
              : undefined,
            isVisible,
          }),
      ],
    ])
  }

  readonly #report = (error: unknown, request?: IncomingRequest): void => {
    if (request === undefined) {
      this.#options.onError(error)
      return
    }
    const { method, params, id } = request
    this.#options.onError(error, { type: 'request', id, method, params: parseRaw(params) })
  }
}

/** The capability of the revision that has tasks in its core. */
const coreTasks: ServerCapabilities = {
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
}

function paramsOf(params: RpcRequest['params']): NamedParams {
  if (params === undefined) return {}
  if (Array.isArray(params)) throw invalidParams('params must be an object')
  // The check: params that are not an array are an object, by the decoder.
  return params as NamedParams
}

/**
 * Returns the caller of a request in a session: the client that `initialize` described, as the principal
 * of this very request.
 */
function sessionCaller(
  session: ServerSession | undefined,
  { envelope }: Exchange,
): Caller | undefined {
  const caller = session?.caller
  const { principal } = envelope
  if (caller === undefined || principal === undefined || principal === caller.principal) {
    return caller
  }
  return { ...caller, principal }
}

/**
 * Handles a notification of the protocol, under its name in any revision. Ignores those that a server
 * has no use for.
 */
function handleNotification(
  message: RpcNotification,
  params: NamedParams,
  session: ServerSession,
  events: EventListeners,
): void {
  switch (canonicalNotification(message.method)) {
    case 'notifications/initialized':
      if (session.caller !== undefined) session.markReady()
      break
    case mcpCancellation.method: {
      // Only other spellings arrive here: the peer handles the usual one.
      const given = cancelledIn(mcpCancellation, message)
      if (given !== undefined) session.peer.cancel(given.id, given.why)
      break
    }
    case 'notifications/roots/list_changed':
      if (session.isReady) events.emit('roots', session)
      break
    case 'notifications/tasks/status':
      session.onTaskStatus(params.taskId)
      break
    default:
  }
}
