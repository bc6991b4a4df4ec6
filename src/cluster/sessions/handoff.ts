import type { RecordStore } from '../../backplane/record-store.ts'
import { SessionMoveError } from '../../http/server/sessions/moving/session-move-error.ts'
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
 * The message of a node that has handed off all its sessions and ends. It executes nothing any more: what it has not
 * answered when its link ends was not executed.
 */
export const drainedNotice = 'drained '

/** What handing sessions off needs of its node. */
export interface HandoffHost {
  readonly node: string
  /** The path at which this node serves sessions. */
  readonly path: string
  readonly store: RecordStore
  readonly links: Pick<Links, 'request'>
  readonly members: PeerNodes
  readonly owned: Pick<OwnedSessions, 'ids' | 'size' | 'release' | 'settled' | 'forget'>
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
   * Hands off all sessions, for at most `limitMs`. Resolves to the number of those that it still has: the other nodes
   * adopt them when this node has left, or they end. Never rejects.
   */
  async handOffAll(limitMs: number): Promise<number> {
    const { owned, clock } = this.#host
    const until = clock.now() + limitMs
    for (;;) {
      const busy = await Promise.all([...owned.ids].map(session => this.#handOff(session)))
      if (!busy.includes(true) || clock.now() >= until) break
      await sleep(limits.forwardRetryMs.default, clock).done
    }
    const { size: remaining } = owned
    for (const session of [...owned.ids]) owned.forget(session)
    return remaining
  }

  /** Hands off a session. Resolves to whether that must be tried again, because requests are in flight. */
  async #handOff(session: string): Promise<boolean> {
    const { owned } = this.#host
    try {
      owned.release(session)
    } catch (error) {
      // A session that cannot be continued anywhere else ends with this node.
      return error instanceof SessionMoveError && error.code === 'busy'
    }
    this.#moving.add(session)
    await owned.settled(session)
    owned.forget(session)
    // A record that stays is adopted when this node has left.
    await this.#give(session).catch(() => {})
    this.#moving.delete(session)
    return false
  }

  /** Makes another node the owner of a session, if there is one. */
  async #give(session: string): Promise<void> {
    const { node, path, store, links, members, finder } = this.#host
    const candidates = members.at(path).filter(({ state }) => state === 'up')
    const chosen = chosenNode(
      session,
      candidates.map(candidate => candidate.node),
    )
    const successor = candidates.find(candidate => candidate.node === chosen)
    if (successor === undefined) return
    const { isOwner } = await store.claim(sessionKey(session), node, successor.node)
    if (!isOwner) return
    finder.movedTo(session, successor.node)
    // If this gets lost, the first request of the session makes the successor restore it.
    await links.request(successor, takeQuestion + session, limits.memberAnswerMs.default)
  }
}
