import type { RecordStore } from '../../backplane/record-store.ts'
import { limits } from '../../util/limits/limits.ts'
import { places, type SessionFinder, type SessionPlace } from '../forward/session-place.ts'
import type { PeerNode } from '../members/peer-node.ts'
import type { PeerNodes } from '../members/peer-nodes.ts'
import { originNodeOf } from './session-ids.ts'
import { readStoredSession, sessionKey } from './stored-session.ts'

/** What a finder needs of its node. */
export interface FinderHost {
  readonly node: string
  /** The path at which this node serves sessions. */
  readonly path: string
  readonly store: RecordStore
  readonly members: PeerNodes
  /** Whether this process has a session. */
  has(session: string): boolean
  /** Whether this node may act for a session that it has. */
  mayServe(session: string): boolean
  /** Whether a session is on its way from this node to another one. */
  isMoving(session: string): boolean
  /** Tries to become able to act for a session that this node has. Never rejects. */
  assert(session: string): Promise<unknown>
  /** Adopts a session whose owner is gone. */
  adopt(
    session: string,
    owner: { readonly node: string; readonly address: string },
  ): Promise<SessionPlace>
  /** Continues a session that was handed to this node. */
  take(session: string): Promise<SessionPlace>
  /** Whether a record that is missing may be one that its owner has not written again yet. */
  mayBeUnwritten(): boolean
  /** Learns of members that joined since the last heartbeat. */
  refreshMembers(): Promise<unknown>
  suspect(node: string): void
  /** Whether a node has ended after it had handed off all its sessions. */
  hasDrained(node: string): boolean
}

/**
 * Finds the owner of a session: by the id of the session, which begins with the node that opened it, or by its record
 * once that node has gone or the session has moved.
 */
export class OwnerFinder implements SessionFinder {
  readonly #host: FinderHost
  /** The owners of sessions that have moved, as far as this node knows; empty if it must be looked up. */
  readonly #hints = new Map<string, string>()
  readonly #lookUps = new Map<string, Promise<SessionPlace>>()

  constructor(host: FinderHost) {
    this.#host = host
  }

  find(session: string): SessionPlace | Promise<SessionPlace> {
    const { members } = this.#host
    if (this.#host.has(session)) return this.#here(session)
    if (this.#host.isMoving(session)) return places.unknown
    const origin = originNodeOf(session)
    if (origin === undefined) return places.nowhere
    const member = members.get(this.#hints.get(session) ?? origin)
    return member === undefined ? this.#lookUp(session) : at(member)
  }

  wasNotAt(session: string, node: string): void {
    const hint = this.#hints.get(session)
    if (hint === undefined || hint === node) this.#remember(session, '')
  }

  suspect(node: string): void {
    this.#host.suspect(node)
  }

  hasDrained(node: string): boolean {
    return this.#host.hasDrained(node)
  }

  /** Records that a session has moved to a node. */
  movedTo(session: string, node: string): void {
    this.#remember(session, node)
  }

  #here(session: string): SessionPlace | Promise<SessionPlace> {
    if (this.#host.mayServe(session)) return places.here
    return this.#host
      .assert(session)
      .then(() => (this.#host.mayServe(session) ? places.here : places.unknown))
  }

  #lookUp(session: string): Promise<SessionPlace> {
    let lookUp = this.#lookUps.get(session)
    if (lookUp === undefined) {
      lookUp = this.#read(session)
        .catch(() => places.unknown)
        .finally(() => this.#lookUps.delete(session))
      this.#lookUps.set(session, lookUp)
    }
    return lookUp
  }

  async #read(session: string): Promise<SessionPlace> {
    const { store, members, node } = this.#host
    const stored = await store.get(sessionKey(session))
    if (this.#host.has(session)) return this.#here(session)
    const { owner } = stored ?? {}
    if (stored === undefined || owner === undefined) {
      return this.#host.mayBeUnwritten() ? places.unknown : places.nowhere
    }
    // Handed to this node, which does not know that yet.
    if (owner.node === node) return this.#host.take(session)
    if (members.get(owner.node) === undefined) await this.#host.refreshMembers()
    const member = members.get(owner.node)
    if (member !== undefined) {
      this.#remember(session, member.node)
      return at(member)
    }
    const { address, path } = readStoredSession(stored.value)
    // Nodes at another path may share the backplane, such as those of another view.
    if (path !== this.#host.path) return places.nowhere
    return this.#host.adopt(session, { node: owner.node, address })
  }

  #remember(session: string, node: string): void {
    this.#hints.delete(session)
    this.#hints.set(session, node)
    if (this.#hints.size <= limits.clusterHints.default) return
    for (const oldest of this.#hints.keys()) {
      this.#hints.delete(oldest)
      return
    }
  }
}

function at({ node, address }: PeerNode): SessionPlace {
  return { at: 'node', node, address }
}
