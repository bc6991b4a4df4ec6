import type { HeartbeatReply } from '../../backplane/membership.ts'
import { type PeerNode, readPeerNode } from './peer-node.ts'

/** How the members have changed. */
export interface NodeChanges {
  readonly joined: readonly PeerNode[]
  readonly left: readonly PeerNode[]
  /** PeerNodes that the engine does not know, and has not seen leave: it may have been emptied. */
  readonly missing: readonly PeerNode[]
}

/** The nodes whose lease holds, as far as this node knows. This node is none of them. */
export class PeerNodes {
  readonly #own: string
  readonly #leaseMs: number
  readonly #members = new Map<string, PeerNode>()
  /** Since when members are missing. */
  readonly #missing = new Map<string, number>()

  constructor(own: string, leaseMs: number) {
    this.#own = own
    this.#leaseMs = leaseMs
  }

  get(node: string): PeerNode | undefined {
    return this.#members.get(node)
  }

  /** All other members, in the order of their ids. */
  get all(): readonly PeerNode[] {
    return [...this.#members.values()].sort((a, b) => (a.node < b.node ? -1 : 1))
  }

  /** The other members that serve sessions at a path. */
  at(path: string): readonly PeerNode[] {
    return this.all.filter(member => member.path === path)
  }

  /**
   * Applies what a heartbeat returned. A member that a complete list does not name stays for a lease: an engine that was
   * emptied knows only the nodes that have sent a heartbeat since.
   */
  apply(
    { changed, isComplete }: Pick<HeartbeatReply, 'changed' | 'isComplete'>,
    now: number,
  ): NodeChanges {
    const before = new Map(this.#members)
    if (isComplete) for (const node of before.keys()) this.#miss(node, now)
    for (const { node, facts, isAlive } of changed) {
      const member = node === this.#own || !isAlive ? undefined : readPeerNode(node, facts)
      this.#missing.delete(node)
      if (member === undefined) this.#members.delete(node)
      else this.#members.set(node, member)
    }
    for (const [node, since] of this.#missing) {
      if (now - since >= this.#leaseMs) this.remove(node)
    }
    const joined = [...this.#members.values()].filter(({ node }) => !before.has(node))
    const left = [...before.values()].filter(({ node }) => !this.#members.has(node))
    const missing = this.all.filter(({ node }) => this.#missing.has(node))
    return { joined, left, missing }
  }

  /** Removes a node that was expelled. Returns it; undefined if it was no member any more. */
  remove(node: string): PeerNode | undefined {
    const member = this.#members.get(node)
    this.#members.delete(node)
    this.#missing.delete(node)
    return member
  }

  #miss(node: string, now: number): void {
    if (!this.#missing.has(node)) this.#missing.set(node, now)
  }
}
