import { afterEach, describe, expect, test } from 'vitest'
import { memory } from '../../backplane/memory/memory.ts'
import {
  SessionMoveError,
  type SessionMoveErrorCode,
} from '../../http/server/sessions/moving/session-move-error.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { PeerNodes } from '../members/peer-nodes.ts'
import { Adoption } from './adoption.ts'
import { newNodeId, newSessionId } from './session-ids.ts'
import { ownedSetOf, sessionKey, storedSessionText } from './stored-session.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** A node at `/mcp`, and a session of a node that is gone. */
async function setUp(path: string) {
  const backplane = memory()
  open.push(backplane)
  await backplane.open()
  const [node, owner] = [newNodeId(), newNodeId()]
  const session = newSessionId(owner)
  const key = sessionKey(session)
  const value = storedSessionText({ address: '', path, record: { id: session } })
  await backplane.store.claim(key, undefined, owner, { value, ttlMs: 60_000 })
  await backplane.store.add(ownedSetOf(owner), session, 60_000)
  const restored: string[] = []
  const probes = { count: 0 }
  const fault: { code: SessionMoveErrorCode | undefined } = { code: undefined }
  const adoption = new Adoption({
    node,
    backplane,
    path: '/mcp',
    clock: fakeClock(),
    members: new PeerNodes(node, 10_000),
    authority: { mayAct: true, mayAdopt: true },
    links: {
      probe: async () => {
        probes.count++
        return 'refuses'
      },
      request: async () => '',
    },
    has: () => false,
    restore: id => {
      if (fault.code !== undefined) throw new SessionMoveError(fault.code, 'no')
      restored.push(id)
    },
  })
  const departed = {
    node: owner,
    name: '',
    address: '',
    path,
    version: '',
    state: 'up' as const,
    startedAt: '',
  }
  const stored = () => backplane.store.get(key)
  return { node, session, departed, adoption, restored, fault, stored, probes }
}

describe('Adoption', () => {
  test('continues the sessions of a node that is gone', async () => {
    const { adoption, departed, restored, session, stored, node } = await setUp('/mcp')
    expect(await adoption.adoptShareOf(departed)).toEqual({ sessions: 1, remaining: 0 })
    expect(restored).toEqual([session])
    expect((await stored())?.owner?.node).toBe(node)
  })

  test('leaves the sessions of another path to the nodes that serve it', async () => {
    const { adoption, departed, restored, stored } = await setUp('/other')
    expect(await adoption.adoptShareOf(departed)).toEqual({ sessions: 0, remaining: 0 })
    expect(restored).toEqual([])
    expect((await stored())?.owner?.node).toBe(departed.node)
  })

  test.each(['full', 'closing'] as const)('keeps a session while this node is %s', async code => {
    const { adoption, departed, restored, session, fault } = await setUp('/mcp')
    fault.code = code
    expect(await adoption.adopt(session, departed)).toEqual({ at: 'unknown' })
    fault.code = undefined
    expect(await adoption.take(session)).toEqual({ at: 'here' })
    expect(restored).toEqual([session])
  })

  test('finds out once whether a process has ended', async () => {
    const { adoption, departed, probes } = await setUp('/mcp')
    const sessions = Array.from({ length: 100 }, () => newSessionId(departed.node))
    await Promise.all(sessions.map(session => adoption.adopt(session, departed)))
    await adoption.adopt(newSessionId(departed.node), departed)
    expect(probes.count).toBe(1)
  })

  test('ends a session that no node can continue', async () => {
    const { adoption, departed, session, fault, stored } = await setUp('/mcp')
    fault.code = 'invalid'
    expect(await adoption.adopt(session, departed)).toEqual({ at: 'nowhere' })
    expect(await stored()).toBeUndefined()
  })
})
