import type { Envelope } from '../../jsonrpc/channel.ts'
import { methodNotFound } from '../../jsonrpc/error.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { Id, RpcNotification, RpcRequest } from '../../jsonrpc/message.ts'
import { canonicalNotification } from '../../mcp/names.ts'
import type { Members } from '../../mcp/types/base.ts'
import { isLogLevel } from '../../mcp/types/logging.ts'
import { isRecord } from '../../util/record.ts'
import type { ResponseCache } from '../cache.ts'
import type { Listens } from '../changes/listen.ts'
import type { Link } from '../connection/connection.ts'
import type { Seams } from '../connection/proxy-hooks.ts'
import { refused } from '../errors.ts'
import type { ClientOptions } from '../options.ts'
import type { OutputSchemas } from '../requests/output-schemas.ts'
import type { ProgressBoard } from '../requests/progress.ts'
import type { Requests } from '../requests/requests.ts'
import type { Settings } from '../settings.ts'
import type { Tasks } from '../tasks/tasks.ts'
import type { Answerer } from './handlers.ts'
import type { AskedTasks } from './tasks.ts'

/** Those who are told of what comes from the server. */
export interface InboxParts {
  readonly options: ClientOptions
  readonly settings: Settings
  readonly answerer: Answerer
  readonly requests: Requests
  readonly progress: ProgressBoard
  readonly cache: ResponseCache
  readonly outputs: OutputSchemas
  readonly listens: Listens
  readonly tasks: Tasks
  readonly asked: AskedTasks
  readonly seams: Seams | undefined
}

/** What a server sends by itself: its requests answered, its notifications passed on. */
export class Inbox {
  readonly #parts: InboxParts

  constructor(parts: InboxParts) {
    this.#parts = parts
  }

  onRequest(request: RpcRequest, exchange: Exchange, link: Link): unknown {
    const { method, params } = request
    const { revision } = link
    // Before anything is settled the other side may ask whether anybody is there, and nothing else.
    if (method === 'ping' && revision?.era !== 'stateless') return {}
    if (revision === undefined) throw methodNotFound(method)
    if (revision.era === 'stateless') {
      this.#parts.settings.onError(
        refused(method, `a server of revision ${revision.name} must not send requests`),
      )
      throw methodNotFound(method)
    }
    const { answerer, requests, asked, seams } = this.#parts
    if (seams !== undefined) return seams.onRequest(request, exchange)
    const prepare = (signal: AbortSignal) => {
      const answer = answerer.prepare({ method, params }, { revision, signal })
      return () => requests.whileAsked(answer)
    }
    const { tasks } = revision.features.tasks === 'core' ? answerer.capabilities(revision) : {}
    if (tasks !== undefined && method.startsWith('tasks/'))
      return asked.handle(link, method, params)
    const task = tasks !== undefined && isRecord(params) ? params.task : undefined
    // Roots are no work: they are answered at once, whatever is wished for.
    if (task !== undefined && method !== 'roots/list') return asked.begin(link, task, prepare)
    return prepare(exchange.signal)()
  }

  onNotification(notification: RpcNotification, envelope: Envelope, link: Link): void {
    const method = canonicalNotification(notification.method)
    const params = isRecord(notification.params) ? notification.params : undefined
    this.#dispatch(method, params, link)
    this.#parts.listens.onNotification(method, params, envelope)
    this.#guarded(() => this.#parts.options.onNotification?.(method, params))
    this.#guarded(() => this.#parts.seams?.onNotification(method, params, envelope))
  }

  #dispatch(method: string, params: Members | undefined, link: Link): void {
    const { progress, cache, outputs, tasks } = this.#parts
    switch (method) {
      case 'notifications/progress':
        progress.onNotification(params)
        break
      case 'notifications/message':
        this.#onLog(params)
        break
      case 'notifications/cancelled':
        this.#onCancelled(params, link)
        break
      case 'notifications/tools/list_changed':
        outputs.forget()
        cache.invalidate(['tools/list'])
        break
      case 'notifications/prompts/list_changed':
        cache.invalidate(['prompts/list'])
        break
      case 'notifications/resources/list_changed':
        cache.invalidate(['resources/list', 'resources/templates/list'])
        break
      case 'notifications/resources/updated':
        cache.invalidate(['resources/read'], stringOf(params?.uri))
        break
      case 'notifications/tasks':
      case 'notifications/tasks/status':
        tasks.onChanged(params)
        break
      default:
    }
  }

  /** What is cancelled is a question of the server or, in stateless revisions, a stream of changes. */
  #onCancelled({ requestId: id, reason }: Members = {}, link: Link): void {
    if (typeof id !== 'string' && typeof id !== 'number') return
    if (link.revision?.era === 'session') link.cancel(id satisfies Id, reason)
    else this.#parts.listens.onCancelled(id)
  }

  #onLog(params: Members | undefined): void {
    const { level, logger, data, _meta } = params ?? {}
    if (!isLogLevel(level)) return
    const message = {
      level,
      logger: stringOf(logger),
      data,
      _meta: isRecord(_meta) ? _meta : undefined,
    }
    this.#guarded(() => this.#parts.options.onLog?.(message))
  }

  /** A callback that throws must not keep others from being called. */
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
