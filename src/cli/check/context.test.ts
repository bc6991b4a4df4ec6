import { describe, expect, test } from 'vitest'
import { newest, revisions } from '../../mcp/revisions/revisions.ts'
import { limits } from '../../util/limits/limits.ts'
import { CheckContext, type CheckOptions, type EraState } from './context.ts'
import { ok } from './finding.ts'
import { CheckSession } from './session.ts'
import { IncomingQueue } from './wire/wire.ts'

const where = { kind: 'tcp', host: 'localhost', port: 1 } as const
const { signal } = new AbortController()
const context = (options: Partial<CheckOptions> = {}) =>
  new CheckContext({ where, signal, ...options })

function state(era: 'session' | 'stateless'): EraState {
  const revision = newest(era)
  if (revision === undefined) throw new Error('no revision')
  const wire = { incoming: new IncomingQueue(), send: async () => {}, close: async () => {} }
  const session = new CheckSession(wire, revision, 1)
  return { session, description: {}, capabilities: {}, lists: new Map() }
}

describe('the context of a check', () => {
  test('uses the limits unless options override them', () => {
    expect(context().timeoutMs).toBe(limits.checkReplyMs.default)
    expect(context().noReplyMs).toBe(limits.checkNoReplyMs.default)
    expect(context({ timeoutMs: 7 }).timeoutMs).toBe(7)
  })

  test('chooses the newest allowed revision of each era', () => {
    expect(context().revisionFor('session')).toBe(newest('session'))
    expect(context({ era: 'stateless' }).revisionFor('session')).toBeUndefined()
    expect(context({ revisions: revisions.slice(0, 1) }).revisionFor('session')).toBe(revisions[0])
    expect(context({ revisions: revisions.slice(0, 1) }).revisionFor('stateless')).toBeUndefined()
  })

  test('merges equal findings of both eras, and names the era of the others', async () => {
    const shared = context()
    shared.eras.push(state('session'), state('stateless'))
    const findings = await shared.inEachEra(async ({ session }) => [
      ok('same'),
      ok(`only ${session.era}`),
    ])
    expect(findings.map(({ message }) => message)).toEqual([
      'same',
      'session: only session',
      'stateless: only stateless',
    ])
  })

  test('does not name the era if there is only one', async () => {
    const shared = context()
    shared.eras.push(state('session'))
    expect(await shared.inEachEra(async () => [ok('it')])).toEqual([ok('it')])
  })

  test('drops closed eras, and blocks the remaining steps without any', () => {
    const shared = context()
    const [one, other] = [state('session'), state('stateless')]
    shared.eras.push(one, other)
    one.session.wire.incoming.close('dead')
    shared.dropClosedEras()
    expect([shared.eras, shared.blocked]).toEqual([[other], undefined])
    other.session.wire.incoming.close('dead')
    shared.dropClosedEras()
    expect([shared.eras, shared.blocked]).toEqual([[], 'the server is no longer connected'])
  })
})
