import type { HeartbeatReply, Membership } from '../membership.ts'
import { endOf, type Roster, withHeartbeat, withoutMember } from '../rules/roster.ts'
import type { Documents } from './documents.ts'
import type { NatsSubjects } from './engine/subjects.ts'

/** What a membership needs. */
export interface NatsMembershipOptions {
  /** Documents on a connection of their own, so that no long reply delays a heartbeat. */
  readonly documents: Documents<Roster>
  readonly subjects: NatsSubjects
  /** Checks whether the engine was emptied. */
  checkLife(): Promise<void>
}

/** Members in an engine: one document for all of them. */
export class NatsMembership implements Membership {
  readonly #options: NatsMembershipOptions

  constructor(options: NatsMembershipOptions) {
    this.#options = options
  }

  async heartbeat(
    node: string,
    facts: string,
    leaseMs: number,
    since: number,
  ): Promise<HeartbeatReply> {
    const { documents, subjects, checkLife } = this.#options
    const heartbeat = { node, facts, leaseMs, since }
    const updated = documents.update(subjects.members, (document, moment) => {
      const { roster, reply } = withHeartbeat(document?.value, heartbeat, moment)
      return { result: reply, next: { value: roster, until: endOf(roster, moment) } }
    })
    const [reply] = await Promise.all([updated, checkLife()])
    return reply
  }

  async expel(node: string, silentMs: number): Promise<boolean> {
    return this.#end(node, silentMs)
  }

  async leave(node: string): Promise<void> {
    // Its last heartbeat may seem to come from the future, because the time of the engine is only known roughly.
    await this.#end(node, Number.NEGATIVE_INFINITY)
  }

  #end(node: string, silentMs: number): Promise<boolean> {
    const { documents, subjects } = this.#options
    return documents.update(subjects.members, (document, moment) => {
      const { roster, isGone } = withoutMember(document?.value, node, silentMs, moment)
      if (roster === undefined) return { result: isGone }
      return {
        result: isGone,
        next: { value: roster, until: endOf(roster, moment) },
      }
    })
  }
}
