import { expect, test } from 'vitest'
import { deepFreeze } from '../util/objects.ts'
import { statelessCaller } from './caller.ts'
import { metaKeys } from './meta.ts'
import { revisions } from './revisions/revisions.ts'

const refuse = (requested: string): never => {
  throw new Error(`no ${requested}`)
}

const params = {
  _meta: deepFreeze({
    [metaKeys.protocolVersion]: '2026-07-28',
    [metaKeys.clientCapabilities]: {},
  }),
}

test('the same _meta gives the same caller, for the same principal and server', () => {
  const served = [...revisions]
  const first = statelessCaller(params, undefined, served, refuse)
  expect(first).toMatchObject({ revision: { name: '2026-07-28' }, capabilities: {} })
  expect(statelessCaller({ ...params }, undefined, served, refuse)).toBe(first)
  const principal = { id: 'someone' }
  const known = statelessCaller(params, principal, served, refuse)
  expect(known).toMatchObject({ principal })
  expect(statelessCaller(params, principal, served, refuse)).toBe(known)
  expect(statelessCaller(params, undefined, served, refuse)).not.toBe(known)
})

test('a server rejects a cached caller whose revision it does not serve', () => {
  statelessCaller(params, undefined, revisions, refuse)
  const others = revisions.map(one =>
    one.era === 'stateless' ? { ...one, name: '2027-01-01' } : one,
  )
  expect(() => statelessCaller(params, undefined, others, refuse)).toThrow(/^no /)
})

test('a server without stateless revisions treats every request as one of a session', () => {
  statelessCaller(params, undefined, revisions, refuse)
  const sessions = revisions.filter(({ era }) => era === 'session')
  expect(statelessCaller(params, undefined, sessions, refuse)).toBeUndefined()
})

const named = { [metaKeys.clientInfo]: { name: 'a', version: '1' } }

test.each([
  ['may change', { ...params._meta }],
  [
    'has capabilities that may change',
    Object.freeze({ ...params._meta, [metaKeys.clientCapabilities]: {} }),
  ],
  ['names a client that may change', Object.freeze({ ...params._meta, ...named })],
])('what %s is read anew each time', (_, meta) => {
  const first = statelessCaller({ _meta: meta }, undefined, revisions, refuse)
  expect(first).toMatchObject({ revision: { name: '2026-07-28' } })
  expect(statelessCaller({ _meta: meta }, undefined, revisions, refuse)).not.toBe(first)
})

test('a request without metadata has no stateless caller', () => {
  expect(statelessCaller({}, undefined, revisions, refuse)).toBeUndefined()
  expect(statelessCaller(undefined, undefined, revisions, refuse)).toBeUndefined()
})
