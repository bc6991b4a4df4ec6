import { limits } from '../../util/limits/limits.ts'
import type { ClusterMember, HeartbeatReply, Membership } from '../membership.ts'
import type { LocalEngine } from './engine.ts'
import { readState, writeState } from './state.ts'

/** Members in one record of a local engine, because the processes of one machine are few. */
export class LocalMembership implements Membership {
  readonly #engine: LocalEngine

  constructor(engine: LocalEngine) {
    this.#engine = engine
  }

  async heartbeat(
    node: string,
    facts: string,
    leaseMs: number,
    since: number,
  ): Promise<HeartbeatReply> {
    return this.#engine.run(() => {
      const now = this.#engine.now()
      const roster = this.#roster(now)
      const known = roster.members.find(member => member.node === node)
      const wasExpelled = known !== undefined && !known.isAlive
      const isChanged = known === undefined || wasExpelled || known.facts !== facts
      const revision = isChanged ? next(roster, now) : roster.revision
      const own: MemberRow = {
        node,
        facts,
        isAlive: true,
        seenAt: now,
        until: now + leaseMs,
        changedAt: isChanged ? revision : known.changedAt,
      }
      const members = [...roster.members.filter(member => member.node !== node), own]
      this.#write({ ...roster, revision, members })
      const isComplete = since < roster.completeSince || since > revision
      const changed = members.filter(member =>
        isComplete ? member.isAlive : member.changedAt > since,
      )
      return { revision, isComplete, wasExpelled, changed: changed.map(row => shown(row, now)) }
    })
  }

  async expel(node: string, silentMs: number): Promise<boolean> {
    return this.#engine.run(() => {
      const now = this.#engine.now()
      const member = this.#roster(now).members.find(each => each.node === node)
      if (member === undefined || !member.isAlive) return true
      if (now - member.seenAt <= silentMs) return false
      this.#end(node, now)
      return true
    })
  }

  async leave(node: string): Promise<void> {
    return this.#engine.run(() => this.#end(node, this.#engine.now()))
  }

  #end(node: string, now: number): void {
    const roster = this.#roster(now)
    const member = roster.members.find(each => each.node === node)
    if (member === undefined || !member.isAlive) return
    const revision = next(roster, now)
    const ended = { ...member, isAlive: false, until: now, changedAt: revision }
    const others = roster.members.filter(each => each !== member)
    this.#write({ ...roster, revision, members: [...others, ended] })
  }

  /** Returns the members, after ending the leases that have run out and forgetting who left long ago. */
  #roster(now: number): Roster {
    let roster = readState<Roster>(this.#engine, 'members') ?? empty(now)
    for (const member of roster.members) {
      if (!member.isAlive || member.until > now) continue
      const revision = next(roster, now)
      const ended = { ...member, isAlive: false, changedAt: revision }
      const members = roster.members.map(each => (each === member ? ended : each))
      roster = { ...roster, revision, members }
    }
    const isForgotten = ({ isAlive, until }: MemberRow) =>
      !isAlive && until + limits.departedMs.default <= now
    const forgotten = roster.members.filter(isForgotten)
    if (forgotten.length === 0) return roster
    const completeSince = Math.max(roster.completeSince, ...forgotten.map(row => row.changedAt))
    return { ...roster, completeSince, members: roster.members.filter(row => !isForgotten(row)) }
  }

  #write(roster: Roster): void {
    const now = this.#engine.now()
    const last = Math.max(...roster.members.map(member => member.until - now), 0)
    writeState(this.#engine, 'members', roster, Math.ceil(last + limits.departedMs.default))
  }
}

interface Roster {
  readonly revision: number
  /** A node whose revision is smaller does not know everything that has been forgotten since. */
  readonly completeSince: number
  readonly members: readonly MemberRow[]
}

interface MemberRow {
  readonly node: string
  readonly facts: string
  readonly isAlive: boolean
  readonly seenAt: number
  readonly until: number
  readonly changedAt: number
}

function empty(now: number): Roster {
  const revision = Math.floor(now * 1000)
  return { revision, completeSince: revision, members: [] }
}

/** Returns a revision that is greater than any before, also than those of data that were deleted. */
function next({ revision }: Roster, now: number): number {
  return Math.max(revision + 1, Math.floor(now * 1000))
}

function shown({ node, facts, isAlive, seenAt }: MemberRow, now: number): ClusterMember {
  return { node, facts, isAlive, silentMs: Math.max(0, Math.floor(now - seenAt)) }
}
