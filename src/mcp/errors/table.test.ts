import { expect, test } from 'vitest'
import { categories, errorEntryOf, errorTable } from './table.ts'

const entries = [...errorTable.values()]

test('the error table has 122 kinds, each with a unique code and name', () => {
  expect(entries).toHaveLength(122)
  expect(new Set(entries.map(entry => entry.code)).size).toBe(122)
  expect(new Set(entries.map(entry => entry.kind)).size).toBe(122)
})

test('every kind has a name in snake case, a message, a category and distinct data members', () => {
  for (const { kind, message, category, data } of entries) {
    expect(kind).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(message).toMatch(/^[A-Z]/)
    expect(categories).toContain(category)
    expect(new Set(data).size).toBe(data.length)
  }
})

test('every category has kinds', () => {
  expect(new Set(entries.map(entry => entry.category))).toEqual(new Set(categories))
})

test('only what makes a message unusable or breaks the server is critical', () => {
  const critical = entries.filter(entry => entry.severity === 'critical')
  expect(critical.map(entry => entry.code)).toEqual([-32700, -32600, -32603])
})

test('kinds after pagination are warnings, the others errors', () => {
  const mild = new Set(['task', 'progress', 'completion', 'elicitation'])
  for (const { category, severity } of entries) {
    if (severity !== 'critical') expect(severity).toBe(mild.has(category) ? 'warning' : 'error')
  }
})

test('a code identifies its kind, and other codes identify none', () => {
  for (const entry of entries) expect(errorEntryOf(entry.code)).toBe(entry)
  for (const code of [0, -1, -32041, -32100, -32105, 1089, 1100]) {
    expect(errorEntryOf(code)).toBeUndefined()
  }
})

test('inherited names of objects are not kinds', () => {
  expect(errorTable.get('constructor')).toBeUndefined()
  expect(errorTable.get('__proto__')).toBeUndefined()
})
