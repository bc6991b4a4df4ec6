import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { redisProgram, redisServer } from '../../scripts/redis-server.js'
import { eventData } from './event-data.ts'
import { Fleet } from './fleet.ts'
import { callTool, listenTo, openSession, send } from './raw-session.ts'

const pidOf = async (address: string, session: string): Promise<string | undefined> =>
  (await callTool(address, session, 'pid')).message.result?.content?.[0]?.text

if (redisProgram === undefined) {
  test('redis-server is not installed, so no node of a cluster was killed', () => {})
} else {
  const engine = await redisServer()
  afterAll(() => engine.close())
  let fleet: Fleet | undefined

  afterEach(async () => {
    await fleet?.[Symbol.asyncDispose]()
    fleet = undefined
  })

  async function threeNodes() {
    fleet = new Fleet(`redis://127.0.0.1:${engine.port}`)
    const [a, b, c] = await fleet.start(3)
    if (a === undefined || b === undefined || c === undefined) throw new Error('a node is missing')
    return { fleet, a, b, c }
  }

  /** Waits until an id stands in the ledger. */
  async function writtenTo(of: Fleet, id: string): Promise<void> {
    await expect.poll(() => of.written().has(id)).toBe(true)
  }

  describe('a node that is killed', () => {
    test('leaves its sessions to the others', async () => {
      const { fleet, a, b, c } = await threeNodes()
      const sessions = await Promise.all(Array.from({ length: 20 }, () => openSession(a.address)))
      await fleet.kill(a)
      for (const session of sessions) {
        const pid = await pidOf(b.address, session)
        expect([String(b.child.pid), String(c.child.pid)]).toContain(pid)
        expect(await pidOf(c.address, session)).toBe(pid)
      }
    })

    test('leaves the outcome of a call unknown, which is not executed again', async () => {
      const { fleet, a, b } = await threeNodes()
      const session = await openSession(a.address)
      const call = callTool(b.address, session, 'held', { id: 'one' })
      await writtenTo(fleet, 'one')
      await fleet.kill(a)
      const { status, message } = await call
      expect([status, message.error?.data?.outcome]).toEqual([200, 'unknown'])
      expect(await pidOf(b.address, session)).toBeDefined()
      expect(fleet.written().get('one')).toBe(1)
    })

    test('ends the stream of a call with an unknown outcome, on the same connection', async () => {
      const { fleet, a, b } = await threeNodes()
      const session = await openSession(a.address)
      const response = await send(b.address, session, {
        jsonrpc: '2.0',
        id: 'x',
        method: 'tools/call',
        params: { name: 'steps', arguments: { id: 'two' }, _meta: { progressToken: 1 } },
      })
      const received: { method?: string; id?: string; error?: { data?: unknown } }[] = []
      for await (const data of eventData(response)) {
        received.push(JSON.parse(data))
        // Not before the progress has arrived, which a killed node may not have sent yet.
        if (received.length === 1) await fleet.kill(a)
      }
      expect(received).toMatchObject([
        { method: 'notifications/progress' },
        { id: 'x', error: { data: { outcome: 'unknown' } } },
      ])
    })

    test('does not end the standalone stream of a client at another node', async () => {
      const { fleet, a, b } = await threeNodes()
      const session = await openSession(a.address)
      const stream = eventData(await listenTo(b.address, session))
      await fleet.kill(a)
      await callTool(b.address, session, 'change')
      for await (const data of stream) {
        expect(JSON.parse(data).method).toMatch(/list_changed$/)
        break
      }
    })
  })

  test('a node that stops in good order hands its sessions to the others, and loses no call', async () => {
    const { fleet, a, b, c } = await threeNodes()
    const sessions = await Promise.all(Array.from({ length: 20 }, () => openSession(a.address)))
    let isStopping = true
    const stopping = fleet.stop(a).finally(() => {
      isStopping = false
    })
    const statuses = new Set<number>()
    for (let round = 0; isStopping || round < 3; round++) {
      const calls = sessions.map(session =>
        callTool(round % 2 === 0 ? b.address : c.address, session, 'pid'),
      )
      for (const { status, message } of await Promise.all(calls)) {
        statuses.add(status)
        expect(message.error).toBeUndefined()
      }
    }
    await stopping
    expect([...statuses]).toEqual([200])
  })

  describe('an engine that', () => {
    test('is stopped does not hinder sessions', async () => {
      const { a, b } = await threeNodes()
      const session = await openSession(a.address)
      // Once the engine is stopped, no node can learn of another one.
      expect(await pidOf(b.address, session)).toBe(String(a.child.pid))
      engine.pause()
      try {
        for (let count = 0; count < 20; count++) {
          expect(await pidOf(b.address, session)).toBe(String(a.child.pid))
        }
      } finally {
        engine.resume()
      }
    })

    test('was emptied gets the sessions again', async () => {
      const { fleet, a, b, c } = await threeNodes()
      const sessions = await Promise.all(Array.from({ length: 20 }, () => openSession(a.address)))
      await engine.kill()
      await engine.restart({ isEmpty: true })
      for (const session of sessions)
        expect(await pidOf(b.address, session)).toBe(String(a.child.pid))
      // A node that joins now finds sessions by their records alone.
      const [d] = await fleet.start(1)
      await fleet.kill(a)
      for (const session of sessions) {
        const pid = await pidOf(d?.address ?? '', session)
        expect([b, c, d].map(node => String(node?.child.pid))).toContain(pid)
      }
    })
  })
}
