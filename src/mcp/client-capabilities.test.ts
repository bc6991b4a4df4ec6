import { describe, expect, test } from 'vitest'
import { allServerRequests, serverRequestsIn } from './client-capabilities.ts'
import { revisionNamed } from './revisions/revisions.ts'

function converted(name: string, declared: Parameters<typeof serverRequestsIn>[1]): object {
  const revision = revisionNamed(name)
  if (revision === undefined) throw new Error(`no revision ${name}`)
  return serverRequestsIn(revision, declared)
}

describe('everything that a client can declare', () => {
  test.each([
    ['2024-11-05', { sampling: {}, roots: { listChanged: true } }],
    ['2025-06-18', { sampling: {}, elicitation: {}, roots: { listChanged: true } }],
    ['2025-11-25', allServerRequests],
    ['2026-07-28', { ...allServerRequests, roots: {} }],
  ])('in %s', (name, expected) => {
    expect(converted(name, allServerRequests)).toEqual(expected)
  })
})

test('an empty elicitation capability means forms', () => {
  expect(converted('2025-11-25', { elicitation: {} })).toEqual({ elicitation: { form: {} } })
})

test('a client that only visits URLs does not declare elicitation where there are only forms', () => {
  const declared = { elicitation: { url: {} } }
  expect(converted('2025-06-18', declared)).toEqual({})
  expect(converted('2025-11-25', declared)).toEqual(declared)
})

test('a capability that is not an object is not declared', () => {
  const declared = { roots: true, sampling: null, elicitation: [] } as never
  expect(converted('2025-11-25', declared)).toEqual({})
})
