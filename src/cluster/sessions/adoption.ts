import type { Backplane } from '../../backplane/backplane.ts'
import {
  SessionMoveError,
  type SessionMoveErrorCode,
} from '../../http/server/sessions/moving/session-move-error.ts'
import { events } from '../../observe/events.ts'
import { limits } from '../../util/limits/limits.ts'
import { inBatches } from '../../util/promises.ts'
import type { Clock } from '../../util/time/clock.ts'
import { Expiry } from '../../util/time/expiry.ts'
import { places, type SessionPlace } from '../forward/session-place.ts'
import type { Links } from '../link/links.ts'
import { type Authority, questions } from '../members/authority.ts'
import type { PeerNode } from '../members/peer-node.ts'
import type { PeerNodes } from '../members/peer-nodes.ts'
import { chosenNode } from './rendezvous.ts'
import { ownedSetOf, readStoredSession, sessionKey } from './stored-session.ts'

/** What adoption needs of its node. */
export interface AdoptionHost {
  readonly node: string
  readonly backplane: Backplane
  readonly links: Pick<Links, 'probe' | 'request'>
  readonly members: PeerNodes
  readonly authority: Pick<Authority, 'mayAct' | 'mayAdopt'>
  /** The path at which this node serves sessions. */
  readonly path: string
  readonly clock: Clock
  /** Whether this process has a session. */
  has(session: string): boolean
  /** Continues a session in this process. Throws if it cannot be continued. */
  restore(session: string, record: unknown, events: readonly unknown[], epoch: number): void
}

/** The reasons for which a session cannot be continued here at present. */
const temporary: ReadonlySet<SessionMoveErrorCode> = new Set(['full', 'closing'])

/** A node that is a member no more. */
interface Departed {
  readonly node: string
  readonly address: string
}

/** What became of the sessions of a node that is gone. */
export interface AdoptedShare {
  /** The number of sessions that go on here. */
  readonly sessions: number
  /** The number of sessions that cannot be adopted at present. */
  readonly remaining: number
}

/** Continues the sessions of nodes that are gone. */
export class Adoption {
  readonly #host: AdoptionHost
  readonly #running = new Map<string, Promise<SessionPlace>>()
  /** Nodes whose processes have ended. A restarted process is a new node, so they stay gone. */
  readonly #ended: Expiry<string>
  readonly #probing = new Map<string, Promise<boolean>>()

  constructor(host: AdoptionHost) {
    this.#host = host
    this.#ended = new Expiry(() => {}, host.clock)
  }

  /** Continues a session that another node has handed to this one. Never rejects. */
  take(session: string): Promise<SessionPlace> {
    return this.#once(session, () => this.#take(session))
  }

  /** Adopts one session whose owner is not a member, unless the owner may still act. Never rejects. */
  adopt(session: string, owner: Departed): Promise<SessionPlace> {
    return this.#once(session, () => this.#adopt(session, owner))
  }

  /**
   * Adopts the share of this node of the sessions that a node had. Rejects if the engine cannot be reached.
   */
  async adoptShareOf({ node, address, path }: PeerNode): Promise<AdoptedShare> {
    const { backplane, members } = this.#host
    if (path !== this.#host.path) return { sessions: 0, remaining: 0 }
    let [sessions, remaining] = [0, 0]
    for await (const names of backplane.store.names(ownedSetOf(node))) {
      const nodes = [this.#host.node, ...members.at(path).map(member => member.node)]
      const mine = names.filter(name => chosenNode(name, nodes) === this.#host.node)
      const adopted = await inBatches(mine, limits.adoptionBatch.default, name =>
        this.adopt(name, { node, address }),
      )
      sessions += adopted.filter(place => place.at === 'here').length
      remaining += adopted.filter(place => place.at === 'unknown').length
    }
    return { sessions, remaining }
  }

  #once(session: string, run: () => Promise<SessionPlace>): Promise<SessionPlace> {
    let running = this.#running.get(session)
    if (running === undefined) {
      running = run()
        .catch((): SessionPlace => places.unknown)
        .finally(() => this.#running.delete(session))
      this.#running.set(session, running)
    }
    return running
  }

  async #take(session: string): Promise<SessionPlace> {
    if (this.#host.has(session)) return places.here
    const stored = await this.#host.backplane.store.get(sessionKey(session))
    if (stored?.owner === undefined) return places.nowhere
    if (stored.owner.node !== this.#host.node) return places.unknown
    return this.#restore(session, stored.value, stored.owner.epoch)
  }

  async #adopt(session: string, owner: Departed): Promise<SessionPlace> {
    if (!(await this.#isGone(owner))) return places.unknown
    if (this.#host.has(session)) return places.here
    const { backplane, node } = this.#host
    const claim = await backplane.store.claim(sessionKey(session), owner.node, node)
    await backplane.store.remove(ownedSetOf(owner.node), session)
    if (!claim.isOwner) return claim.owner === undefined ? places.nowhere : places.unknown
    const { epoch, previous } = claim
    if (previous === undefined) return places.nowhere
    const place = await this.#restore(session, previous.value, epoch)
    if (place.at !== 'unknown') {
      events.sessionAdopted.publish({ outcome: place.at === 'here' ? 'continued' : 'ended' })
    }
    return place
  }

  async #restore(session: string, text: string, epoch: number): Promise<SessionPlace> {
    const { backplane, node } = this.#host
    const key = sessionKey(session)
    const { record } = readStoredSession(text)
    const events = await this.#events(key)
    try {
      this.#host.restore(session, record, events, epoch)
      return places.here
    } catch (error) {
      // The session waits until this node has room, or has left.
      if (error instanceof SessionMoveError && temporary.has(error.code)) return places.unknown
      // It ends for its client, which begins a new one.
      await backplane.store.delete(key, { node, epoch })
      return places.nowhere
    }
  }

  /** Whether a node that is a member no more can certainly not act for its sessions. */
  async #isGone({ node, address }: Departed): Promise<boolean> {
    const { members, authority } = this.#host
    if (!authority.mayAct || members.get(node) !== undefined) return false
    if (this.#ended.leftMs(node) !== undefined) return true
    // Once for all sessions that are adopted at a time.
    let probing = this.#probing.get(node)
    if (probing === undefined) {
      probing = this.#probe({ node, address }).finally(() => this.#probing.delete(node))
      this.#probing.set(node, probing)
    }
    return probing
  }

  async #probe({ node, address }: Departed): Promise<boolean> {
    const { links, authority } = this.#host
    const answer = await links.probe(address, limits.probeMs.default)
    if (answer === 'refuses') {
      this.#ended.add(node, limits.departedMs.default)
      return true
    }
    if (!authority.mayAdopt) return false
    // It is stopped, or cannot reach the engine. It may act as long as the engine is away for everybody.
    const peer = { node, address }
    const status = await links
      .request(peer, questions.status, limits.memberAnswerMs.default)
      .catch(() => 'silent')
    return status !== 'active'
  }

  async #events(key: string): Promise<unknown[]> {
    const { log } = this.#host.backplane
    const { entries } = await log.readAfter(key, undefined, limits.streamEvents.default)
    return entries.flatMap(({ fields: { event } }): unknown[] =>
      event === undefined ? [] : [JSON.parse(event)],
    )
  }
}
