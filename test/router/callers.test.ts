import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { connect, RpcError, Server } from '../../src/index.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import { Router } from '../../src/router/index.ts'
import { limits } from '../../src/util/limits/limits.ts'

const sharings = ['compatible', 'shared', 'per-caller'] as const
const eras = ['session', 'stateless'] as const
const pairs = eras.flatMap(a => eras.map(b => [a, b] as const))
const form = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
} as const

/** A server whose tool logs, reports progress and elicits once `together` calls have arrived. */
function talker(revision: RevisionName, together: number): Server {
  const server = new Server(
    { name: 'talker', version: '1.0.0' },
    { revisions: [revision], onError: () => {} },
  )
  const here = new Set<string>()
  let all: () => void = () => {}
  const whenAll = new Promise<void>(resolve => (all = resolve))
  const input = { type: 'object', properties: { who: { type: 'string' } } } as const
  server.tool('talk', { input }, async ({ who = '' }, ctx) => {
    here.add(who)
    if (here.size >= together) all()
    await whenAll
    ctx.log('error', `log of ${who}`)
    ctx.progress(1, 2, `step of ${who}`)
    const { name } = await ctx.elicit({ message: `who is ${who}?`, schema: form })
    ctx.progress(2, 2, `step of ${who}`)
    ctx.log('error', `log of ${who}`)
    return `${who} is ${name}`
  })
  return server
}

/** A caller and everything it received. */
async function caller(router: Router, who: string, era: (typeof eras)[number], gate?: Gate) {
  const received: string[] = []
  const client = await connect(router, {
    era,
    elicit: async ({ message }) => {
      received.push(message)
      gate?.asked()
      await gate?.opened
      return { action: 'accept', content: { name: `${who} herself` } }
    },
    onLog: ({ data }) => received.push(String(data)),
    onError: () => {},
  })
  await client.setLogLevel('debug')
  const talk = () =>
    client.call('x__talk', { who }, { onProgress: step => received.push(step.message ?? '') })
  return { client, received, talk }
}

/** Delays the response to a server request until the gate opens. */
class Gate {
  asked: () => void = () => {}
  open: () => void = () => {}
  readonly isAsked = new Promise<void>(resolve => (this.asked = resolve))
  readonly opened = new Promise<void>(resolve => (this.open = resolve))
}

async function closing(clients: readonly Client[]): Promise<void> {
  for (const client of clients) await client.close()
}

describe.each(sharings)('two concurrent callers with "%s" connections', connections => {
  test.each(pairs)(
    'receive only their own messages from a stateless server: a %s and a %s',
    async (first, second) => {
      const server = talker('2026-07-28', 2)
      await using router = new Router({ servers: { x: { server, connections } } })
      const ada = await caller(router, 'ada', first)
      const bob = await caller(router, 'bob', second)
      const said = await Promise.all([ada.talk(), bob.talk()])
      expect(said.map(({ text }) => text)).toEqual(['ada is ada herself', 'bob is bob herself'])
      for (const [who, { received }] of [
        ['ada', ada],
        ['bob', bob],
      ] as const) {
        expect(received).toContain(`who is ${who}?`)
        expect(received).toContain(`step of ${who}`)
        // Log messages on a shared pipe cannot be attributed while two calls are in flight: none is forwarded.
        expect(received.filter(words => !words.includes(who))).toEqual([])
      }
      await closing([ada.client, bob.client])
    },
  )

  test.each(pairs)(
    'receive nothing meant for each other from a session server: a %s and a %s',
    async (first, second) => {
      const server = talker('2025-11-25', 2)
      await using router = new Router({
        servers: { x: { server, connections } },
        attributionTimeoutMs: 50,
      })
      const ada = await caller(router, 'ada', first)
      const bob = await caller(router, 'bob', second)
      const said = await Promise.allSettled([ada.talk(), bob.talk()])
      for (const [who, { received }] of [
        ['ada', ada],
        ['bob', bob],
      ] as const) {
        // Progress is always attributed by its token.
        expect(received).toContain(`step of ${who}`)
        expect(received.filter(words => !words.includes(who))).toEqual([])
      }
      if (connections === 'per-caller') {
        const texts = said.map(one => (one.status === 'fulfilled' ? one.value.text : one.reason))
        expect(texts).toEqual(['ada is ada herself', 'bob is bob herself'])
        expect(ada.received).toContain('log of ada')
      } else {
        // Both calls wait for a response, so neither server request can be attributed: neither is sent to the
        // wrong caller, and the failure of one call says nothing about the request of the other.
        const reasons = said.map(one => (one.status === 'rejected' ? one.reason : undefined))
        for (const reason of reasons) {
          expect(reason).toBeInstanceOf(RpcError)
          expect(reason.kind).toBe('capability_not_supported')
          expect(reason.message).toContain('it could belong to calls of several callers')
          expect(reason.message).toContain('"connections": "per-caller"')
        }
        expect([...ada.received, ...bob.received].filter(words => words.startsWith('who'))).toEqual(
          [],
        )
      }
      await closing([ada.client, bob.client])
    },
  )

  test.each(pairs)(
    'are sent server requests one after the other by a session server: a slow %s and a %s',
    async (first, second) => {
      const server = talker('2025-11-25', 1)
      await using router = new Router({ servers: { x: { server, connections } } })
      const gate = new Gate()
      const ada = await caller(router, 'ada', first, gate)
      const bob = await caller(router, 'bob', second)
      const asked = ada.talk()
      await gate.isAsked
      const other = bob.talk()
      // A caller with an open server request owns the connection where the router can open another one;
      // otherwise server requests that arrive meanwhile wait.
      if (connections === 'shared') await expect.poll(() => bob.received).toContain('step of bob')
      else expect(await other).toMatchObject({ text: 'bob is bob herself' })
      gate.open()
      expect((await asked).text).toBe('ada is ada herself')
      expect((await other).text).toBe('bob is bob herself')
      for (const [who, { received }] of [
        ['ada', ada],
        ['bob', bob],
      ] as const) {
        expect(received.filter(words => !words.includes(who))).toEqual([])
      }
      await closing([ada.client, bob.client])
    },
  )
})

test('callers share a connection at the connection limit, and requests that stay ambiguous are refused', async () => {
  const server = talker('2025-11-25', 1)
  server.tool('plain', {}, () => 'as ever')
  await using router = new Router({ servers: { x: server }, attributionTimeoutMs: 50 })
  const gates = Array.from({ length: limits.upstreamConnections.default }, () => new Gate())
  const asked: Promise<unknown>[] = []
  const clients: Client[] = []
  for (const [index, gate] of gates.entries()) {
    const { client, talk } = await caller(router, `caller ${index}`, 'stateless', gate)
    clients.push(client)
    asked.push(talk())
    await gate.isAsked
  }
  const late = await caller(router, 'late', 'stateless')
  expect((await late.client.call('x__plain')).text).toBe('as ever')
  await expect(late.talk()).rejects.toMatchObject({ kind: 'capability_not_supported' })
  for (const gate of gates) gate.open()
  const said = (await Promise.all(asked)) as { readonly text: string }[]
  expect(said.map(({ text }) => text)).toEqual(
    gates.map((_, index) => `caller ${index} is caller ${index} herself`),
  )
  expect((await late.talk()).text).toBe('late is late herself')
  await closing([...clients, late.client])
})
