import type { ClientOptions } from '../../client/options.ts'
import { type Channel, ChannelError } from '../../jsonrpc/channel.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { ChildProcess } from '../../transport/process/child.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'
import type { Traffic } from '../../util/traffic.ts'
import { Lane, type LaneHost } from '../connection/connection.ts'
import type { Errand } from '../forward/errand.ts'
import type { Target } from './target.ts'

/** What connections are opened with, and who is told of what comes over them. */
export interface DiallingHost {
  readonly deadlines: Deadlines
  readonly client: ClientOptions
  /** How long a question waits until it is clear whose it is. */
  readonly doubtMs: number
  /** How long opening may take. */
  readonly openMs: number
  /** Counts what passes. */
  readonly traffic: Traffic
  /** Calls go over a WebSocket beside HTTP from now on. */
  onWebSocket(): void
  /** A notification that belongs to no call. */
  onNews(method: string, params: Members | undefined): void
}

/**
 * Opens the connections of one instance, each in the time that there is for it. An open one belongs to
 * whoever asked for it.
 */
export class Dialling {
  readonly #target: Target
  readonly #host: DiallingHost
  readonly #stop = new AbortController()
  readonly #underway = new Set<Promise<Channel>>()
  #latestChild: ChildProcess | undefined
  #hasWebSocket = false

  constructor(target: Target, host: DiallingHost) {
    this.#target = target
    this.#host = host
  }

  /** The program that was started last, whether it runs or not. */
  get latestChild(): ChildProcess | undefined {
    return this.#latestChild
  }

  /** Whether calls go over a WebSocket beside HTTP. */
  get hasWebSocket(): boolean {
    return this.#hasWebSocket
  }

  /**
   * Opens a connection that says it can do what `capabilities` gives, on behalf of a call where there is
   * one. Rejects with why it could not be, once the time is up or this is stopped at the latest.
   */
  async open(capabilities: LaneHost['capabilities'], errand?: Errand): Promise<Lane> {
    const lane: Lane = new Lane({
      dial: () =>
        this.#dial(child => {
          lane.child = child
          this.#latestChild = child
        }),
      client: this.#host.client,
      doubtMs: this.#host.doubtMs,
      capabilities,
      onNews: (method, params) => this.#host.onNews(method, params),
    })
    await this.#inTime(signal => lane.open(errand, signal))
    return lane
  }

  /** Opens nothing more, and ends what is being opened. Settles when that has ended; never rejects. */
  async stop(cause: Error): Promise<void> {
    this.#stop.abort(cause)
    // Nobody waits for what is being dialled any more, but a program may have been started already.
    const endings = Array.from(this.#underway, dialling =>
      dialling.then(
        channel => channel.close(),
        () => {},
      ),
    )
    await Promise.all(endings)
  }

  async #inTime(open: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { deadlines, openMs } = this.#host
    const giveUp = new AbortController()
    const onStop = (): void => giveUp.abort(this.#stop.signal.reason)
    const alarm = timed(() => {
      giveUp.abort(new ChannelError('timeout', `it could not be opened within ${openMs} ms`))
    })
    deadlines.start(alarm, openMs)
    this.#stop.signal.addEventListener('abort', onStop)
    if (this.#stop.signal.aborted) onStop()
    try {
      await open(giveUp.signal)
    } finally {
      deadlines.stop(alarm)
      this.#stop.signal.removeEventListener('abort', onStop)
    }
  }

  async #dial(onChild: (child: ChildProcess) => void): Promise<Channel> {
    const dialling = this.#target.dial({
      handshakeMs: this.#host.openMs,
      traffic: this.#host.traffic,
      onChild,
      onWebSocket: isOpen => {
        this.#hasWebSocket = isOpen
        if (isOpen) this.#host.onWebSocket()
      },
    })
    this.#underway.add(dialling)
    try {
      return await dialling
    } finally {
      this.#underway.delete(dialling)
    }
  }
}
