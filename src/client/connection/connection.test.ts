import fc from 'fast-check'
import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import {
  allRevisions,
  type Loose,
  never,
  serverOf,
  sessionServer,
  turns,
} from '../../../test/support/scripted-server.ts'
import { type Channel, ChannelError, type Sink } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Id } from '../../jsonrpc/message.ts'
import { SHUTTING_DOWN } from '../../jsonrpc/peer/standard-errors.ts'
import type { ListToolsResult } from '../../mcp/types/tools.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { openClient } from '../client.ts'
import type { Dial } from './negotiate.ts'

const quiet = { onError: () => {} }

/** A copy of a channel with some members replaced. */
const changed =
  (dial: Dial, change: (channel: Channel) => Partial<Channel>): Dial =>
  async () => {
    const channel = await dial()
    return {
      open: channel.open.bind(channel),
      send: channel.send.bind(channel),
      close: channel.close.bind(channel),
      [Symbol.asyncDispose]: channel.close.bind(channel),
      ...change(channel),
    }
  }

describe.each(allRevisions)('a channel with a stream per request in %s', revision => {
  it('gets the id of an abandoned request, which cancels it without a notification in stateless revisions', async () => {
    const server = serverOf(revision, { 'tools/call': never })
    const abandon = vi.fn((_: Id) => {})
    const dial = changed(server.dial, () => ({ abandon }))
    await using client = await openClient(dial, quiet)
    const giveUp = new AbortController()
    const call = client.call('slow', {}, { signal: giveUp.signal }).catch(e => e)
    await turns()
    giveUp.abort('enough')
    await call
    await turns()
    expect(abandon).toHaveBeenCalledWith(server.received.find(m => m.method === 'tools/call')?.id)
    const isStateless = revision === '2026-07-28'
    expect(server.sent('notifications/cancelled')).toHaveLength(isStateless ? 0 : 1)
  })
})

describe.each(allRevisions)('a channel that reports unsent requests, in %s', revision => {
  it('has them sent again on a new connection, even if the old one closes as well', async () => {
    const server = serverOf(revision, { 'tools/call': () => ({ content: [] }) })
    let dialled = 0
    const dial = changed(server.dial, channel => {
      const isFirst = dialled++ === 0
      let opened: Sink | undefined
      return {
        abandon: () => {},
        open: sink => {
          opened = sink
          channel.open(sink)
        },
        send: message => {
          const isCall = 'method' in message && message.method === 'tools/call'
          if (!isFirst || !isCall || !('id' in message) || message.id === null) {
            return channel.send(message)
          }
          opened?.failed?.(message.id, new ChannelError('closed', 'not reachable'))
          void channel.close()
        },
      }
    })
    await using client = await openClient(dial, quiet)
    expect((await client.call('pay')).content).toEqual([])
    expect(dialled).toBe(2)
    expect(server.sent('tools/call')).toHaveLength(1)
  })
})

describe.each(allRevisions)('a client that closes in %s', revision => {
  it('cancels its requests in flight', async () => {
    const server = serverOf(revision, { 'tools/call': never })
    const client = await openClient(server.dial, quiet)
    const calls = [client.call('one'), client.call('two')].map(call => call.catch(e => e))
    await turns()
    await client.close()
    await turns()
    expect(await Promise.all(calls)).toMatchObject([{ code: 'closed' }, { code: 'closed' }])
    const received = server.received.filter(({ method }) => method === 'tools/call')
    expect(server.sent('notifications/cancelled')).toMatchObject(
      received.map(({ id }) => ({ requestId: id })),
    )
    expect(received).toHaveLength(2)
  })
})

