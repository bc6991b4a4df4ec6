import { expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { boundedVersionStore } from './version-cache.ts'

const version = { era: 'session', at: 0 } as const

test('the least recently stored entry is dropped first', () => {
  const store = boundedVersionStore(2)
  store.set('a', version)
  store.set('b', version)
  store.set('a', version)
  store.set('c', version)
  expect(['a', 'b', 'c'].map(name => store.get(name) !== undefined)).toEqual([true, false, true])
})

test('the number of entries is limited by default', () => {
  const store = boundedVersionStore()
  for (let i = 0; i <= limits.versionCacheEntries.default; i++) store.set(`${i}`, version)
  expect(store.get('0')).toBeUndefined()
  expect(store.get('1')).toBe(version)
})

test('an entry can be deleted', () => {
  const store = boundedVersionStore()
  store.set('a', version)
  store.delete('a')
  expect(store.get('a')).toBeUndefined()
})
