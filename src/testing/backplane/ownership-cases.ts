import { expectCode, expectEqual, expectThat } from './expectations.ts'
import type { CaseDefinition } from './harness.ts'

const ttlMs = 60_000

/** Claims, epochs and fencing. */
export const ownershipCases: readonly CaseDefinition[] = [
  {
    name: 'a claim of a new record makes its owner, whose epoch is shown',
    async run({ one, other, key }) {
      const claim = await one.store.claim(key, undefined, 'a', { value: 'v', ttlMs })
      const epoch = claim.isOwner ? claim.epoch : 0
      expectEqual(claim, { isOwner: true, epoch }, 'the claim')
      expectThat(epoch > 0 && Number.isSafeInteger(epoch), 'an epoch is a whole number above 0')
      const stored = { value: 'v', owner: { node: 'a', epoch }, isFinal: false }
      expectEqual(await other.store.get(key), stored, 'the record')
    },
  },
  {
    name: 'of 100 claims at once one wins, and all others learn the owner',
    async run({ one, other, key }) {
      const claims = await Promise.all(
        Array.from({ length: 100 }, (_, at) => {
          const { store } = at % 2 === 0 ? one : other
          return store.claim(key, undefined, `n${at}`, { value: `${at}`, ttlMs })
        }),
      )
      const winners = claims.flatMap((claim, at) =>
        claim.isOwner ? [{ at, epoch: claim.epoch }] : [],
      )
      expectEqual(winners.length, 1, 'the number of winners')
      const { at = -1, epoch } = winners[0] ?? {}
      const owner = { node: `n${at}`, epoch }
      for (const claim of claims) if (!claim.isOwner) expectEqual(claim.owner, owner, 'the owner')
      expectEqual(await one.store.get(key), { value: `${at}`, owner, isFinal: false }, 'the record')
    },
  },
  {
    name: 'a claim from the present owner gets a greater epoch and the record; any other is refused',
    async run({ one, other, key }) {
      const first = await one.store.claim(key, undefined, 'a', { value: 'v', ttlMs })
      const epoch = first.isOwner ? first.epoch : 0
      const owner = { node: 'a', epoch }
      expectEqual(await other.store.claim(key, 'x', 'b'), { isOwner: false, owner }, 'from another')
      expectEqual(
        await other.store.claim(key, undefined, 'b'),
        { isOwner: false, owner },
        'from none',
      )
      const repeated = await one.store.claim(key, undefined, 'a', { value: 'w', ttlMs })
      expectEqual(repeated, { isOwner: false, owner }, 'a repeated claim')
      const second = await other.store.claim(key, 'a', 'b')
      expectThat(second.isOwner && second.epoch > epoch, 'the epoch grows')
      const previous = { value: 'v', owner, isFinal: false }
      expectEqual(second.isOwner ? second.previous : null, previous, 'the record before')
      expectEqual((await one.store.get(key))?.value, 'v', 'the value')
    },
  },
  {
    name: 'a record that does not exist can be claimed only with a value',
    async run({ one, key }) {
      expectEqual(await one.store.claim(key, 'x', 'a'), { isOwner: false }, 'without a value')
      const claim = await one.store.claim(key, 'x', 'a', { value: 'v', ttlMs })
      expectThat(claim.isOwner, 'a claim with a value succeeds')
    },
  },
  {
    name: 'a record without an owner can be claimed, and then swapped no more',
    async run({ one, key }) {
      await one.store.swap(key, undefined, { value: 'v', ttlMs })
      const claim = await one.store.claim(key, undefined, 'a')
      const epoch = claim.isOwner ? claim.epoch : 0
      expectEqual(
        claim,
        { isOwner: true, epoch, previous: { value: 'v', isFinal: false } },
        'the claim',
      )
      await expectCode(one.store.swap(key, 'v', { value: 'w', ttlMs }), 'fenced')
      await expectCode(one.store.delete(key), 'fenced')
    },
  },
  {
    name: 'the writes of a former owner are refused, with the owner',
    async run({ one, other, key }) {
      const first = await one.store.claim(key, undefined, 'a', { value: 'v', ttlMs })
      const second = await other.store.claim(key, 'a', 'b')
      const [old, epoch] = [first, second].map(claim => (claim.isOwner ? claim.epoch : 0))
      const former = { node: 'a', epoch: old ?? 0 }
      const refused = await expectCode(one.store.put(key, { value: 'w', ttlMs }, former), 'fenced')
      expectEqual(refused.owner, { node: 'b', epoch }, 'the owner in the error')
      await expectCode(one.store.delete(key, former), 'fenced')
      expectEqual((await one.store.get(key))?.value, 'v', 'the value')
    },
  },
  {
    name: 'a write can be repeated, and the greatest epoch wins',
    async run({ one, other, key }) {
      const at = (node: string, epoch: number) => ({ node, epoch })
      const write = (value: string) => ({ value, ttlMs })
      for (const _ of [1, 2]) await one.store.put(key, write('v'), at('a', 5))
      expectEqual(
        await one.store.get(key),
        { value: 'v', owner: at('a', 5), isFinal: false },
        'twice',
      )
      await other.store.put(key, write('w'), at('b', 6))
      await expectCode(one.store.put(key, write('v'), at('a', 5)), 'fenced')
      await one.store.put(key, write('x'), at('c', 6))
      await expectCode(other.store.put(key, write('w'), at('b', 6)), 'fenced')
      const stored = { value: 'x', owner: at('c', 6), isFinal: false }
      expectEqual(await one.store.get(key), stored, 'of equal epochs the greater node')
      const claim = await one.store.claim(key, 'c', 'd')
      expectThat(claim.isOwner && claim.epoch > 6, 'a claim has a greater epoch')
    },
  },
  {
    name: 'a write that needs a record is refused where there is none',
    async run({ one, key }) {
      const owner = { node: 'a', epoch: 5 }
      const write = { value: 'v', ttlMs, mustExist: true }
      await expectCode(one.store.put(key, write, owner), 'fenced')
      await one.store.put(key, { value: 'v', ttlMs }, owner)
      await one.store.put(key, write, owner)
    },
  },
  {
    name: 'a final record does not change any more, but can be deleted',
    async run({ one, key }) {
      const owner = { node: 'a', epoch: 5 }
      const last = { value: 'v', ttlMs, isFinal: true }
      for (const _ of [1, 2]) await one.store.put(key, last, owner)
      await expectCode(one.store.put(key, { value: 'w', ttlMs }, owner), 'final')
      await expectCode(one.store.put(key, last, { node: 'b', epoch: 6 }), 'final')
      await expectCode(one.store.claim(key, 'a', 'b'), 'final')
      expectEqual(await one.store.get(key), { value: 'v', owner, isFinal: true }, 'the record')
      expectEqual(await one.store.delete(key, owner), true, 'the deletion')
    },
  },
  {
    name: 'a deleted record is not restored by a late write of its owner',
    async run({ one, other, key }) {
      const claim = await one.store.claim(key, undefined, 'a', { value: 'v', ttlMs })
      const owner = { node: 'a', epoch: claim.isOwner ? claim.epoch : 0 }
      expectEqual(await one.store.delete(key, owner), true, 'the deletion')
      expectEqual((await other.store.get(key)) ?? null, null, 'the record')
      await expectCode(one.store.put(key, { value: 'v', ttlMs }, owner), 'fenced')
      expectEqual(await one.store.delete(key, owner), false, 'the second deletion')
      expectEqual(await one.store.delete(key), false, 'a deletion without an owner')
      const again = await other.store.claim(key, undefined, 'b', { value: 'w', ttlMs })
      expectThat(again.isOwner && again.epoch > owner.epoch, 'a new claim has a greater epoch')
    },
  },
]
