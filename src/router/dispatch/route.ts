import { asRead, readValue } from '../../jsonrpc/codec/raw-json.ts'
import { compose, type Handler, type Middleware } from '../../jsonrpc/handler.ts'
import type { RpcRequest } from '../../jsonrpc/message.ts'
import { isRecord } from '../../util/record.ts'
import type { Clock } from '../../util/time/clock.ts'
import { isSame } from '../config/diff.ts'
import { tellQueue, tellRefused } from '../events.ts'
import type { Call, Delivered } from '../forward/call.ts'
import type { UpstreamOptions } from '../options.ts'
import { type Limits, overload, type Pass, type ServerMeters } from '../policy/limit.ts'
import { Wait } from '../policy/wait.ts'
import type { Instance } from '../upstream/instance.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { Dispatch } from './dispatch.ts'

/** What the way to a server is made with. */
export interface RouteHost {
  readonly clock: Clock
  readonly limits: Limits
  /** Wrapped around every call to any server. */
  readonly out: readonly Middleware[]
}

/** The way of calls to one server: its limits, its middleware, and then one of its instances. */
export class Route {
  readonly upstream: Upstream
  /** Higher than that of all servers before it, and the same while only others come and go. */
  rank = 0
  readonly #host: RouteHost
  readonly #dispatch: Dispatch
  readonly #middlewares: readonly Middleware[]
  #options: UpstreamOptions
  #meters: ServerMeters | undefined
  /** Calls that wait for their turn. */
  #waiting = 0

  constructor(upstream: Upstream, host: RouteHost) {
    this.upstream = upstream
    this.#host = host
    this.#options = upstream.options
    this.#dispatch = new Dispatch(upstream, host.clock)
    this.#middlewares = [...host.out, ...(upstream.options.use ?? [])]
    this.#meters = this.#makeMeters()
  }

  get name(): string {
    return this.upstream.name
  }

  get timeoutMs(): number | undefined {
    return this.#options.timeoutMs
  }

  /** Why an instance gets no calls though it is there. */
  ejection(instance: Instance): string | undefined {
    return this.#dispatch.ejection(instance)
  }

  /** An instance by its key, if it is still there. */
  instance(key: string): Instance | undefined {
    return this.upstream.instances.find(one => one.key === key)
  }

  /**
   * Changes what can be changed while calls are under way. What stays the same goes on as it was: how far
   * limits are used, and where the sessions of callers live.
   */
  adjust(options: UpstreamOptions): void {
    const { limits } = this.#options
    this.#options = options
    this.upstream.adjust(options)
    this.#dispatch.adjust()
    if (!isSame(limits, options.limits)) this.#meters = this.#makeMeters()
  }

  /** Sends a call. Rejects with an RpcError, or with the reason of its signal. */
  send(call: Call): Promise<Delivered> {
    if (call.live !== undefined) call.live.server = this.name
    return this.#middlewares.length === 0 ? this.#limited(call) : this.#wrapped(call)
  }

  async #wrapped(call: Call): Promise<Delivered> {
    // A middleware may look at any of it.
    call.takesWritten = false
    let delivered: Delivered | undefined
    const last: Handler = async message => {
      call.method = message.method
      call.params = isRecord(message.params) ? message.params : {}
      delivered = await this.#limited(call)
      return delivered.result
    }
    const message: RpcRequest = {
      type: 'request',
      id: null,
      method: call.method,
      params: asRead({ ...call.params }),
    }
    const { principal } = call.caller
    const result = await compose(last, this.#middlewares)(message, {
      signal: call.abort.signal,
      envelope: { principal, headers: call.headers },
      notify: () => {},
    })
    return { retries: 0, ...delivered, result }
  }

  #limited(call: Call): Promise<Delivered> {
    // First, because what a middleware has made of the arguments may be no JSON.
    this.#hash(call)
    const { name } = this
    const meters = this.#meters
    const { limits } = this.#host
    if (limits.isFree(meters)) return this.#dispatch.send(call)
    const { tool, caller } = call
    let pass: ReturnType<Limits['enter']>
    let wait: Wait | undefined
    try {
      pass = limits.enter(
        { caller: caller.principal?.id ?? '', tool },
        meters,
        // Nobody need know how the call is given up unless it waits.
        undefined,
        limit => {
          wait ??= new Wait(call, this.#host.clock, overload)
          wait.at = limit
          return wait.signal
        },
      )
    } catch (error) {
      tellRefused(error, name, call)
      return Promise.reject(error)
    }
    return pass instanceof Promise ? this.#queued(call, pass, wait) : this.#send(call, pass)
  }

  async #queued(call: Call, entering: Promise<Pass>, wait: Wait | undefined): Promise<Delivered> {
    tellQueue(this.name, ++this.#waiting)
    let pass: Pass
    try {
      pass = await entering
    } catch (error) {
      tellRefused(error, this.name, call)
      throw error
    } finally {
      call.waitedMs = wait?.end()
      tellQueue(this.name, --this.#waiting)
    }
    return this.#send(call, pass)
  }

  #send(call: Call, pass: Pass): Promise<Delivered> {
    const sent = this.#dispatch.send(call)
    const leave = (): void => pass.leave()
    sent.then(leave, leave)
    return sent
  }

  #makeMeters(): ServerMeters | undefined {
    const { limits } = this.#options
    return limits && this.#host.limits.ofServer(limits)
  }

  /** Notes what the instance is chosen by, where that is by a hash. */
  #hash(call: Call): void {
    const { balance, hash = 'principal' } = this.#options
    if (balance === 'hash') call.hashKey = hashKeyOf(call, hash)
  }
}

function hashKeyOf(call: Call, by: NonNullable<UpstreamOptions['hash']>): string | undefined {
  if (by === 'principal') return call.caller.principal?.id
  if ('header' in by) return call.headers?.[by.header.toLowerCase()]
  const given = isRecord(call.params) ? readValue(call.params.arguments) : undefined
  const value = isRecord(given) ? given[by.argument] : undefined
  return value === undefined ? undefined : JSON.stringify(value)
}
