import { ChannelError } from '../../../jsonrpc/channel.ts'
import { limits } from '../../../util/limits/limits.ts'
import type { Clock, Timer } from '../../../util/time/clock.ts'
import type { Traffic } from '../../../util/traffic.ts'
import type { HttpClient, HttpResponse, OutgoingRequest } from './http-client.ts'
import { type ConnectionHost, NodeConnection, PendingRequest } from './node-connection.ts'
import { writeRequest } from './request-writer.ts'

/**
 * Makes an HttpClient with its own connections, which are kept for a while and reused.
 *
 * A connection carries one request at a time, and no request is ever repeated here: when a connection
 * closes before the response, it is unknown whether the server has received the request. All requests
 * go to one origin. Certificates are always verified, against the authorities `ca` if they are given, and nothing is
 * decompressed. `traffic` counts the bytes.
 */
export function nodeClient(
  clock: Clock,
  maxNotifications: number = limits.httpNotifications.default,
  traffic?: Traffic,
  ca?: string,
): HttpClient {
  return new Pool(clock, maxNotifications, traffic, ca)
}

class Pool implements HttpClient, ConnectionHost {
  readonly clock: Clock
  readonly traffic: Traffic | undefined
  readonly ca: string | undefined
  readonly #maxNotifications: number
  readonly #open = new Set<NodeConnection>()
  /** Idle connections. The one used last is at the end and reused first, so that the others expire. */
  readonly #idle: NodeConnection[] = []
  #sweep: Timer | undefined
  #origin: string | undefined
  #notifications = 0
  readonly #waiting: PendingRequest[] = []
  #isClosed = false

  constructor(
    clock: Clock,
    maxNotifications: number,
    traffic: Traffic | undefined,
    ca: string | undefined,
  ) {
    this.clock = clock
    this.ca = ca
    this.traffic = traffic
    this.#maxNotifications = maxNotifications
  }

  send(request: OutgoingRequest): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closed()
      this.#check(request.url)
      const pending = new PendingRequest(request, writeRequest(request), resolve, reject)
      if (request.isOneWay !== true) this.#start(pending)
      else if (this.#notifications < this.#maxNotifications) this.#notify(pending)
      else this.#wait(pending)
    })
  }

  close(): void {
    this.#isClosed = true
    if (this.#sweep !== undefined) this.clock.stop(this.#sweep)
    for (const pending of this.#waiting.splice(0)) pending.fail(closed())
    for (const connection of this.#open) connection.destroy()
  }

  keep(connection: NodeConnection, ms: number): void {
    if (this.#isClosed) {
      connection.destroy()
      return
    }
    connection.keptUntil = this.clock.now() + ms
    this.#idle.push(connection)
    this.#watch()
  }

  forget(connection: NodeConnection): void {
    this.#open.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
  }

  /**
   * Throws for another origin than that of the first request, because a caller's requests must never
   * reach another origin over the same connections.
   */
  #check({ origin }: URL): void {
    this.#origin ??= origin
    if (origin === this.#origin) return
    throw new ChannelError('refused', `${origin} is not ${this.#origin}, the origin of this client`)
  }

  #start(pending: PendingRequest): void {
    const now = this.clock.now()
    for (;;) {
      const idle = this.#idle.pop()
      if (idle === undefined) break
      if (idle.keptUntil > now && idle.isUsable) {
        idle.send(pending)
        return
      }
      idle.destroy()
    }
    this.#open.add(new NodeConnection(this, pending))
  }

  #notify(pending: PendingRequest): void {
    this.#notifications++
    pending.onFinish = () => {
      this.#notifications--
      const next = this.#waiting.shift()
      if (next !== undefined) this.#notify(next)
    }
    this.#start(pending)
  }

  #wait(pending: PendingRequest): void {
    this.#waiting.push(pending)
    const { handle } = pending.request
    handle.onAbort = () => {
      const at = this.#waiting.indexOf(pending)
      if (at !== -1) this.#waiting.splice(at, 1)
      pending.reject(handle.reason)
    }
  }

  /** Starts the timer that closes idle connections which were not reused in time. */
  #watch(): void {
    if (this.#sweep !== undefined || this.#isClosed) return
    this.#sweep = this.clock.start(() => {
      this.#sweep = undefined
      const now = this.clock.now()
      for (const idle of [...this.#idle]) if (idle.keptUntil <= now) idle.destroy()
      if (this.#idle.length > 0) this.#watch()
    }, limits.httpKeepAliveMs.default / 4)
    this.#sweep.unref()
  }
}

function closed(): ChannelError {
  return new ChannelError('closed', 'sending: the channel is closed')
}
