import { limits } from '../../util/limits/limits.ts'
import {
  allNames,
  eventually,
  expectCode,
  expectEqual,
  expectThat,
  expectTypeError,
} from './expectations.ts'
import type { CaseDefinition } from './harness.ts'

const ttlMs = 60_000

/** Records without owners, times to live and sets. */
export const storeCases: readonly CaseDefinition[] = [
  {
    name: 'a text is stored exactly',
    async run({ one, other, key }) {
      const texts = ['', ' ', '0', '\0a\0', 'line\r\nline', '{"a":1}', 'äß€😀', 'x'.repeat(2 ** 20)]
      for (const [at, value] of texts.entries()) {
        const result = await one.store.swap(`${key}:${at}`, undefined, { value, ttlMs })
        expectEqual(result, { isDone: true, now: value }, 'the swap')
        const stored = await other.store.get(`${key}:${at}`)
        expectEqual(stored, { value, isFinal: false }, 'the stored record')
      }
    },
  },
  {
    name: 'several records are returned in the order of their keys',
    async run({ one, key }) {
      await one.store.swap(`${key}:a`, undefined, { value: 'A', ttlMs })
      await one.store.swap(`${key}:b`, undefined, { value: 'B', ttlMs })
      const found = await one.store.getAll([`${key}:b`, `${key}:none`, `${key}:a`])
      expectEqual(
        found.map(record => record?.value ?? null),
        ['B', null, 'A'],
        'the values',
      )
      expectEqual(await one.store.getAll([]), [], 'the records of no keys')
    },
  },
  {
    name: 'unusable input is refused, with the reason, before anything is sent',
    async run({ one, key }) {
      const { store } = one
      const large = 'x'.repeat(limits.clusterValueBytes.default + 1)
      await expectCode(store.swap(key, undefined, { value: large, ttlMs }), 'too-large')
      await expectCode(store.get('k'.repeat(limits.clusterKeyBytes.default + 1)), 'too-large')
      const owner = { node: 'n', epoch: 1 }
      await expectTypeError(() => store.get(''), 'an empty key')
      await expectTypeError(() => store.get('a\0b'), 'a key with NUL')
      await expectTypeError(
        () => store.swap(key, undefined, { value: '\ud800', ttlMs }),
        'a surrogate',
      )
      await expectTypeError(() => store.put(key, { value: '', ttlMs: 0 }, owner), 'no time to live')
      await expectTypeError(() => store.claim(key, undefined, 'a b'), 'a node with a space')
      await expectTypeError(
        () => store.put(key, { value: '', ttlMs }, { node: 'n', epoch: 0 }),
        'epoch 0',
      )
      expectEqual((await store.get(key)) ?? null, null, 'the record')
    },
  },
  {
    name: 'a swap is done only if the text has not changed',
    async run({ one, other, key }) {
      const write = (value: string) => ({ value, ttlMs })
      expectEqual(await one.store.swap(key, 'x', write('a')), { isDone: false }, 'without a record')
      await one.store.swap(key, undefined, write('a'))
      const refused = await other.store.swap(key, undefined, write('b'))
      expectEqual(refused, { isDone: false, now: 'a' }, 'a swap of nothing')
      const done = await other.store.swap(key, 'a', write('b'))
      expectEqual(done, { isDone: true, now: 'b' }, 'a swap of the present text')
      expectEqual(await one.store.delete(key), true, 'the first deletion')
      expectEqual(await one.store.delete(key), false, 'the second deletion')
    },
  },
  {
    name: 'swaps of many at once lose no change',
    async run({ one, other, key }) {
      await one.store.swap(key, undefined, { value: '0', ttlMs })
      const increase = async (at: number) => {
        const { store } = at % 2 === 0 ? one : other
        for (let before = '0'; ; ) {
          const value = `${Number(before) + 1}`
          const { isDone, now } = await store.swap(key, before, { value, ttlMs })
          if (isDone) return
          before = now ?? '0'
        }
      }
      await Promise.all(Array.from({ length: 20 }, (_, at) => increase(at)))
      expectEqual((await other.store.get(key))?.value, '20', 'the count')
    },
  },
  {
    name: 'a time to live never ends early, and ends',
    async run({ one, other, key }) {
      const started = performance.now()
      await one.store.swap(key, undefined, { value: 'a', ttlMs: 150 })
      await eventually(async () => (await other.store.get(key)) === undefined)
      const passedMs = performance.now() - started
      // A clock that counts whole milliseconds may be one off.
      expectThat(
        passedMs >= 149,
        `a record of 150 ms lives as long (it ended after ${passedMs} ms)`,
      )
      // The other one may know the time of the engine better.
      await eventually(async () => {
        const { isDone } = await one.store.swap(key, undefined, { value: 'b', ttlMs })
        return isDone
      })
    },
  },
  {
    name: 'touching extends a life and never shortens it',
    async run({ one, key }) {
      const { store } = one
      await store.swap(`${key}:long`, undefined, { value: 'a', ttlMs })
      await store.swap(`${key}:extended`, undefined, { value: 'b', ttlMs: 5000 })
      await store.touch([`${key}:long`, `${key}:none`], 1)
      await store.touch([`${key}:extended`], ttlMs)
      await store.swap(`${key}:short`, undefined, { value: 'c', ttlMs: 20 })
      await eventually(async () => (await store.get(`${key}:short`)) === undefined)
      const found = await store.getAll([`${key}:long`, `${key}:extended`, `${key}:none`])
      expectEqual(
        found.map(record => record?.value ?? null),
        ['a', 'b', null],
        'the values',
      )
    },
  },
  {
    name: 'a set lists its names in the order of their expiry',
    async run({ one, other, key }) {
      await one.store.add(key, 'late', 3 * ttlMs)
      await one.store.add(key, 'early', ttlMs)
      await other.store.add(key, 'middle', 2 * ttlMs)
      expectEqual(await allNames(one, key), ['early', 'middle', 'late'], 'the names')
      await one.store.add(key, 'early', 4 * ttlMs)
      await other.store.remove(key, 'late')
      await other.store.remove(key, 'none')
      expectEqual(await allNames(other, key), ['middle', 'early'], 'the names after changes')
      expectEqual(await allNames(one, `${key}:none`), [], 'the names of an empty set')
    },
  },
  {
    name: 'a full set refuses further names, until one expires',
    async run({ one, key }) {
      const { store } = one
      await store.add(key, 'a', ttlMs, 2)
      await store.add(key, 'b', 300, 2)
      await store.add(key, 'a', ttlMs, 2)
      await eventually(async () => {
        try {
          await store.add(key, 'c', ttlMs, 2)
          return true
        } catch (error) {
          await expectCode(Promise.reject(error), 'full')
          return false
        }
      })
      expectEqual(await allNames(one, key), ['a', 'c'], 'the names')
    },
  },
  {
    name: 'listing a set misses no name that is there all the time',
    async run({ one, other, key }) {
      const stable = Array.from(
        { length: limits.clusterPage.default + 200 },
        (_, at) => `stable-${at}`,
      )
      const passing = Array.from({ length: 300 }, (_, at) => `passing-${at}`)
      for (let at = 0; at < stable.length; at += 100) {
        const names = [...stable.slice(at, at + 100), ...passing.slice(at / 4, at / 4 + 25)]
        await Promise.all(names.map(name => one.store.add(key, name, ttlMs)))
      }
      const found = new Set<string>()
      for await (const page of one.store.names(key)) {
        expectThat(page.length <= limits.clusterPage.default, 'pages are bounded')
        for (const name of page) found.add(name)
        const gone = [...page.filter(name => name.startsWith('passing')), page.at(-1) ?? '']
        await Promise.all(
          gone
            .filter(name => !name.startsWith('stable'))
            .map(name => other.store.remove(key, name)),
        )
        await other.store.add(key, 'added meanwhile', 1000)
      }
      expectEqual(
        stable.filter(name => !found.has(name)),
        [],
        'the missing names',
      )
    },
  },
]
