import { describe, expect, test } from 'vitest'
import { newest, revisions } from '../../mcp/revisions/revisions.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Known, Probe, type ProbeOptions } from './context.ts'
import { ok } from './finding.ts'
import { Talk } from './session.ts'
import { Inbox } from './wire.ts'

const where = { kind: 'tcp', host: 'localhost', port: 1 } as const
const { signal } = new AbortController()
const probe = (options: Partial<ProbeOptions> = {}) => new Probe({ where, signal, ...options })

function known(era: 'session' | 'stateless'): Known {
  const revision = newest(era)
  if (revision === undefined) throw new Error('no revision')
  const wire = { inbox: new Inbox(), send: async () => {}, close: async () => {} }
  const talk = new Talk(wire, revision, 1)
  return { talk, description: {}, capabilities: {}, lists: new Map() }
}

describe('what the steps of a check share', () => {
  test('has the limits of the product, unless it is told otherwise', () => {
    expect(probe().timeoutMs).toBe(limits.checkReplyMs.default)
    expect(probe().silenceMs).toBe(limits.checkSilenceMs.default)
    expect(probe({ timeoutMs: 7 }).timeoutMs).toBe(7)
  })

  test('knows which revision to begin with in each era', () => {
    expect(probe().wanted('session')).toBe(newest('session'))
    expect(probe({ era: 'stateless' }).wanted('session')).toBeUndefined()
    expect(probe({ revisions: revisions.slice(0, 1) }).wanted('session')).toBe(revisions[0])
    expect(probe({ revisions: revisions.slice(0, 1) }).wanted('stateless')).toBeUndefined()
  })

  test('tells once what is the same in both eras, and names the era of the rest', async () => {
    const shared = probe()
    shared.known.push(known('session'), known('stateless'))
    const findings = await shared.inEach(async ({ talk }) => [ok('same'), ok(`only ${talk.era}`)])
    expect(findings.map(({ saw }) => saw)).toEqual([
      'same',
      'session: only session',
      'stateless: only stateless',
    ])
  })

  test('does not name the era where there is but one', async () => {
    const shared = probe()
    shared.known.push(known('session'))
    expect(await shared.inEach(async () => [ok('it')])).toEqual([ok('it')])
  })

  test('goes on with what is left of a server, and with nothing once all is gone', () => {
    const shared = probe()
    const [one, other] = [known('session'), known('stateless')]
    shared.known.push(one, other)
    one.talk.wire.inbox.end('dead')
    shared.forgetLost()
    expect([shared.known, shared.blocked]).toEqual([[other], undefined])
    other.talk.wire.inbox.end('dead')
    shared.forgetLost()
    expect([shared.known, shared.blocked]).toEqual([[], 'the server is gone'])
  })
})
