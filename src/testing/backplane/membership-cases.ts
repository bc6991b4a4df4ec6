import type { HeartbeatReply } from '../../backplane/membership.ts'
import { eventually, expectEqual, expectThat } from './expectations.ts'
import type { CaseDefinition } from './harness.ts'

const leaseMs = 60_000

/** Heartbeats and leases. */
export const membershipCases: readonly CaseDefinition[] = [
  {
    name: 'a heartbeat returns the members, and then what has changed',
    async run({ one, other, key }) {
      const [a, b] = [`${key}-a`, `${key}-b`]
      const first = await one.membership.heartbeat(a, 'A', leaseMs, 0)
      expectEqual([first.isComplete, first.wasExpelled], [true, false], 'the first heartbeat')
      expectEqual(states(first, key), { [a]: 'A' }, 'the first member')
      const joined = await other.membership.heartbeat(b, 'B', leaseMs, 0)
      expectEqual(states(joined, key), { [a]: 'A', [b]: 'B' }, 'the members for a new one')
      const second = await one.membership.heartbeat(a, 'A', leaseMs, first.revision)
      expectEqual([second.isComplete, states(second, key)], [false, { [b]: 'B' }], 'who joined')
      const quiet = await one.membership.heartbeat(a, 'A', leaseMs, second.revision)
      expectEqual(states(quiet, key), {}, 'without changes')
      await other.membership.heartbeat(b, 'B2', leaseMs, joined.revision)
      const changed = await one.membership.heartbeat(a, 'A', leaseMs, quiet.revision)
      expectEqual(states(changed, key), { [b]: 'B2' }, 'changed facts')
      await other.membership.leave(b)
      const left = await one.membership.heartbeat(a, 'A', leaseMs, changed.revision)
      expectEqual(states(left, key), { [b]: null }, 'who left')
      await one.membership.leave(a)
    },
  },
  {
    name: 'a node that sends heartbeats is not expelled; a silent one is, and learns it',
    async run({ one, other, key }) {
      const [a, b] = [`${key}-a`, `${key}-b`]
      const first = await one.membership.heartbeat(a, 'A', leaseMs, 0)
      const second = await other.membership.heartbeat(b, 'B', leaseMs, 0)
      expectEqual(await one.membership.expel(b, leaseMs), false, 'expelling a node that is heard')
      await eventually(() => one.membership.expel(b, 20))
      expectEqual(await one.membership.expel(b, leaseMs), true, 'expelling a node that is gone')
      const changed = await one.membership.heartbeat(a, 'A', leaseMs, first.revision)
      expectEqual(states(changed, key), { [b]: null }, 'who was expelled')
      const learned = await other.membership.heartbeat(b, 'B', leaseMs, second.revision)
      expectEqual(learned.wasExpelled, true, 'what the expelled node learns')
      const again = await other.membership.heartbeat(b, 'B', leaseMs, learned.revision)
      expectEqual(again.wasExpelled, false, 'the heartbeat after that')
      const back = await one.membership.heartbeat(a, 'A', leaseMs, changed.revision)
      expectEqual(states(back, key), { [b]: 'B' }, 'who is back')
      await Promise.all([one.membership.leave(a), one.membership.leave(b)])
    },
  },
  {
    name: 'a lease runs out, and never early',
    async run({ one, other, key }) {
      const [a, b] = [`${key}-a`, `${key}-b`]
      const started = performance.now()
      await other.membership.heartbeat(b, 'B', 150, 0)
      let since = 0
      await eventually(async () => {
        const reply = await one.membership.heartbeat(a, 'A', leaseMs, since)
        since = reply.revision
        return states(reply, key)[b] === null || (reply.isComplete && !(b in states(reply, key)))
      })
      const passedMs = performance.now() - started
      expectThat(passedMs >= 149, `a lease of 150 ms lasts as long (it ended after ${passedMs} ms)`)
      const late = await other.membership.heartbeat(b, 'B', leaseMs, 1)
      expectEqual(late.wasExpelled, true, 'what the late node learns')
      await Promise.all([one.membership.leave(a), one.membership.leave(b)])
    },
  },
  {
    name: 'the silence of a member is measured',
    async run({ one, key }) {
      const [a, b] = [`${key}-a`, `${key}-b`]
      await one.membership.heartbeat(b, 'B', leaseMs, 0)
      await eventually(async () => {
        const { changed } = await one.membership.heartbeat(a, 'A', leaseMs, 0)
        const member = changed.find(({ node }) => node === b)
        expectThat(member?.isAlive === true, 'the silent member is alive')
        return (member?.silentMs ?? 0) >= 10
      })
      await Promise.all([one.membership.leave(a), one.membership.leave(b)])
    },
  },
]

/** Returns the facts of the members of this case that a heartbeat names; null for those that are gone. */
function states({ changed }: HeartbeatReply, prefix: string): Record<string, string | null> {
  const own = changed.filter(({ node }) => node.startsWith(prefix))
  return Object.fromEntries(own.map(({ node, facts, isAlive }) => [node, isAlive ? facts : null]))
}
