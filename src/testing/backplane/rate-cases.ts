import { eventually, expectEqual, expectThat } from './expectations.ts'
import type { CaseDefinition } from './harness.ts'

/** Token buckets and slots. */
export const rateCases: readonly CaseDefinition[] = [
  {
    name: 'a bucket gives its burst, and then says when there is more',
    async run({ one, other, key }) {
      const request = { bucket: key, perSecond: 0.001, burst: 10, want: 7, least: 1 }
      expectEqual(await one.rates.take([request]), { taken: [7], waitMs: 0 }, 'the first tokens')
      expectEqual(await other.rates.take([request]), { taken: [3], waitMs: 0 }, 'the last tokens')
      const { taken, waitMs } = await one.rates.take([request])
      expectEqual(taken, [0], 'an empty bucket')
      expectThat(waitMs > 0 && waitMs <= 1_000_000, `the wait is that for one token (${waitMs} ms)`)
    },
  },
  {
    name: 'tokens of several buckets are taken together or not at all',
    async run({ one, key }) {
      const take = (bucket: string, least: number) => {
        return { bucket: `${key}:${bucket}`, perSecond: 0.001, burst: 10, want: 5, least }
      }
      expectEqual((await one.rates.take([take('a', 1), take('b', 1)])).taken, [5, 5], 'both')
      expectEqual((await one.rates.take([take('b', 5)])).taken, [5], 'the second alone')
      expectEqual((await one.rates.take([take('a', 1), take('b', 1)])).taken, [0, 0], 'neither')
      expectEqual((await one.rates.take([take('a', 5)])).taken, [5], 'the first was given back')
      expectEqual(await one.rates.take([]), { taken: [], waitMs: 0 }, 'no buckets')
    },
  },
  {
    name: 'callers together never get more than the rate and the burst',
    async run({ one, other, key }) {
      const request = { bucket: key, perSecond: 200, burst: 20, want: 3, least: 1 }
      const started = performance.now()
      let taken = 0
      for (let round = 0; round < 20; round++) {
        const replies = await Promise.all(
          [one, other, one].map(({ rates }) => rates.take([request])),
        )
        for (const reply of replies) taken += reply.taken[0] ?? 0
      }
      const most = 20 + ((performance.now() - started) / 1000) * 200
      expectThat(taken >= 20 && taken <= Math.ceil(most), `${taken} tokens are at most ${most}`)
    },
  },
  {
    name: 'a bucket fills again',
    async run({ one, key }) {
      const request = { bucket: key, perSecond: 100, burst: 2, want: 2, least: 2 }
      expectEqual((await one.rates.take([request])).taken, [2], 'the burst')
      await eventually(async () => (await one.rates.take([request])).taken[0] === 2)
    },
  },
  {
    name: 'never more slots are leased than there are',
    async run({ one, other, key }) {
      const lease = (node: string, want: number, ttlMs = 60_000) =>
        (node === 'a' ? one : other).rates.leaseSlots(key, 10, node, want, ttlMs)
      expectEqual(await lease('a', 6), 6, 'the first lease')
      expectEqual(await lease('b', 6), 4, 'the other slots')
      expectEqual(await lease('c', 1), 0, 'a lease when all are taken')
      expectEqual(await lease('a', 2), 2, 'a smaller lease')
      expectEqual(await lease('b', 9, 50), 8, 'a greater one')
      await eventually(async () => (await lease('c', 8)) === 8)
      expectEqual(await lease('a', 0), 0, 'giving back')
    },
  },
]
