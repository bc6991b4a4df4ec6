import { eventually, expectCode, expectEqual, expectThat, retried } from './expectations.ts'
import type { CaseDefinition } from './harness.ts'

const ttlMs = 60_000

/** Faults of the engine, and of the way to it. */
export const faultCases: readonly CaseDefinition[] = [
  {
    name: 'an emptied engine is reported, and owners restore what they own',
    needs: 'empty',
    async run({ harness, one, other, key }) {
      const node = `${key}-a`
      const claim = await one.store.claim(key, undefined, node, { value: 'v', ttlMs })
      const epoch = claim.isOwner ? claim.epoch : 0
      let since = (await one.membership.heartbeat(node, '', ttlMs, 0)).revision
      const reports: boolean[] = []
      one.onStateChange(({ wasEmptied }) => void reports.push(wasEmptied))
      await harness.empty?.()
      let isComplete = false
      await eventually(async () => {
        const reply = await retried(() => one.membership.heartbeat(node, '', ttlMs, since))
        isComplete ||= reply.isComplete
        since = reply.revision
        return reports.includes(true)
      })
      expectEqual(isComplete, true, 'whether a heartbeat returned all members again')
      await retried(() => one.store.put(key, { value: 'v', ttlMs }, { node, epoch }))
      const stored = { value: 'v', owner: { node, epoch }, isFinal: false }
      expectEqual(await retried(() => other.store.get(key)), stored, 'the restored record')
      const next = await retried(() => other.store.claim(key, node, 'b'))
      expectThat(next.isOwner && next.epoch > epoch, 'epochs grow over the loss')
    },
  },
  {
    name: 'cut connections are replaced, and subscribers learn that messages may be missing',
    needs: 'cut',
    async run({ harness, one, other, key }) {
      const received: string[] = []
      const record = (what: string) => void received.push(what)
      await one.bus.subscribe(key, { message: record, gap: () => record('gap') })
      await harness.cut?.()
      await eventually(() => received.includes('gap'))
      await retried(() => other.store.swap(key, undefined, { value: 'v', ttlMs }))
      await eventually(() => {
        other.bus.publish(key, 'after')
        return received.includes('after')
      })
      expectEqual((await retried(() => one.store.get(key)))?.value, 'v', 'the value')
    },
  },
  {
    name: 'while the engine does not answer, every call settles; afterwards all works again',
    needs: 'stall',
    async run({ harness, one, key }) {
      const { store, log, rates, membership } = one
      const owner = { node: 'a', epoch: 5 }
      await store.put(key, { value: '1', ttlMs }, owner)
      const resume = await harness.stall?.()
      const retention = { ttlMs, max: 10 }
      const entries = [{ epoch: 5, n: 1, fields: { a: 'b' } }]
      const calls = () => [
        store.get(key),
        store.put(key, { value: '2', ttlMs }, owner),
        store.claim(`${key}:2`, undefined, 'a', { value: 'v', ttlMs }),
        store.add(key, 'name', ttlMs),
        log.append(key, entries, retention),
        rates.leaseSlots(key, 1, 'a', 1, ttlMs),
        membership.heartbeat(`${key}-a`, '', ttlMs, 0),
      ]
      try {
        for (let round = 0; round < 3; round++) {
          await Promise.all(calls().map(call => expectCode(call, 'down', 'unknown')))
        }
      } finally {
        await resume?.()
      }
      await retried(() => store.put(key, { value: '3', ttlMs }, owner))
      expectEqual((await store.get(key))?.value, '3', 'the value')
      await retried(() => log.append(key, entries, retention))
      await retried(() => log.append(key, entries, retention))
      expectEqual((await log.readAfter(key, undefined, 9)).entries, entries, 'the entries')
      await retried(() => membership.leave(`${key}-a`))
    },
  },
]
