import { allNames, expectCode, expectEqual, expectThat } from './expectations.ts'
import type { CaseDefinition } from './harness.ts'

const ttlMs = 60_000

/** Several backplanes on one engine, and their end. */
export const sharingCases: readonly CaseDefinition[] = [
  {
    name: 'two clusters on one engine never meet',
    needs: 'shared',
    async run({ harness, one, key }) {
      const foreign = await harness.connect('other')
      try {
        await one.store.swap(key, undefined, { value: 'v', ttlMs })
        await one.store.add(key, 'name', ttlMs)
        await one.log.append(key, [{ epoch: 1, n: 1, fields: { a: 'b' } }], { ttlMs, max: 10 })
        await one.membership.heartbeat(`${key}-a`, '', ttlMs, 0)
        await one.rates.take([{ bucket: key, perSecond: 0.001, burst: 1, want: 1, least: 1 }])
        const received: string[] = []
        const into = { message: (text: string) => void received.push(text), gap: () => {} }
        await foreign.bus.subscribe(key, into)
        one.bus.publish(key, 'message')
        expectEqual((await foreign.store.get(key)) ?? null, null, 'the record')
        expectEqual(await allNames(foreign, key), [], 'the names')
        expectEqual((await foreign.log.readAfter(key, undefined, 9)).entries, [], 'the entries')
        const { changed } = await foreign.membership.heartbeat(`${key}-b`, '', ttlMs, 0)
        expectThat(!changed.some(({ node }) => node === `${key}-a`), 'members do not meet')
        const bucket = { bucket: key, perSecond: 0.001, burst: 1, want: 1, least: 1 }
        expectEqual((await foreign.rates.take([bucket])).taken, [1], 'the tokens')
        expectEqual(received, [], 'the messages')
        await Promise.all([one.membership.leave(`${key}-a`), foreign.membership.leave(`${key}-b`)])
      } finally {
        await foreign.close()
      }
    },
  },
  {
    name: 'what was written stays after closing, and epochs grow',
    needs: 'shared',
    async run({ harness, one, other, key }) {
      const claim = await one.store.claim(key, undefined, 'a', { value: 'v', ttlMs })
      await Promise.all([one.close(), other.close()])
      const again = await harness.connect()
      try {
        expectEqual((await again.store.get(key))?.value, 'v', 'the value')
        const next = await again.store.claim(key, 'a', 'b')
        const before = claim.isOwner ? claim.epoch : Number.POSITIVE_INFINITY
        expectThat(next.isOwner && next.epoch > before, 'the epoch grows')
      } finally {
        await again.close()
      }
    },
  },
  {
    name: 'the epoch of a backplane that starts anew is greater than all before',
    async run({ harness, one, key }) {
      const claim = await one.store.claim(key, undefined, 'a', { value: 'v', ttlMs: 1000 })
      const again = await harness.connect()
      try {
        const next = await again.store.claim(`${key}:2`, undefined, 'a', {
          value: 'v',
          ttlMs: 1000,
        })
        const before = claim.isOwner ? claim.epoch : Number.POSITIVE_INFINITY
        expectThat(next.isOwner && next.epoch > before, 'the epoch grows')
      } finally {
        await again.close()
      }
    },
  },
  {
    name: 'a closed backplane refuses everything',
    async run({ one, key }) {
      const states: boolean[] = []
      one.onStateChange(({ isUp }) => void states.push(isUp))
      expectEqual(one.isUp, true, 'whether it is up')
      await Promise.all([one.close(), one.close()])
      await one.close()
      expectEqual([one.isUp, states], [false, [false]], 'whether it is up after closing')
      await expectCode(one.store.get(key), 'closed')
      await expectCode(one.log.delete(key), 'closed')
      await expectCode(one.membership.leave('a'), 'closed')
      await expectCode(one.rates.leaseSlots(key, 1, 'a', 1, 1), 'closed')
      await expectCode(one.bus.subscribe(key, { message: () => {}, gap: () => {} }), 'closed')
      await expectCode(
        Promise.resolve().then(() => one.bus.publish(key, '')),
        'closed',
      )
      await expectCode(one.open(), 'closed')
    },
  },
]
