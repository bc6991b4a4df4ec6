import { events } from '../observe/events.ts'
import { limits } from '../util/limits/limits.ts'
import type { Clock } from '../util/time/clock.ts'
import type { PeerNode } from './members/peer-node.ts'
import type { Adoption } from './sessions/adoption.ts'

/** A node that has left, and whose sessions may need another node. */
interface DepartedNode {
  readonly member: PeerNode
  readonly at: number
  isDone: boolean
}

/**
 * Adopts the sessions of nodes that have left. Each node adopts its share; if a node leaves before it has done so, the
 * others divide its share.
 */
export class DepartedNodes {
  readonly #adoption: Pick<Adoption, 'adoptShareOf'>
  readonly #clock: Clock
  readonly #departed = new Map<string, DepartedNode>()
  #isRunning = false

  constructor(adoption: Pick<Adoption, 'adoptShareOf'>, clock: Clock) {
    this.#adoption = adoption
    this.#clock = clock
  }

  /** Records that a node has left. */
  add(member: PeerNode): void {
    const now = this.#clock.now()
    for (const departed of this.#departed.values()) departed.isDone = false
    this.#departed.set(member.node, { member, at: now, isDone: false })
    void this.resume()
  }

  /** Goes on with what could not be done before. Never rejects. */
  async resume(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      for (const departed of [...this.#departed.values()]) await this.#take(departed)
    } finally {
      this.#isRunning = false
    }
  }

  async #take(departed: DepartedNode): Promise<void> {
    const { member, at, isDone } = departed
    if (this.#clock.now() - at > limits.departedMs.default) this.#departed.delete(member.node)
    else if (!isDone) {
      const share = await this.#adoption.adoptShareOf(member).catch(() => undefined)
      departed.isDone = share?.remaining === 0
      if (share === undefined || share.sessions === 0) return
      const durationMs = this.#clock.now() - at
      events.nodeAdopted.publish({ from: member.name, ...share, durationMs })
    }
  }
}
