import type { Membership } from '../../backplane/membership.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { sleep } from '../../util/time/sleep.ts'
import type { Links } from '../link/links.ts'
import type { PeerNodes } from './peer-nodes.ts'

/** What the examination of suspects needs. */
export interface SuspectsOptions {
  readonly members: PeerNodes
  readonly membership: Membership
  readonly links: Pick<Links, 'probe'>
  readonly clock?: Clock
  /** Called when a node was expelled. */
  readonly onExpelled: (node: string) => void
}

/**
 * Finds out whether a node that cannot be reached is gone, so that nobody has to wait until its lease runs out.
 *
 * The kernel distinguishes a process that has ended from one that is stopped: it refuses connections for the first and
 * accepts them for the second. A node is expelled if it has sent no heartbeat for a while and its address refuses connections,
 * twice in a row. A node that sends heartbeats is never expelled, even if its links are down.
 */
export class Suspects {
  readonly #options: SuspectsOptions
  readonly #clock: Clock
  readonly #examined = new Set<string>()
  #isClosed = false

  constructor(options: SuspectsOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** Examines a node, unless that is being done. */
  add(node: string): void {
    if (this.#isClosed || this.#examined.has(node)) return
    this.#examined.add(node)
    // An address that cannot be read is that of no node: its lease runs out.
    void this.#examine(node)
      .catch(() => {})
      .finally(() => this.#examined.delete(node))
  }

  close(): void {
    this.#isClosed = true
  }

  async #examine(node: string): Promise<void> {
    const { members, membership, links, onExpelled } = this.#options
    for (let refusals = 0; !this.#isClosed; ) {
      const member = members.get(node)
      if (member === undefined) return
      const answer = await links.probe(member.address, limits.probeMs.default)
      if (answer === 'accepts') return
      refusals = answer === 'refuses' ? refusals + 1 : 0
      if (refusals >= 2) {
        const isGone = await membership.expel(node, limits.expelSilentMs.default).catch(() => false)
        if (isGone) {
          onExpelled(node)
          return
        }
      }
      await sleep(limits.probeIntervalMs.default, this.#clock).done
    }
  }
}
