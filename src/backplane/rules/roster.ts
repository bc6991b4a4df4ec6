import { limits } from '../../util/limits/limits.ts'
import type { ClusterMember, HeartbeatReply } from '../membership.ts'
import { greaterThan, type Moment } from './moment.ts'

/** All members of a cluster, as one value. */
export interface Roster {
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

/** A heartbeat of a node. */
export interface HeartbeatRequest {
  readonly node: string
  readonly facts: string
  readonly leaseMs: number
  readonly since: number
}

/** Renews or begins the lease of a node. */
export function withHeartbeat(
  stored: Roster | undefined,
  { node, facts, leaseMs, since }: HeartbeatRequest,
  moment: Moment,
): { readonly roster: Roster; readonly reply: HeartbeatReply } {
  const roster = current(stored, moment)
  const known = roster.members.find(member => member.node === node)
  const wasExpelled = known !== undefined && !known.isAlive
  const isChanged = known === undefined || wasExpelled || known.facts !== facts
  const revision = isChanged ? greaterThan(moment, roster.revision) : roster.revision
  const own: MemberRow = {
    node,
    facts,
    isAlive: true,
    seenAt: moment.most,
    until: moment.most + leaseMs,
    changedAt: isChanged ? revision : known.changedAt,
  }
  const members = [...roster.members.filter(member => member.node !== node), own]
  const isComplete = since < roster.completeSince || since > revision
  const changed = members
    .filter(member => (isComplete ? member.isAlive : member.changedAt > since))
    .map(row => shown(row, moment))
  return {
    roster: { ...roster, revision, members },
    reply: { revision, isComplete, wasExpelled, changed },
  }
}

/**
 * Ends the lease of a node whose last heartbeat is more than `silentMs` ago. Returns the roster if it has changed, and
 * whether the node is not a member any more.
 */
export function withoutMember(
  stored: Roster | undefined,
  node: string,
  silentMs: number,
  moment: Moment,
): { readonly roster?: Roster; readonly isGone: boolean } {
  const roster = current(stored, moment)
  const member = roster.members.find(each => each.node === node)
  if (member === undefined || !member.isAlive) return { isGone: true }
  if (moment.least - member.seenAt <= silentMs) return { isGone: false }
  const revision = greaterThan(moment, roster.revision)
  const ended = { ...member, isAlive: false, until: moment.least, changedAt: revision }
  const others = roster.members.filter(each => each !== member)
  return { roster: { ...roster, revision, members: [...others, ended] }, isGone: true }
}

/** Returns the time until which a roster is worth keeping. */
export function endOf(roster: Roster, { most }: Moment): number {
  const last = Math.max(...roster.members.map(member => member.until), most)
  return Math.ceil(last + limits.departedMs.default)
}

/** Returns the members, after ending the leases that have run out and forgetting who left long ago. */
function current(stored: Roster | undefined, moment: Moment): Roster {
  let roster = stored ?? empty(moment)
  for (const member of roster.members) {
    if (!member.isAlive || member.until > moment.least) continue
    const revision = greaterThan(moment, roster.revision)
    const ended = { ...member, isAlive: false, changedAt: revision }
    const members = roster.members.map(each => (each === member ? ended : each))
    roster = { ...roster, revision, members }
  }
  const isForgotten = ({ isAlive, until }: MemberRow) =>
    !isAlive && until + limits.departedMs.default <= moment.least
  const forgotten = roster.members.filter(isForgotten)
  if (forgotten.length === 0) return roster
  const completeSince = Math.max(roster.completeSince, ...forgotten.map(row => row.changedAt))
  return { ...roster, completeSince, members: roster.members.filter(row => !isForgotten(row)) }
}

function empty(moment: Moment): Roster {
  const revision = greaterThan(moment)
  return { revision, completeSince: revision, members: [] }
}

function shown({ node, facts, isAlive, seenAt }: MemberRow, { least }: Moment): ClusterMember {
  return { node, facts, isAlive, silentMs: Math.max(0, Math.floor(least - seenAt)) }
}
