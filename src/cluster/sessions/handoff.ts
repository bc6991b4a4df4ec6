import type { RecordStore } from '../../backplane/record-store.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { sleep } from '../../util/time/sleep.ts'
import type { Links } from '../link/links.ts'
import type { PeerNodes } from '../members/peer-nodes.ts'
import type { OwnerFinder } from './finder.ts'
import type { OwnedSessions } from './owned-sessions.ts'
import { chosenNode } from './rendezvous.ts'
import { sessionKey } from './stored-session.ts'

/** The question by which a node that drains hands a session to another one, which then owns it. */
export const takeQuestion = 'take '

/**
 * The message by which a node that has handed off all its sessions says that it will end. It executes nothing any more:
 * what it has not answered when its link ends was not executed.
 */
export const farewell = 'farewell '

/** What handing sessions off needs of its node. */
export interface HandoffHost {
  readonly node: string
  readonly store: RecordStore
  readonly links: Pick<Links, 'request'>
  readonly members: PeerNodes
  readonly owned: OwnedSessions
  readonly finder: Pick<OwnerFinder, 'movedTo'>
  readonly clock: Clock
}

/** Hands the sessions of a node that drains to the other nodes, as soon as none of their requests is in flight. */
export class Handoff {
  readonly #host: HandoffHost
  readonly #moving = new Set<string>()

  constructor(host: HandoffHost) {
    this.#host = host
  }

  /** Whether a session is on its way to another node: for now, no node may act for it. */
  isMoving(session: string): boolean {
    return this.#moving.has(session)
  }

  /**
   * Hands off all sessions. Resolves to true when none is left, and to false after `limitMs`; the other nodes adopt the
   * rest when this node has left. Never rejects.
   */
  async handOffAll(limitMs: number): Promise<boolean> {
    const { owned, clock } = this.#host
    const until = clock.now() + limitMs
    for (;;) {
      await Promise.all([...owned.ids].map(session => this.#handOff(session)))
      if (owned.size === 0 || clock.now() >= until) break
      await sleep(limits.forwardRetryMs.default, clock).done
    }
    const isComplete = owned.size === 0
    for (const session of [...owned.ids]) owned.forget(session)
    return isComplete
  }

  async #handOff(session: string): Promise<void> {
    this.#moving.add(session)
    await this.#move(session)
    this.#moving.delete(session)
  }

  async #move(session: string): Promise<void> {
    const { node, store, links, members, owned, finder } = this.#host
    const heirs = members.all.filter(({ state }) => state === 'up')
    const chosen = chosenNode(
      session,
      heirs.map(heir => heir.node),
    )
    const heir = heirs.find(({ node: id }) => id === chosen)
    try {
      owned.release(session)
    } catch {
      // It has requests in flight, or cannot be continued anywhere else.
      return
    }
    await owned.settled(session)
    owned.forget(session)
    if (heir === undefined) return
    try {
      const { isOwner } = await store.claim(sessionKey(session), node, heir.node)
      if (!isOwner) return
      finder.movedTo(session, heir.node)
      // If this gets lost, the first request of the session makes the heir restore it.
      await links.request(heir, takeQuestion + session, limits.memberAnswerMs.default)
    } catch {
      // The record stays, and is adopted when this node has left.
    }
  }
}
