import type { ClientOptions } from '../../client/options.ts'
import { type Channel, ChannelError, type Principal } from '../../jsonrpc/channel.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { ChildProcess } from '../../transport/process/child.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'
import type { Traffic } from '../../util/traffic.ts'
import { UpstreamConnection, type UpstreamConnectionHost } from '../connection/connection.ts'
import type { InFlightCall } from '../connection/in-flight-list.ts'
import type { InstanceTarget } from './target.ts'

/** What connections are opened with, and where their notifications go. */
export interface ConnectorHost {
  readonly deadlines: Deadlines
  readonly client: ClientOptions
  /** How long an ambiguous server request is held until it can be attributed; 0 rejects it at once. */
  readonly attributionTimeoutMs: number
  readonly connectTimeoutMs: number
  /** Resolves when a connection may be opened, with the function to call afterwards. Rejects when the signal aborts. */
  enter(signal: AbortSignal): Promise<() => void>
  /** Counts the bytes and messages of all connections. */
  readonly traffic: Traffic
  /** Called when calls begin to go over a WebSocket instead of HTTP. */
  onWebSocket(): void
  /** Called with every notification that belongs to no call. */
  onNotification(method: string, params: Members | undefined): void
}

/** Opens the connections of one instance, each within `connectTimeoutMs`. The caller of `open` owns them. */
export class Connector {
  readonly #target: InstanceTarget
  readonly #host: ConnectorHost
  readonly #stop = new AbortController()
  readonly #dialing = new Set<Promise<Channel>>()
  #latestChild: ChildProcess | undefined
  #hasWebSocket = false

  constructor(target: InstanceTarget, host: ConnectorHost) {
    this.#target = target
    this.#host = host
  }

  /** The process that was started last, whether it runs or not. */
  get latestChild(): ChildProcess | undefined {
    return this.#latestChild
  }

  /** Whether calls go over a WebSocket instead of HTTP. */
  get hasWebSocket(): boolean {
    return this.#hasWebSocket
  }

  /**
   * Opens a connection that declares `capabilities`, on behalf of a call if there is one, and with the credentials of
   * `principal` if each caller has its own. Rejects if it cannot be opened, at the latest after `connectTimeoutMs` or
   * when the connector is stopped.
   */
  async open(
    capabilities: UpstreamConnectionHost['capabilities'],
    call?: InFlightCall,
    principal?: Principal,
  ): Promise<UpstreamConnection> {
    const connection: UpstreamConnection = new UpstreamConnection({
      dial: () =>
        this.#dial(principal, child => {
          connection.child = child
          this.#latestChild = child
        }),
      client: this.#host.client,
      attributionTimeoutMs: this.#host.attributionTimeoutMs,
      capabilities,
      onNotification: (method, params) => this.#host.onNotification(method, params),
    })
    const leave = await this.#host.enter(this.#stop.signal)
    try {
      await this.#inTime(signal => connection.open(call, signal))
    } finally {
      leave()
    }
    return connection
  }

  /** Opens nothing more, and closes what is being opened. Settles when that is closed; never rejects. */
  async stop(cause: Error): Promise<void> {
    this.#stop.abort(cause)
    // No `open` waits for these any more, but a process may have been started already.
    const closing = Array.from(this.#dialing, dialing =>
      dialing.then(
        channel => channel.close(),
        () => {},
      ),
    )
    await Promise.all(closing)
  }

  async #inTime(open: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { deadlines, connectTimeoutMs } = this.#host
    const giveUp = new AbortController()
    const onStop = (): void => giveUp.abort(this.#stop.signal.reason)
    const alarm = timed(() => {
      giveUp.abort(new ChannelError('timeout', `not connected within ${connectTimeoutMs} ms`))
    })
    deadlines.start(alarm, connectTimeoutMs)
    this.#stop.signal.addEventListener('abort', onStop)
    if (this.#stop.signal.aborted) onStop()
    try {
      await open(giveUp.signal)
    } finally {
      deadlines.stop(alarm)
      this.#stop.signal.removeEventListener('abort', onStop)
    }
  }

  async #dial(
    principal: Principal | undefined,
    onChild: (child: ChildProcess) => void,
  ): Promise<Channel> {
    const dialing = this.#target.dial({
      principal,
      handshakeMs: this.#host.connectTimeoutMs,
      traffic: this.#host.traffic,
      onChild,
      onWebSocket: isOpen => {
        this.#hasWebSocket = isOpen
        if (isOpen) this.#host.onWebSocket()
      },
    })
    this.#dialing.add(dialing)
    try {
      return await dialing
    } finally {
      this.#dialing.delete(dialing)
    }
  }
}
