import { parseRaw, parseRawValue } from '../../jsonrpc/codec/raw-json.ts'
import { compose, type Handler, type Middleware } from '../../jsonrpc/handler.ts'
import type { RpcRequest } from '../../jsonrpc/message.ts'
import type { AuditSink } from '../../observe/audit/record.ts'
import { isRecord, ownMember } from '../../util/objects.ts'
import type { Clock } from '../../util/time/clock.ts'
import { limitedAudit } from '../access/call-audit.ts'
import { isSame } from '../config/diff.ts'
import { publishLimitRefused, publishQueueLength, publishWait } from '../events.ts'
import type { CallRoute, UpstreamCall, UpstreamResult } from '../forward/upstream-call.ts'
import type { Priority, UpstreamOptions } from '../options.ts'
import { QueueWait } from '../policy/concurrency.ts'
import { type Limits, overload, type Permit, type ServerMeters } from '../policy/limit.ts'
import type { PrioritizedCall } from '../policy/priority.ts'
import type { Instance } from '../upstream/instance.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { DeadLetters, UndeliveredCall } from './dead-letters.ts'
import { Dispatch, undeliveredFrom } from './dispatch.ts'

/** What all routes of a router share. */
export interface RouteHost {
  readonly clock: Clock
  readonly limits: Limits
  /** Returns the priority of a call to a server. */
  priorityOf(server: string, call: PrioritizedCall): Priority
  /** Keeps calls that could not be delivered. */
  readonly deadLetters: DeadLetters
  /** Records calls that a limit refuses; undefined if nothing is recorded. */
  readonly audit: AuditSink | undefined
  /** Middleware around every call to any server. */
  readonly outbound: readonly Middleware[]
}

/** Sends calls to one server: through its middleware and its limits to one of its instances. */
export class Route implements CallRoute {
  readonly upstream: Upstream
  /** Increases along the list of routes, and stays the same while only other servers change. */
  rank = 0
  readonly #host: RouteHost
  readonly #dispatch: Dispatch
  readonly #middlewares: readonly Middleware[]
  #options: UpstreamOptions
  #meters: ServerMeters | undefined
  /** Calls that are queued at a limit. */
  #queued = 0

  constructor(upstream: Upstream, host: RouteHost) {
    this.upstream = upstream
    this.#host = host
    this.#options = upstream.options
    this.#dispatch = new Dispatch(upstream, host.clock, host.deadLetters)
    this.#middlewares = [...host.outbound, ...(upstream.options.use ?? [])]
    this.#meters = this.#makeMeters()
  }

  get name(): string {
    return this.upstream.name
  }

  get timeoutMs(): number | undefined {
    return this.#options.timeoutMs
  }

  get returnsInputRequests(): boolean {
    const server = this.upstream.ready?.first?.server
    return server?.revision.features.serverRequests === 'retry'
  }

  /** Returns why an instance that is ready gets no calls; undefined if it gets calls. */
  ejection(instance: Instance): string | undefined {
    return this.#dispatch.ejection(instance)
  }

  /** Makes the error that says why the server takes no calls, and when to try again. */
  unavailable(why?: string): Error {
    return this.#dispatch.unavailable(why)
  }

  /** Keeps a call to this server that was refused with an error of the router. */
  undelivered(call: UndeliveredCall, error: unknown): void {
    this.#host.deadLetters.add(this.name, call, error)
  }

  /** Returns the instance with this key, if it still exists. */
  instance(key: string): Instance | undefined {
    return this.upstream.instances.find(one => one.key === key)
  }

  /**
   * Applies options that can change while calls are in flight. State that belongs to unchanged options is
   * kept: the usage of limits, and which instances hold the sessions of callers.
   */
  adjust(options: UpstreamOptions): void {
    const { limits } = this.#options
    this.#options = options
    this.upstream.adjust(options)
    this.#dispatch.adjust()
    if (!isSame(limits, options.limits)) this.#meters = this.#makeMeters()
  }

  /** Sends a call. Rejects with an RpcError, or with the reason of its signal. */
  send(call: UpstreamCall): Promise<UpstreamResult> {
    if (call.span !== undefined) call.span.server = this.name
    return this.#middlewares.length === 0 ? this.#sendLimited(call) : this.#sendWrapped(call)
  }

