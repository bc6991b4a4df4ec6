import type { HeartbeatReply, Membership } from '../membership.ts'
import { exactly, type Moment } from '../rules/moment.ts'
import { endOf, type Roster, withHeartbeat, withoutMember } from '../rules/roster.ts'
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
      const moment = exactly(this.#engine.now())
      const { roster, reply } = withHeartbeat(this.#read(), { node, facts, leaseMs, since }, moment)
      this.#write(roster, moment)
      return reply
    })
  }

  async expel(node: string, silentMs: number): Promise<boolean> {
    return this.#end(node, silentMs)
  }

  async leave(node: string): Promise<void> {
    await this.#end(node, -1)
  }

  async #end(node: string, silentMs: number): Promise<boolean> {
    return this.#engine.run(() => {
      const moment = exactly(this.#engine.now())
      const { roster, isGone } = withoutMember(this.#read(), node, silentMs, moment)
      if (roster !== undefined) this.#write(roster, moment)
      return isGone
    })
  }

  #read(): Roster | undefined {
    return readState<Roster>(this.#engine, 'members')
  }

  #write(roster: Roster, moment: Moment): void {
    writeState(this.#engine, 'members', roster, endOf(roster, moment))
  }
}
