import { afterEach, describe, expect, test } from 'vitest'
import { memory } from '../../backplane/memory/memory.ts'
import {
  SessionMoveError,
  type SessionMoveErrorCode,
} from '../../http/server/sessions/moving/session-move-error.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { factsText } from '../members/peer-node.ts'
import { PeerNodes } from '../members/peer-nodes.ts'
import { Handoff, takeQuestion } from './handoff.ts'
import { newNodeId, newSessionId } from './session-ids.ts'
import { sessionKey } from './stored-session.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** A node that drains, with one session, and another node at a path. */
async function setUp(successorPath: string, code?: SessionMoveErrorCode) {
  const backplane = memory()
  open.push(backplane)
  await backplane.open()
  const [node, successor] = [newNodeId(), newNodeId()]
  const session = newSessionId(node)
  const write = { value: '{}', ttlMs: 60_000 }
  await backplane.store.claim(sessionKey(session), undefined, node, write)
  const members = new PeerNodes(node, 10_000)
  const facts = { name: '', address: '', version: '', state: 'up' as const, startedAt: '' }
  const changed = [
    {
      node: successor,
      facts: factsText({ ...facts, path: successorPath }),
      isAlive: true,
      silentMs: 0,
    },
  ]
  members.apply({ changed, isComplete: true }, 0)
  const owned = new Set([session])
  const fault = { code }
  const questions: string[] = []
  const clock = fakeClock()
  const handoff = new Handoff({
    node,
    path: '/mcp',
    store: backplane.store,
    members,
    clock,
    links: {
      request: async (_peer, question) => {
        questions.push(question)
        return 'here'
      },
    },
    finder: { movedTo: () => {} },
    owned: {
      get size() {
        return owned.size
      },
      get ids() {
        return owned.keys()
      },
      release: () => {
        if (fault.code !== undefined) throw new SessionMoveError(fault.code, 'no')
      },
      settled: async () => {},
      forget: id => void owned.delete(id),
    },
  })
  const owner = async () => (await backplane.store.get(sessionKey(session)))?.owner?.node
  return { node, successor, session, handoff, questions, clock, fault, owner }
}

describe('Handoff', () => {
  test('hands a session to another node of the same path', async () => {
    const { handoff, session, successor, questions, owner } = await setUp('/mcp')
    expect(await handoff.handOffAll(1000)).toBe(0)
    expect(questions).toEqual([takeQuestion + session])
    expect(await owner()).toBe(successor)
    expect(handoff.isMoving(session)).toBe(false)
  })

  test('hands nothing to a node that serves another path', async () => {
    const { handoff, questions, node, owner } = await setUp('/other')
    expect(await handoff.handOffAll(1000)).toBe(0)
    expect(questions).toEqual([])
    expect(await owner()).toBe(node)
  })

  test('waits for requests in flight', async () => {
    const { handoff, clock, fault, successor, owner } = await setUp('/mcp', 'busy')
    const done = handoff.handOffAll(1000)
    await expect.poll(() => clock.pending).toBe(1)
    fault.code = undefined
    clock.advance(limits.forwardRetryMs.default)
    expect(await done).toBe(0)
    expect(await owner()).toBe(successor)
  })

  test('does not wait for a session that cannot move', async () => {
    const { handoff, clock, node, owner } = await setUp('/mcp', 'bound')
    expect(await handoff.handOffAll(1000)).toBe(1)
    expect(clock.pending).toBe(0)
    expect(await owner()).toBe(node)
  })

  test('waits no longer than it may', async () => {
    const { handoff, clock } = await setUp('/mcp', 'busy')
    const done = handoff.handOffAll(limits.forwardRetryMs.default)
    await expect.poll(() => clock.pending).toBe(1)
    clock.advance(limits.forwardRetryMs.default)
    expect(await done).toBe(1)
  })
})
