import { expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { PrincipalLists } from './principal-lists.ts'

const lists = { tools: [] }
const [server, other] = [{}, {}]

test('lists are those of one principal, server and kind', () => {
  const all = new PrincipalLists()
  all.set({ id: 'ada', scopes: ['read'] }, server, 'tools', lists)
  expect(all.get({ id: 'ada', scopes: ['read'] }, server, 'tools')).toBe(lists)
  expect(all.get({ id: 'ada', scopes: ['read', 'write'] }, server, 'tools')).toBeUndefined()
  expect(all.get({ id: 'bob', scopes: ['read'] }, server, 'tools')).toBeUndefined()
  expect(all.get({ id: 'ada', scopes: ['read'] }, other, 'tools')).toBeUndefined()
  expect(all.get({ id: 'ada', scopes: ['read'] }, server, 'prompts')).toBeUndefined()
})

test('lists are read again after a minute, and the oldest are dropped at the limit', () => {
  let now = 0
  const all = new PrincipalLists(() => now, 2)
  for (const id of ['a', 'b', 'a', 'c']) all.set({ id }, server, 'tools', lists)
  const known = () => ['a', 'b', 'c'].filter(id => all.get({ id }, server, 'tools') !== undefined)
  expect(known()).toEqual(['a', 'c'])
  now = limits.principalListsMs.default
  expect(known()).toEqual([])
})
