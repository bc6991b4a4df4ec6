import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import type { Attachment, Endpoint } from '../../src/mcp/endpoint.ts'
import { events } from '../../src/observe/events.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits as named } from '../../src/util/limits/limits.ts'
import { until } from '../support/processes.ts'
import { caller, failureOf, routed } from './routed.ts'

const key = 'trunkline/timeoutMs'

/** A server that keeps what it was told of time, and tools that do not answer, or when they are told to. */
function behind(revision?: string) {
  const server = new Server(
    { name: 'behind', version: '1' },
    revision === undefined ? {} : { revisions: [revision] },
  )
  const told: unknown[] = []
  server.tool('tell', {}, (_, ctx) => {
    told.push(ctx.meta[key])
    return 'told'
  })
  server.tool('wait', {}, (_, ctx) => {
    told.push(ctx.meta[key])
    return new Promise<never>(() => {})
  })
  let finish = (): void => {}
  server.tool('hold', {}, () => {
    return new Promise<string>(resolve => {
      finish = () => resolve('done')
    })
  })
  return { server, told, finish: () => finish() }
}

function calling(client: Client, name: string, _meta: object = {}): Promise<unknown> {
  return client.request('tools/call', { name, arguments: {}, _meta })
}

describe('a server is told how long its caller still waits', () => {
  test.each(['2024-11-05', '2025-11-25', '2026-07-28'])('in %s', async revision => {
    const { server, told } = behind(revision)
    const clock = fakeClock()
    const router = await routed({ it: { server, prefix: false } }, { clock })
    const client = await caller(router)
    await calling(client, 'tell', { [key]: 2000, own: 1 })
    expect(told).toEqual([2000])
  })

  test('through two routers, the second of which heeds it', async () => {
    const { server, told } = behind()
    const inner = await routed({ it: { server, prefix: false, timeoutMs: 60_000 } })
    const outer = await routed({ inner: { server: inner, prefix: false, timeoutMs: 60_000 } })
    const client = await caller(outer)
    expect(await failureOf(calling(client, 'wait', { [key]: 50 }))).toMatchObject({ code: -32009 })
    const [left] = told
    expect(left).toSatisfy((ms: number) => Number.isInteger(ms) && ms > 0 && ms <= 50)
    await until(() => inner.server('it')?.instances[0]?.inFlight === 0)
    expect(inner.server('it')?.instances).toMatchObject([{ breaker: 'closed', errorRate: 0 }])
  })

  test.each([undefined, 'soon', -1, 0, Number.MAX_SAFE_INTEGER])(
    'and of nothing where it does not say so, or waits longer than anybody does: %s',
    async said => {
      const { server, told } = behind()
      const router = await routed({ it: { server, prefix: false } })
      const client = await caller(router)
      await calling(client, 'tell', { [key]: said })
      expect(told).toEqual([undefined])
    },
  )
})

describe('a call that waits for its turn', () => {
  const limits = { concurrent: 1 }

  test('is refused when its time is over, and was never begun', async () => {
    const { server, told } = behind()
    const clock = fakeClock()
    const router = await routed({ it: { server, prefix: false, limits } }, { clock })
    const refused: unknown[] = []
    const stop = events.limitRefused.subscribe(event => refused.push(event))
    const client = await caller(router)
    const first = failureOf(calling(client, 'wait'))
    const late = failureOf(calling(client, 'tell', { [key]: 1000 }))
    await until(() => told.length === 1)
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
    expect(told).toEqual([undefined])
    await client.close()
    await first
  })

  test.each(['session', 'stateless'] as const)(
    'leaves its place when its caller gives it up: a %s one',
    async era => {
      const { server, told, finish } = behind()
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
      expect(told).toEqual([undefined])
    },
  )

  test('has that much less time afterwards', async () => {
    const { server, told, finish } = behind()
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
    expect(told).toEqual([700])
  })

  test('does not wait for a server to come up for longer than its caller waits', async () => {
    const { server, told } = behind()
    const channels: Channel[] = []
    const endpoint: Endpoint = {
      profile: server.profile,
      revisions: server.revisions,
      handle: server.handle,
      attach: (channel, envelope) => {
        channels.push(channel)
        // Whoever connects again is not answered.
        return channels.length === 1 ? server.attach(channel, envelope) : nobody
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
    expect(told).toEqual([])
  })
})

const nobody: Attachment = {
  closed: new Promise(() => {}),
  close: async () => {},
  [Symbol.asyncDispose]: async () => {},
}
