import { expect, test } from 'vitest'
import { frozen } from '../util/frozen.ts'
import { statelessCaller } from './caller.ts'
import { metaKeys } from './meta.ts'
import { revisions } from './revisions/revisions.ts'

const refuse = (requested: string): never => {
  throw new Error(`no ${requested}`)
}

const params = {
  _meta: frozen({ [metaKeys.protocolVersion]: '2026-07-28', [metaKeys.clientCapabilities]: {} }),
}

test('whoever says the same again is the same caller, for the same principal and server', () => {
  const served = [...revisions]
  const first = statelessCaller(params, undefined, served, refuse)
  expect(first).toMatchObject({ revision: { name: '2026-07-28' }, capabilities: {} })
  expect(statelessCaller({ ...params }, undefined, served, refuse)).toBe(first)
  const principal = { id: 'somebody' }
  const known = statelessCaller(params, principal, served, refuse)
  expect(known).toMatchObject({ principal })
  expect(statelessCaller(params, principal, served, refuse)).toBe(known)
  expect(statelessCaller(params, undefined, served, refuse)).not.toBe(known)
})

test('a server that does not speak the revision of a caller that is known refuses it', () => {
  statelessCaller(params, undefined, revisions, refuse)
  const others = revisions.filter(({ era }) => era === 'session')
  expect(() => statelessCaller(params, undefined, others, refuse)).toThrow(/^no /)
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

test('a request that says nothing of itself has no such caller', () => {
  expect(statelessCaller({}, undefined, revisions, refuse)).toBeUndefined()
  expect(statelessCaller(undefined, undefined, revisions, refuse)).toBeUndefined()
})
