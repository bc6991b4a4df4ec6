import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import type { Attachment, Endpoint } from '../../src/mcp/endpoint.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import { events } from '../../src/observe/events.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits as named } from '../../src/util/limits/limits.ts'
import { until } from '../support/processes.ts'
import { caller, failureOf, routed } from './routed.ts'

const key = 'trunkline/timeoutMs'

/** A server that records the timeouts it receives, with tools that never answer or answer on demand. */
function behind(revision?: RevisionName) {
  const server = new Server(
    { name: 'behind', version: '1' },
    revision === undefined ? {} : { revisions: [revision] },
  )
  const received: unknown[] = []
  server.tool('tell', {}, (_, ctx) => {
    received.push(ctx.meta[key])
    return 'received'
  })
  server.tool('wait', {}, (_, ctx) => {
    received.push(ctx.meta[key])
    return new Promise<never>(() => {})
  })
  let finish = (): void => {}
  server.tool('hold', {}, () => {
    return new Promise<string>(resolve => {
      finish = () => resolve('done')
    })
  })
  return { server, received, finish: () => finish() }
}

function calling(client: Client, name: string, _meta: object = {}): Promise<unknown> {
  return client.request('tools/call', { name, arguments: {}, _meta })
}

describe('a server receives the time its caller still waits', () => {
  test.each(['2024-11-05', '2025-11-25', '2026-07-28'] as const)('in %s', async revision => {
    const { server, received } = behind(revision)
    const clock = fakeClock()
    const router = await routed({ it: { server, prefix: false } }, { clock })
    const client = await caller(router)
    await calling(client, 'tell', { [key]: 2000, own: 1 })
    expect(received).toEqual([2000])
  })

  test('through two routers, the second of which honors it', async () => {
    const { server, received } = behind()
    const inner = await routed({ it: { server, prefix: false, timeoutMs: 60_000 } })
    const outer = await routed({ inner: { server: inner, prefix: false, timeoutMs: 60_000 } })
    const client = await caller(outer)
    expect(await failureOf(calling(client, 'wait', { [key]: 50 }))).toMatchObject({ code: -32009 })
    const [left] = received
    expect(left).toSatisfy((ms: number) => Number.isInteger(ms) && ms > 0 && ms <= 50)
    await until(() => inner.server('it')?.instances[0]?.inFlight === 0)
    expect(inner.server('it')?.instances).toMatchObject([{ breaker: 'closed', errorRate: 0 }])
  })

  test.each([undefined, 'soon', -1, 0, Number.MAX_SAFE_INTEGER])(
    'but nothing where the caller gives no timeout, an invalid one, or one above the maximum: %s',
    async said => {
      const { server, received } = behind()
      const router = await routed({ it: { server, prefix: false } })
      const client = await caller(router)
      await calling(client, 'tell', { [key]: said })
      expect(received).toEqual([undefined])
    },
  )
})

describe('a queued call', () => {
  const limits = { concurrent: 1 }

  test('is refused when its timeout expires, and is never started', async () => {
    const { server, received } = behind()
    const clock = fakeClock()
    const router = await routed({ it: { server, prefix: false, limits } }, { clock })
    const refused: unknown[] = []
    const stop = events.limitRefused.subscribe(event => refused.push(event))
    const client = await caller(router)
    const first = failureOf(calling(client, 'wait'))
    const late = failureOf(calling(client, 'tell', { [key]: 1000 }))
    await until(() => received.length === 1)
    clock.advance(999)
    await Promise.resolve()
    clock.advance(1)
    expect(await late).toMatchObject({
      code: -32010,
      message: 'Too many calls at once',
      data: { limit: 'server', retryAfterMs: 1000 },
    })
    stop()
    expect(refused).toMatchObject([{ limit: 'server', server: 'it', tool: 'tell' }])
    expect(received).toEqual([undefined])
    await client.close()
    await first
  })

  test.each(['session', 'stateless'] as const)(
    'leaves the queue when a %s caller cancels it',
    async era => {
      const { server, received, finish } = behind()
      const queued = { ...limits, queue: 1 }
      const router = await routed({ it: { server, prefix: false, limits: queued } })
      const client = await caller(router, { era })
      const first = calling(client, 'hold')
      await until(() => router.server('it')?.instances[0]?.inFlight === 1)
      const giveUp = new AbortController()
      const { signal } = giveUp
      const second = failureOf(client.request('tools/call', { name: 'tell' }, { signal }))
      expect(await failureOf(calling(client, 'tell'))).toMatchObject({ code: -32010 })
      giveUp.abort(new Error('enough'))
      expect(await second).toMatchObject({ message: 'enough' })
      const third = calling(client, 'tell')
      finish()
      await Promise.all([first, third])
      expect(received).toEqual([undefined])
    },
  )

  test('has that much less time afterwards', async () => {
    const { server, received, finish } = behind()
    const clock = fakeClock()
    const router = await routed({ it: { server, prefix: false, limits } }, { clock })
    const client = await caller(router)
    const first = calling(client, 'hold')
    const second = calling(client, 'tell', { [key]: 1000 })
    await until(() => router.server('it')?.instances[0]?.inFlight === 1)
    clock.advance(300)
    finish()
    await first
    await second
    expect(received).toEqual([700])
  })

  test('does not wait longer for a starting server than its caller waits', async () => {
    const { server, received } = behind()
    const channels: Channel[] = []
    const endpoint: Endpoint = {
      profile: server.profile,
      revisions: server.revisions,
      handle: server.handle,
      attach: (channel, envelope) => {
        channels.push(channel)
        // Later connections get no response.
        return channels.length === 1 ? server.attach(channel, envelope) : silentAttachment
      },
    }
    const clock = fakeClock()
    const router = await routed({ it: { server: endpoint, prefix: false } }, { clock })
    const client = await caller(router)
    await channels[0]?.close()
    const state = () => router.server('it')?.instances[0]?.state
    await until(() => {
      clock.advance(named.restartMinMs.default / 10)
      return state() === 'starting'
    })
    const pending = clock.pending
    const refused = failureOf(calling(client, 'tell', { [key]: 50 }))
    await until(() => clock.pending > pending)
    clock.advance(50)
    expect(await refused).toMatchObject({ code: -32000, data: { server: 'it' } })
    expect(received).toEqual([])
  })
})

const silentAttachment: Attachment = {
  closed: new Promise(() => {}),
  close: async () => {},
  [Symbol.asyncDispose]: async () => {},
}
