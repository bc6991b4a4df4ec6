import { limits } from '../../util/limits/limits.ts'
import { randomHex } from '../../util/random.ts'
import type { ClusterMember, HeartbeatReply, Membership } from '../membership.ts'
import type { RedisConnection } from './connection.ts'
import type { RedisEngine } from './engine.ts'
import { arrayReply, numberReply, textReply } from './replies.ts'
import { expelScript, heartbeatScript } from './scripts/membership-scripts.ts'

/** Members in an engine. Heartbeats have a connection of their own, so that no long reply delays them. */
export class RedisMembership implements Membership {
  readonly #engine: RedisEngine
  readonly #heartbeats: RedisConnection
  readonly #onBorn: (born: string) => void

  /** `onBorn` gets the random text of the engine's present life with each heartbeat. */
  constructor(engine: RedisEngine, heartbeats: RedisConnection, onBorn: (born: string) => void) {
    this.#engine = engine
    this.#heartbeats = heartbeats
    this.#onBorn = onBorn
  }

  async heartbeat(
    node: string,
    facts: string,
    leaseMs: number,
    since: number,
  ): Promise<HeartbeatReply> {
    const args = [node, facts, leaseMs, since, limits.departedMs.default, randomHex(8)]
    const { keys } = this.#engine
    const reply = await this.#engine.run(heartbeatScript, keys.members, args, this.#heartbeats)
    const [born, revision, isComplete, wasExpelled, changed] = arrayReply(reply)
    this.#onBorn(textReply(born))
    return {
      revision: numberReply(revision),
      isComplete: isComplete === 1,
      wasExpelled: wasExpelled === 1,
      changed: membersOf(arrayReply(changed)),
    }
  }

  async expel(node: string, silentMs: number): Promise<boolean> {
    return this.#end(node, silentMs)
  }

  async leave(node: string): Promise<void> {
    await this.#end(node, -1)
  }

  async #end(node: string, silentMs: number): Promise<boolean> {
    const { keys } = this.#engine
    const args = [node, silentMs]
    return (await this.#engine.run(expelScript, keys.members, args, this.#heartbeats)) === 1
  }
}

function membersOf(flat: readonly unknown[]): ClusterMember[] {
  const members: ClusterMember[] = []
  for (let at = 0; at < flat.length; at += 4) {
    const [node, isAlive, silentMs, facts] = flat.slice(at, at + 4)
    members.push({
      node: textReply(node),
      facts: textReply(facts),
      isAlive: isAlive === 1,
      silentMs: numberReply(silentMs),
    })
  }
  return members
}