  async #sendWrapped(call: UpstreamCall): Promise<UpstreamResult> {
    // A middleware may look at any member of the result.
    call.acceptsRaw = false
    let response: UpstreamResult | undefined
    const last: Handler = async message => {
      call.method = message.method
      call.params = isRecord(message.params) ? message.params : {}
      response = await this.#sendLimited(call)
      return response.result
    }
    const message: RpcRequest = {
      type: 'request',
      id: null,
      method: call.method,
      params: parseRaw({ ...call.params }),
    }
    const { principal } = call.caller
    const result = await compose(last, this.#middlewares)(message, {
      signal: call.abort.signal,
      envelope: { principal, headers: call.headers },
      notify: () => {},
    })
    return { result, instance: response?.instance, connection: response?.connection }
  }

  #sendLimited(call: UpstreamCall): Promise<UpstreamResult> {
    // First, because a middleware may have replaced the arguments by something that is not JSON.
    this.#setHashKey(call)
    const meters = this.#meters
    const { limits } = this.#host
    if (limits.isUnlimited(meters)) return this.#dispatch.send(call)
    const { tool, caller } = call
    let permit: ReturnType<Limits['acquire']>
    let wait: QueueWait | undefined
    try {
      permit = limits.acquire(
        { caller: caller.principal?.id ?? '', tool, priority: () => this.#priorityOf(call) },
        meters,
        // A signal is needed only if the call is queued.
        undefined,
        limit => {
          wait ??= new QueueWait(call, this.#host.clock, overload)
          wait.limit = limit
          return wait.signal
        },
      )
    } catch (error) {
      return this.#rejected(call, error)
    }
    return permit instanceof Promise
      ? this.#sendQueued(call, permit, wait)
      : this.#sendPermitted(call, permit)
  }

  async #sendQueued(
    call: UpstreamCall,
    acquiring: Promise<Permit>,
    wait: QueueWait | undefined,
  ): Promise<UpstreamResult> {
    publishQueueLength(this.name, ++this.#queued)
    const queuedAt = this.#host.clock.now()
    let permit: Permit
    try {
      permit = await acquiring
    } catch (error) {
      await this.#refused(call, error)
      throw error
    } finally {
      call.queuedMs = wait?.end() ?? 0
      publishQueueLength(this.name, --this.#queued)
      publishWait(call.span, 'limit', queuedAt, this.#host.clock.now())
    }
    return this.#sendPermitted(call, permit)
  }

  #sendPermitted(call: UpstreamCall, permit: Permit): Promise<UpstreamResult> {
    const sent = this.#dispatch.send(call)
    const release = (): void => permit.release()
    sent.then(release, release)
    return sent
  }

  /** Reports a call that a limit refused, or that its caller gave up while it was queued. */
  #refused(call: UpstreamCall, error: unknown): void | Promise<void> {
    publishLimitRefused(error, this.name, call)
    this.undelivered(undeliveredFrom(call), error)
    return this.#host.audit?.record(limitedAudit(call.request, call.tool, this.name, error))
  }

  async #rejected(call: UpstreamCall, error: unknown): Promise<never> {
    await this.#refused(call, error)
    throw error
  }

  #priorityOf({ caller, tool, request }: UpstreamCall): Priority {
    return this.#host.priorityOf(this.name, { caller, tool, params: request.params })
  }

  #makeMeters(): ServerMeters | undefined {
    const { limits } = this.#options
    return limits && this.#host.limits.ofServer(this.name, limits)
  }

  /** Sets the key that the instance is chosen by, where that is by a hash. */
  #setHashKey(call: UpstreamCall): void {
    const { balance, hash = 'principal' } = this.#options
    if (balance === 'hash') call.hashKey = hashKeyOf(call, hash)
  }
}

function hashKeyOf(
  call: UpstreamCall,
  by: NonNullable<UpstreamOptions['hash']>,
): string | undefined {
  if (by === 'principal') return call.caller.principal?.id
  if ('header' in by) return call.headers?.[by.header.toLowerCase()]
  const given = isRecord(call.params) ? parseRawValue(call.params.arguments) : undefined
  const value = ownMember(given, by.argument)
  return value === undefined ? undefined : JSON.stringify(value)
}