describe.each(allRevisions)('a server that is closing, in %s', revision => {
  it('does not begin requests, which are sent again on a new connection', async () => {
    const server = serverOf(revision, {
      'tools/call': () => {
        server.on('tools/call', () => ({ resultType: 'complete', content: [] }))
        throw new RpcError(SHUTTING_DOWN.code, SHUTTING_DOWN.message)
      },
    })
    const dial = vi.fn(server.dial)
    await using client = await openClient(dial, quiet)
    dial.mockClear()
    expect(await client.call('work')).toMatchObject({ content: [] })
    expect(server.sent('tools/call')).toHaveLength(2)
    expect(dial).toHaveBeenCalled()
  })
})

describe.each([
  [true, 'closed'],
  [false, 'outcome-unknown'],
])('a channel that the server closes, with isDrained %s', (isDrained, code) => {
  it(`rejects a request without a response with '${code}'`, async () => {
    const server = serverOf('2025-11-25', { 'tools/call': never })
    let opened: Sink | undefined
    const dial = changed(server.dial, channel => ({
      open: sink => {
        opened = sink
        channel.open(sink)
      },
    }))
    await using client = await openClient(dial, { ...quiet, reconnect: false })
    const call = client.call('work').catch(e => e)
    await turns()
    opened?.closed(undefined, isDrained)
    expect(await call).toMatchObject({ code })
  })
})

describe('a channel with backpressure', () => {
  it('does not send queued requests, which are sent on the next one', async () => {
    const server = serverOf('2025-11-25')
    let isFull = false
    const dial = changed(server.dial, channel => ({
      send: message => {
        const room = channel.send(message)
        return isFull ? new Promise<void>(() => {}) : room
      },
    }))
    await using client = await openClient(dial, quiet)
    server.on('tools/call', never)
    isFull = true
    const first = client.call('first').catch(e => e)
    const second = client.call('second').catch(e => e)
    await turns()
    isFull = false
    server.on('tools/call', () => ({ content: [] }))
    expect(server.sent('tools/call')).toHaveLength(1)
    await server.disconnect()
    expect(await first).toMatchObject({ code: 'outcome-unknown' })
    expect(await second).toMatchObject({ content: [] })
    expect(server.sent('tools/call').map(({ name }) => name)).toEqual(['first', 'second'])
  })
})

describe('a channel with backpressure for too long', () => {
  it.each([false, true])(
    'does not send abandoned requests (with a handler for server requests: %s)',
    async isSlow => {
      const clock = fakeClock()
      const server = serverOf('2025-11-25', { 'tools/call': never })
      const drains: (() => void)[] = []
      let isFull = false
      const dial = changed(server.dial, channel => ({
        send: message => {
          const room = channel.send(message)
          if (!isFull) return room
          return new Promise<void>(resolve => drains.push(resolve))
        },
      }))
      const elicit = isSlow ? never : undefined
      await using client = await openClient(dial, { clock, elicit, timeoutMs: 1000, ...quiet })
      isFull = true
      const first = client.call('first').catch(e => e)
      const second = client.call('second').catch(e => e)
      await turns()
      clock.advance(1100)
      expect(await first).toMatchObject({ code: 'timeout' })
      expect(await second).toMatchObject({ code: 'timeout' })
      isFull = false
      for (const drain of drains) drain()
      await turns()
      expect(server.sent('tools/call').map(({ name }) => name)).toEqual(['first'])
      expect(server.sent('notifications/cancelled')).toHaveLength(1)
    },
  )
})

