import type { Envelope } from '../../jsonrpc/channel.ts'
import { methodNotFound } from '../../jsonrpc/error.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { Id, RpcNotification, RpcRequest } from '../../jsonrpc/message.ts'
import { changedList, type ListKind, listMethods } from '../../mcp/list-changes.ts'
import { readServerName } from '../../mcp/meta.ts'
import { isServerRequest, methodRow, type ServerRequestMethod } from '../../mcp/methods.ts'
import { canonicalNotification } from '../../mcp/names.ts'
import type { Members } from '../../mcp/types/base.ts'
import { isLogLevel } from '../../mcp/types/logging.ts'
import { isRecord } from '../../util/objects.ts'
import type { ResponseCache } from '../cache.ts'
import type { ChangeSubscriptions } from '../changes/subscriptions.ts'
import type { Connection } from '../connection/connection.ts'
import type { ProxyHooks } from '../connection/proxy-hooks.ts'
import { refused } from '../errors.ts'
import type { ClientOptions } from '../options.ts'
import type { OutputSchemas } from '../requests/output-schemas.ts'
import type { ProgressHandlers } from '../requests/progress.ts'
import type { Requests } from '../requests/requests.ts'
import type { Settings } from '../settings.ts'
import type { ClientTasks } from '../tasks/tasks.ts'
import type { ServerRequestHandlers } from './handlers.ts'
import type { ServerRequestTasks } from './tasks.ts'

/** The parts of a client that process what the server sends. */
export interface IncomingParts {
  readonly options: ClientOptions
  readonly settings: Settings
  readonly handlers: ServerRequestHandlers
  readonly requests: Requests
  readonly progress: ProgressHandlers
  readonly cache: ResponseCache
  readonly outputs: OutputSchemas
  readonly subscriptions: ChangeSubscriptions
  readonly tasks: ClientTasks
  readonly serverRequestTasks: ServerRequestTasks
  readonly hooks: ProxyHooks | undefined
}

/** Dispatches the requests and notifications of the server to the parts of the client. */
export class Incoming {
  readonly #parts: IncomingParts

  constructor(parts: IncomingParts) {
    this.#parts = parts
  }

  /** Handles a request of the server and returns its result. Throws the RpcError that refuses it. */
  onRequest(request: RpcRequest, exchange: Exchange, connection: Connection): unknown {
    const { method, params } = request
    const { revision } = connection
    // Until negotiation is done, the server may send `ping` and nothing else.
    if (method === 'ping' && (revision?.methods.has(method) ?? true)) return {}
    if (revision === undefined) throw methodNotFound(method)
    if (revision.features.serverRequests === 'retry') {
      this.#parts.settings.onError(
        refused(method, `a server must not send requests in protocol version ${revision.name}`),
      )
      throw methodNotFound(method)
    }
    const { handlers, requests, serverRequestTasks, hooks } = this.#parts
    if (hooks !== undefined) return hooks.onRequest(request, exchange)
    const prepare = (signal: AbortSignal) => {
      const answer = handlers.prepare({ method, params }, { revision, signal })
      return () => requests.withTimeoutsPaused(answer)
    }
    const { tasks } = revision.features.tasks === 'core' ? handlers.capabilities(revision) : {}
    if (tasks !== undefined && method.startsWith('tasks/'))
      return serverRequestTasks.handle(connection, method, params)
    const task = tasks !== undefined && isRecord(params) ? params.task : undefined
    // A request that is answered at once never becomes a task, even if the server asks for one.
    if (task !== undefined && methodRow(method)?.mayBeTask)
      return serverRequestTasks.begin(connection, task, prepare)
    return prepare(exchange.signal)()
  }

  /** Passes a notification to the parts of the client, and then to the callbacks of the options. */
  onNotification(notification: RpcNotification, envelope: Envelope, connection: Connection): void {
    const method = canonicalNotification(notification.method)
    const params = isRecord(notification.params) ? notification.params : undefined
    this.#dispatch(method, params, envelope, connection)
    this.#parts.subscriptions.onNotification(method, params, envelope)
    this.#guarded(() => this.#parts.options.onNotification?.(method, params))
    this.#guarded(() => this.#parts.hooks?.onNotification(method, params, envelope))
  }

  #dispatch(
    method: string,
    params: Members | undefined,
    envelope: Envelope,
    connection: Connection,
  ): void {
    const { progress, cache, tasks } = this.#parts
    switch (method) {
      case 'notifications/progress':
        progress.onNotification(params, envelope.about)
        break
      case 'notifications/message':
        this.#onLog(params)
        break
      case 'notifications/cancelled':
        this.#onCancelled(params, connection)
        break
      case 'notifications/resources/updated':
        cache.invalidate(['resources/read'], stringOf(params?.uri))
        break
      case 'notifications/tasks':
      case 'notifications/tasks/status':
        tasks.onChanged(params)
        break
      default: {
        const list = changedList(method)
        if (list !== undefined) this.#onListChanged(list)
        else if (isServerRequest(method)) this.#onNotifiedRequest(method, params, connection)
      }
    }
  }

  #onListChanged(list: ListKind): void {
    const { cache, outputs } = this.#parts
    if (list === 'tools') outputs.clear()
    cache.invalidate(listMethods[list])
  }

  /** The server cancels one of its requests or, where it has none, ends a change subscription. */
  #onCancelled({ requestId: id, reason }: Members = {}, connection: Connection): void {
    if (typeof id !== 'string' && typeof id !== 'number') return
    const serverRequests = connection.revision?.features.serverRequests
    if (serverRequests === 'call') connection.cancel(id satisfies Id, reason)
    else this.#parts.subscriptions.onCancelled(id)
  }

  /** Runs the handler of a server request without a response, if the profile expects it. */
  #onNotifiedRequest(
    method: ServerRequestMethod,
    params: Members | undefined,
    { revision }: Connection,
  ): void {
    const { settings, handlers } = this.#parts
    if (!settings.profile.notifiedRequests.includes(method) || revision === undefined) return
    const signal = new AbortController().signal
    const run = async () => {
      await handlers.prepare({ method, params }, { revision, signal })()
    }
    run().catch(settings.onError)
  }

  #onLog(params: Members | undefined): void {
    const { level, logger, data, _meta } = params ?? {}
    if (!isLogLevel(level)) return
    const server = readServerName(params)
    const message = {
      level,
      logger: stringOf(logger),
      data,
      _meta: isRecord(_meta) ? _meta : undefined,
      ...(server !== undefined && { server }),
    }
    this.#guarded(() => this.#parts.options.onLog?.(message))
  }

  /** Reports errors of a callback, so that the others are still called. */
  #guarded(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#parts.settings.onError(error)
    }
  }
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
