import { expect, test } from 'vitest'
import {
  changedList,
  listChangedMethods,
  listFilter,
  listFilterMembers,
  listKinds,
  listMethods,
} from './list-changes.ts'

test('the lists of a server are those with a change notification from the server', () => {
  expect(listKinds).toEqual(['tools', 'prompts', 'resources'])
})

test.each(listKinds)('the notification and the filter member of %s are named after it', kind => {
  expect(listChangedMethods[kind]).toBe(`notifications/${kind}/list_changed`)
  expect(changedList(listChangedMethods[kind])).toBe(kind)
  expect(listFilterMembers[kind]).toBe(`${kind}ListChanged`)
  expect(listFilter(one => one === kind)).toEqual({ [`${kind}ListChanged`]: true })
})

test('a change of roots is none of a list of the server', () => {
  expect(changedList('notifications/roots/list_changed')).toBeUndefined()
  expect(changedList('constructor')).toBeUndefined()
})

test('templates and skills change with the resources', () => {
  expect(listMethods).toEqual({
    tools: ['tools/list'],
    prompts: ['prompts/list'],
    resources: ['resources/list', 'resources/templates/list', 'skills/list', 'skills/get'],
  })
})
