import type { LogEntry } from '../../backplane/log.ts'
import { eventually, expectCode, expectEqual, expectThat, expectTypeError } from './expectations.ts'
import type { CaseDefinition } from './harness.ts'

const retention = { ttlMs: 60_000, max: 1000 }

const entry = (epoch: number, n: number, data = `${epoch}-${n}`): LogEntry => ({
  epoch,
  n,
  fields: { data },
})

/** Logs. */
export const logCases: readonly CaseDefinition[] = [
  {
    name: 'a log returns its entries in order, page by page',
    async run({ one, other, key }) {
      const entries = Array.from({ length: 25 }, (_, at) => entry(7, at + 1))
      await one.log.append(key, entries.slice(0, 20), retention)
      await one.log.append(key, entries.slice(20), retention)
      const first = await other.log.readAfter(key, undefined, 10)
      expectEqual(first, { entries: entries.slice(0, 10), isComplete: true }, 'the first page')
      const rest = await other.log.readAfter(key, { epoch: 7, n: 10 }, 100)
      expectEqual(rest, { entries: entries.slice(10), isComplete: true }, 'the other entries')
      const none = { entries: [], isComplete: true }
      expectEqual(await one.log.readAfter(key, { epoch: 7, n: 25 }, 9), none, 'behind the last')
      expectEqual(await one.log.readAfter(key, { epoch: 9, n: 1 }, 9), none, 'beyond the log')
    },
  },
  {
    name: 'fields are stored exactly',
    async run({ one, key }) {
      const fields = { '': '', a: '\0', 'b c': 'äß€😀\r\n', data: 'x'.repeat(100_000) }
      const { '': _, ...usable } = fields
      await expectTypeError(
        () => one.log.append(key, [{ epoch: 1, n: 1, fields }], retention),
        'a field',
      )
      await one.log.append(key, [{ epoch: 1, n: 1, fields: usable }], retention)
      const { entries } = await one.log.readAfter(key, undefined, 9)
      expectEqual(entries, [{ epoch: 1, n: 1, fields: usable }], 'the entries')
    },
  },
  {
    name: 'an append can be repeated; another text at its position is refused',
    async run({ one, other, key }) {
      const entries = [entry(7, 1), entry(7, 2)]
      for (const _ of [1, 2]) await one.log.append(key, entries, retention)
      await one.log.append(key, [entry(7, 2), entry(7, 3)], retention)
      await expectCode(one.log.append(key, [entry(7, 3, 'x')], retention), 'fenced')
      await expectCode(one.log.append(key, [entry(6, 9)], retention), 'fenced')
      await expectCode(one.log.append(key, [entry(7, 3, 'x'), entry(7, 4)], retention), 'fenced')
      const { entries: found } = await other.log.readAfter(key, undefined, 9)
      expectEqual(found, [...entries, entry(7, 3)], 'the entries')
      await one.log.append(`${key}:2`, [entry(7, 2)], retention)
      await expectCode(one.log.append(`${key}:2`, [entry(7, 1)], retention), 'fenced')
      const backwards = [entry(8, 2), entry(8, 1)]
      await expectTypeError(() => one.log.append(key, backwards, retention), 'a wrong order')
    },
  },
  {
    name: 'a claim fences the log of the same key',
    async run({ one, other, key }) {
      const write = { value: 'v', ttlMs: 60_000 }
      const first = await one.store.claim(key, undefined, 'a', write)
      const old = first.isOwner ? first.epoch : 0
      await one.log.append(key, [entry(old, 1)], retention)
      const second = await other.store.claim(key, 'a', 'b')
      const epoch = second.isOwner ? second.epoch : 0
      await expectCode(one.log.append(key, [entry(old, 2)], retention), 'fenced')
      await one.log.append(key, [entry(old, 1)], retention)
      await other.log.append(key, [entry(epoch, 1)], retention)
      const page = await other.log.readAfter(key, undefined, 9)
      const entries = [entry(old, 1), entry(epoch, 1)]
      expectEqual(page, { entries, isComplete: true }, 'the entries')
    },
  },
  {
    name: 'a log keeps the newest entries, and says when older ones were removed',
    async run({ one, key }) {
      const last = 1000
      for (let n = 1; n <= last; n += 50) {
        const entries = Array.from({ length: 50 }, (_, at) => entry(7, n + at))
        await one.log.append(key, entries, { ttlMs: 60_000, max: 100 })
      }
      const { entries, isComplete } = await one.log.readAfter(key, undefined, 2000)
      expectEqual(isComplete, false, 'whether all entries are there')
      expectThat(entries.length >= 100 && entries.length < last, 'some entries were removed')
      expectEqual(entries.at(-1), entry(7, last), 'the last entry')
      const near = await one.log.readAfter(key, { epoch: 7, n: last - 50 }, 2000)
      expectEqual([near.entries.length, near.isComplete], [50, true], 'the last 50')
      await one.log.append(key, [entry(7, 1)], { ttlMs: 60_000, max: 100 })
      await expectCode(one.log.append(key, [entry(6, 1)], retention), 'fenced')
    },
  },
  {
    name: 'a log ends: when it is deleted, and some time after the last append',
    async run({ one, other, key }) {
      await one.log.append(`${key}:a`, [entry(7, 1)], retention)
      await other.log.delete(`${key}:a`)
      const gone = { entries: [], isComplete: true }
      expectEqual(await one.log.readAfter(`${key}:a`, undefined, 9), gone, 'a deleted log')
      await one.log.append(`${key}:b`, [entry(7, 1)], { ttlMs: 100, max: 10 })
      await eventually(
        async () => (await one.log.readAfter(`${key}:b`, undefined, 9)).entries.length === 0,
      )
      const { isComplete } = await one.log.readAfter(`${key}:b`, { epoch: 7, n: 1 }, 9)
      expectEqual(isComplete, false, 'whether nothing is missing behind a known position')
      await one.log.append(`${key}:b`, [entry(1, 1)], retention)
    },
  },
]
