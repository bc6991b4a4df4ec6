import type { HeartbeatReply, Membership } from '../../backplane/membership.ts'
import type { Clock, Timer } from '../../util/time/clock.ts'

/** Options of a NodeLease. */
export interface NodeLeaseOptions {
  readonly membership: Membership
  readonly node: string
  /** Returns the text that the other members read. */
  readonly facts: () => string
  /** Time for which a heartbeat makes this node a member. */
  readonly leaseMs: number
  /** Interval between heartbeats. */
  readonly heartbeatMs: number
  readonly clock: Clock
  /** Called with what each heartbeat returned. */
  readonly onReply: (reply: HeartbeatReply) => void
  /** Called when a heartbeat has failed. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Renews the lease of this node. Only durations of the own clock are compared: the lease counts from before the
 * heartbeat was sent, so it ends here before it ends for the others.
 */
export class NodeLease {
  readonly #options: NodeLeaseOptions
  #revision = 0
  /** When the last heartbeat that succeeded was sent. */
  #renewedAt: number | undefined
  /** Since when every heartbeat has succeeded. */
  #reachableSince: number | undefined
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #isStopped = false

  constructor(options: NodeLeaseOptions) {
    this.#options = options
  }

  /** Whether no other node can regard the lease of this node as ended. */
  get isHeld(): boolean {
    const { clock, leaseMs } = this.#options
    // Clocks may run at slightly different speeds.
    return this.#renewedAt !== undefined && clock.now() < this.#renewedAt + leaseMs * 0.9
  }

  /** The remaining time of the lease, in milliseconds. */
  get leftMs(): number {
    const { clock, leaseMs } = this.#options
    if (this.#renewedAt === undefined) return 0
    return Math.max(0, this.#renewedAt + leaseMs - clock.now())
  }

  /** The time for which the engine has been reachable without a break; 0 while it is not. */
  get reachableMs(): number {
    const since = this.#reachableSince
    return since === undefined ? 0 : this.#options.clock.now() - since
  }

  /** Sends the first heartbeat, and further ones in the background. Rejects if the first one fails. */
  async start(): Promise<void> {
    try {
      await this.#send()
    } finally {
      this.#schedule()
    }
  }

  /** Sends a heartbeat now. Resolves to whether it succeeded. */
  async beat(): Promise<boolean> {
    this.#running ??= this.#send().finally(() => {
      this.#running = undefined
    })
    try {
      await this.#running
      return true
    } catch {
      return false
    }
  }

  /** Ends the heartbeats, and the lease. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== undefined) this.#options.clock.stop(this.#timer)
    await this.#running?.catch(() => {})
    // A lease that cannot be ended now runs out.
    await this.#options.membership.leave(this.#options.node).catch(() => {})
    this.#renewedAt = undefined
  }

  #schedule(): void {
    if (this.#isStopped) return
    const { clock, heartbeatMs } = this.#options
    this.#timer = clock.start(() => void this.beat().then(() => this.#schedule()), heartbeatMs)
    this.#timer.unref()
  }

  async #send(): Promise<void> {
    const { membership, node, facts, leaseMs, clock, onReply, onFailed } = this.#options
    const sentAt = clock.now()
    try {
      const reply = await membership.heartbeat(node, facts(), leaseMs, this.#revision)
      this.#revision = reply.revision
      this.#renewedAt = sentAt
      this.#reachableSince ??= sentAt
      onReply(reply)
    } catch (error) {
      this.#reachableSince = undefined
      onFailed(error)
      throw error
    }
  }
}