describe('a channel that cannot send any more', () => {
  /** The first connection can be broken; later ones are sound. */
  function breaking(dial: Dial) {
    let connections = 0
    let isBroken = false
    const breakable = changed(dial, channel => {
      const isFirst = connections++ === 0
      return {
        send: message => {
          if (isFirst && isBroken) throw new ChannelError('closed', 'broken pipe')
          return channel.send(message)
        },
      }
    })
    const breakIt = () => {
      isBroken = true
    }
    return { dial: breakable, breakIt }
  }

  it.each(allRevisions)('is noticed by the next call, in %s', async revision => {
    const server = serverOf(revision, { 'tools/call': () => ({ content: [] }) })
    const { dial, breakIt } = breaking(server.dial)
    await using client = await openClient(dial, quiet)
    breakIt()
    expect((await client.call('pay')).content).toEqual([])
    expect(server.sent('tools/call')).toHaveLength(1)
    expect(server.connections).toHaveLength(2)
  })

  it('is replaced on the next subscription', async () => {
    const server = serverOf('2026-07-28', {
      'subscriptions/listen': (_, { id, exchange }) => {
        const _meta = { 'io.modelcontextprotocol/subscriptionId': id }
        void exchange.notify('notifications/subscriptions/acknowledged', {
          notifications: {},
          _meta,
        })
        return never()
      },
    })
    const { dial, breakIt } = breaking(server.dial)
    await using client = await openClient(dial)
    breakIt()
    expect(await client.changes({ tools: true }).ready).toEqual({})
    expect(server.connections).toHaveLength(2)
  })
})

describe('results', () => {
  it('have the types of their methods', async () => {
    const server = sessionServer('2025-11-25', { 'tools/list': () => ({ tools: [] }) })
    await using client = await openClient(server.dial, quiet)
    const tools = await client.request('tools/list')
    expectTypeOf(tools).toEqualTypeOf<ListToolsResult>()
    expectTypeOf(client.request<'acme/do'>).returns.resolves.toEqualTypeOf<unknown>()
    expect(tools.tools).toEqual([])
  })

  it.each([
    ['resources/read', (client: Loose) => client.read('x'), { contents: 'none' }],
    ['prompts/get', (client: Loose) => client.prompt('x'), {}],
    ['completion/complete', (client: Loose) => client.complete({ prompt: 'x' }, 'a', ''), {}],
    ['tools/call', (client: Loose) => client.call('x'), { content: 'none' }],
    ['tools/call', (client: Loose) => client.call('x'), 'none'],
  ])('that are no results of %s reject', async (method, call, result) => {
    const server = sessionServer('2025-11-25', { [method]: () => result })
    await using client = await openClient(server.dial, quiet)
    await expect(call(client)).rejects.toMatchObject({ code: 'framing' })
  })
})

describe.each(['2025-11-25', '2026-07-28'])('with random connection failures in %s', revision => {
  it('every call ends, and no tool runs twice', async () => {
    const fates = fc.array(fc.constantFrom('answer', 'run and die', 'die', 'die soon'), {
      minLength: 1,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(fates, async fates => {
        const runs = new Map<unknown, number>()
        const queue = [...fates]
        const server = serverOf(revision)
        const fated = (run: () => unknown) => {
          const fate = queue.shift() ?? 'answer'
          if (fate === 'die soon') setImmediate(() => void server.disconnect())
          if (fate === 'answer' || fate === 'die soon') return run()
          if (fate === 'run and die') run()
          void server.disconnect()
          return never()
        }
        server.on('tools/call', ({ name }) =>
          fated(() => {
            runs.set(name, (runs.get(name) ?? 0) + 1)
            return { resultType: 'complete', content: [] }
          }),
        )
        server.on('tools/list', () => fated(() => ({ resultType: 'complete', tools: [] })))
        const reconnect = { attempts: 100, random: () => 0 }
        await using client = await openClient(server.dial, { reconnect, ...quiet })
        const names = fates.map((_, index) => `${index}`)
        const calls = names.map(name =>
          Number(name) % 3 === 2
            ? client.request('tools/list').then(
                () => 'read',
                error => error.code,
              )
            : client.call(name).then(
                () => 'done',
                error => error.code,
              ),
        )
        const outcomes = await Promise.all(calls)
        for (const [index, outcome] of outcomes.entries()) {
          const count = runs.get(`${index}`) ?? 0
          expect(['done', 'read', 'outcome-unknown']).toContain(outcome)
          expect(count).toBeLessThanOrEqual(1)
          if (outcome === 'done') expect(count).toBe(1)
        }
      }),
      { numRuns: 60 },
    )
  })
})
