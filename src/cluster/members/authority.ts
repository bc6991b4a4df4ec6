import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Links } from '../link/links.ts'
import type { NodeLease } from './lease.ts'
import type { PeerNode } from './peer-node.ts'
import type { PeerNodes } from './peer-nodes.ts'

/** The questions that nodes ask each other over links. */
export const questions = {
  /** Whether the node may adopt sessions of others at present: `yes` or `no`. */
  mayAdopt: 'may-adopt',
  /** Whether the node acts for the sessions that it owns: `active` or `suspended`. */
  status: 'status',
} as const

/** What decides whether a node may act. */
export interface AuthorityOptions {
  readonly lease: Pick<NodeLease, 'isHeld' | 'reachableMs'>
  readonly members: PeerNodes
  readonly links: Pick<Links, 'request' | 'probe'>
  readonly leaseMs: number
  /** Whether the node goes on while the engine is down and no other node can adopt its sessions. */
  readonly servesWhenDown: boolean
  readonly clock?: Clock
}

/**
 * Decides whether this node may act for the sessions that it owns. It may while its lease holds; and without the
 * engine, while every other member says that it cannot adopt sessions either.
 */
export class Authority {
  readonly #options: AuthorityOptions
  readonly #clock: Clock
  #permittedUntil = 0
  #asking: Promise<void> | undefined

  constructor(options: AuthorityOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** Whether this node may act. Checked when a request is taken up, because a stopped process runs no timers. */
  get mayAct(): boolean {
    return this.#options.lease.isHeld || this.#clock.now() < this.#permittedUntil
  }

  /** Whether this node may adopt sessions: the engine has been reachable for a whole lease. */
  get mayAdopt(): boolean {
    const { lease, leaseMs } = this.#options
    return lease.reachableMs >= leaseMs
  }

  /** Early enough that the permission of a node that was told `no` ends before this node adopts anything. */
  get #willAdoptSoon(): boolean {
    const { lease, leaseMs } = this.#options
    return lease.reachableMs >= leaseMs - 2 * limits.permissionMs.default
  }

  /** Answers a question of another node; undefined for an unknown one. */
  answer(question: string): string | undefined {
    switch (question) {
      case questions.mayAdopt:
        return this.#willAdoptSoon ? 'yes' : 'no'
      case questions.status:
        return this.mayAct ? 'active' : 'suspended'
      default:
        return undefined
    }
  }

  /** Asks all members, if the lease does not hold: called after each heartbeat that failed. */
  askOthers(): Promise<void> {
    const { lease, servesWhenDown } = this.#options
    if (lease.isHeld || !servesWhenDown) return Promise.resolve()
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(): Promise<void> {
    const askedAt = this.#clock.now()
    const answers = await Promise.all(
      this.#options.members.all.map(member => this.#cannotAdopt(member)),
    )
    if (answers.every(cannot => cannot)) {
      this.#permittedUntil = askedAt + limits.permissionMs.default
    }
  }

  async #hasEnded({ address }: PeerNode): Promise<boolean> {
    try {
      return (await this.#options.links.probe(address, limits.probeMs.default)) === 'refuses'
    } catch {
      return false
    }
  }

  async #cannotAdopt(member: PeerNode): Promise<boolean> {
    const { links } = this.#options
    try {
      const answer = await links.request(member, questions.mayAdopt, limits.memberAnswerMs.default)
      return answer === 'no'
    } catch {
      // A process that has ended adopts nothing.
      return this.#hasEnded(member)
    }
  }
}
