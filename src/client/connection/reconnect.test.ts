import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  allRevisions,
  type Loose,
  never,
  type ScriptedServer,
  serverOf,
  sessionServer,
  statelessServer,
  turns,
} from '../../../test/support/scripted-server.ts'
import { ChannelError } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { openClient } from '../client.ts'
import { reconnectDelayMs } from './reconnect.ts'

const quiet = { onError: () => {} }
const readOnly: readonly [string, (client: Loose) => Promise<unknown>, object][] = [
  ['tools/list', client => client.request('tools/list'), { tools: [] }],
  ['resources/list', client => client.request('resources/list'), { resources: [] }],
  ['resources/read', client => client.read('file:///x'), { contents: [] }],
  ['prompts/list', client => client.request('prompts/list'), { prompts: [] }],
  ['prompts/get', client => client.prompt('x'), { messages: [] }],
  [
    'completion/complete',
    client => client.complete({ prompt: 'x' }, 'a', ''),
    { completion: { values: [] } },
  ],
]

/** Loses the connection in the middle of the first call of a method, and answers the second. */
function losing(server: ScriptedServer, method: string, result: object): void {
  let isFirst = true
  server.on(method, () => {
    if (!isFirst) return result
    isFirst = false
    void server.disconnect()
    return never()
  })
}

describe.each(allRevisions)('a connection lost in %s', revision => {
  it('is opened again before the next call', async () => {
    const server = serverOf(revision)
    await using client = await openClient(server.dial, quiet)
    await server.disconnect()
    await turns()
    expect(server.connections).toHaveLength(2)
    expect(client.server.revision.name).toBe(revision)
    const opening = revision === '2026-07-28' ? 'server/discover' : 'initialize'
    expect(server.sent(opening)).toHaveLength(2)
  })

  it('makes it unknown whether a tool has run, and never runs it again', async () => {
    const server = serverOf(revision)
    losing(server, 'tools/call', { content: [] })
    await using client = await openClient(server.dial, quiet)
    const error = await client.call('pay').catch(e => e)
    expect(error).toBeInstanceOf(ChannelError)
    expect(error.code).toBe('outcome-unknown')
    expect(error.message).toContain('tools/call')
    await turns()
    expect(server.sent('tools/call')).toHaveLength(1)
    expect((await client.call('pay')).content).toEqual([])
  })

  it('repeats no tool, even if it is annotated as read-only', async () => {
    proves('S4')
    const server = serverOf(revision, {
      'tools/list': () => ({
        tools: [
          {
            name: 'pay',
            inputSchema: { type: 'object' },
            annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: false },
          },
        ],
      }),
    })
    losing(server, 'tools/call', { content: [] })
    await using client = await openClient(server.dial, quiet)
    for await (const _ of client.tools());
    await expect(client.call('pay')).rejects.toMatchObject({ code: 'outcome-unknown' })
    expect(server.sent('tools/call')).toHaveLength(1)
  })

  it('makes the outcome of any other method unknown, too', async () => {
    const server = serverOf(revision)
    losing(server, 'acme/do', {})
    await using client = await openClient(server.dial, quiet)
    await expect(client.request('acme/do')).rejects.toMatchObject({ code: 'outcome-unknown' })
  })

  it.each(readOnly)('repeats %s', async (method, call, result) => {
    const server = serverOf(revision)
    losing(server, method, result)
    await using client = await openClient(server.dial, quiet)
    await call(client)
    expect(server.sent(method)).toHaveLength(2)
  })

  it('repeats no request more than once', async () => {
    const server = serverOf(revision)
    server.on('tools/list', () => {
      void server.disconnect()
      return never()
    })
    await using client = await openClient(server.dial, { reconnect: { random: () => 0 }, ...quiet })
    const error = await client.request('tools/list').catch(e => e)
    expect(error.code).toBe('outcome-unknown')
    expect(server.sent('tools/list')).toHaveLength(2)
  })

  it('delays calls until there is another, within their timeout', async () => {
    const clock = fakeClock()
    const server = serverOf(revision, { 'tools/call': () => ({ content: [] }) })
    const reconnect = { random: () => 1 }
    await using client = await openClient(server.dial, {
      clock,
      reconnect,
      timeoutMs: 500,
      ...quiet,
    })
    server.refuse(1)
    await server.disconnect()
    const early = client.call('x').catch(e => e)
    const patient = client.call('x', {}, { timeoutMs: 5000 })
    const giveUp = new AbortController()
    const aborted = client.call('x', {}, { signal: giveUp.signal, timeoutMs: 0 }).catch(e => e)
    await turns()
    giveUp.abort('no')
    expect(await aborted).toBe('no')
    clock.advance(600)
    expect(await early).toMatchObject({ code: 'timeout' })
    clock.advance(500)
    expect((await patient).content).toEqual([])
    expect(server.sent('tools/call')).toHaveLength(1)
    expect(server.sent('notifications/cancelled')).toEqual([])
  })

  it('closes the client after the last attempt', async () => {
    const clock = fakeClock()
    const server = serverOf(revision)
    const dial = vi.fn(server.dial)
    const reconnect = { attempts: 3, baseMs: 100, random: () => 1 }
    const client = await openClient(dial, { clock, reconnect, ...quiet })
    server.refuse(100)
    await server.disconnect()
    const call = client.call('x').catch(e => e)
    for (const wait of [0, 120, 220]) {
      clock.advance(wait)
      await turns()
    }
    expect(await call).toMatchObject({ code: 'closed' })
    const cause = await client.closed
    expect(cause).toBeInstanceOf(ChannelError)
    expect(cause?.message).toContain('nobody is there')
    await expect(client.call('x')).rejects.toMatchObject({ code: 'closed' })
    expect(dial).toHaveBeenCalledTimes(4)
    await client.close()
  })

  it('closes the client at once if reconnect is false', async () => {
    const server = serverOf(revision, { 'tools/call': never })
    const client = await openClient(server.dial, { reconnect: false, ...quiet })
    const call = client.call('x').catch(e => e)
    await turns()
    await server.disconnect()
    expect(await call).toMatchObject({ code: 'outcome-unknown' })
    expect(await client.closed).toBeInstanceOf(ChannelError)
    expect(server.connections).toHaveLength(1)
  })

  it('is opened again only when the old one is closed', async () => {
    const server = serverOf(revision)
    let release: () => void = () => {}
    const leftover = new Promise<void>(resolve => {
      release = resolve
    })
    const dial = async () => {
      const channel = await server.dial()
      const close = async () => {
        await channel.close()
        await leftover
      }
      return {
        open: channel.open.bind(channel),
        send: channel.send.bind(channel),
        close,
        [Symbol.asyncDispose]: close,
      }
    }
    await using client = await openClient(dial, quiet)
    await server.disconnect()
    await turns()
    expect(server.connections).toHaveLength(1)
    release()
    await turns()
    expect(server.connections).toHaveLength(2)
    expect(client.server.revision.name).toBe(revision)
  })

  it('that is opened after the client was closed is closed', async () => {
    const server = serverOf(revision)
    let connect: () => void = () => {}
    let isSlow = false
    const dial = async () => {
      if (isSlow) {
        await new Promise<void>(resolve => {
          connect = resolve
        })
      }
      return server.dial()
    }
    const client = await openClient(dial, quiet)
    isSlow = true
    await server.disconnect()
    await client.close()
    connect()
    await turns()
    expect(server.connections).toHaveLength(2)
    await server.peer.closed
  })

  it('stays lost when the client is closed meanwhile', async () => {
    const clock = fakeClock()
    const server = serverOf(revision)
    const reconnect = { random: () => 1 }
    const client = await openClient(server.dial, { clock, reconnect, ...quiet })
    server.refuse(1)
    await server.disconnect()
    const call = client.call('x').catch(e => e)
    await turns()
    await client.close()
    expect(await call).toMatchObject({ code: 'closed' })
    clock.advance(10_000)
    await turns()
    expect(server.connections).toHaveLength(1)
    expect(await client.closed).toBeUndefined()
  })
})

describe('attempts', () => {
  it('start at once, then with jitter after a time that doubles up to a limit', () => {
    const policy = { attempts: 9, baseMs: 1000, maxMs: 5000, stableMs: 0, random: () => 1 }
    expect([0, 1, 2, 3, 4, 5].map(attempt => reconnectDelayMs(attempt, policy))).toEqual([
      0, 1000, 2000, 4000, 5000, 5000,
    ])
    expect(reconnectDelayMs(3, { ...policy, random: () => 0.25 })).toBe(1000)
  })

  it('are counted while connections are unstable, and reset after a stable one', async () => {
    const clock = fakeClock()
    const server = sessionServer('2025-11-25')
    const reconnect = { attempts: 2, baseMs: 100, stableMs: 10_000, random: () => 1 }
    const client = await openClient(server.dial, { clock, reconnect, ...quiet })
    const lose = async () => {
      await server.disconnect()
      clock.advance(250)
      await turns()
    }
    await lose()
    await lose()
    expect(server.connections).toHaveLength(3)
    clock.advance(10_000)
    await lose()
    expect(server.connections).toHaveLength(4)
    await lose()
    await lose()
    expect(server.connections).toHaveLength(5)
    expect(await client.closed).toBeInstanceOf(ChannelError)
  })
})

describe('a server that has changed meanwhile', () => {
  it('is used in its new revision', async () => {
    const old = sessionServer('2025-11-25', { 'tools/call': () => ({ content: [] }) })
    const young = statelessServer({ 'tools/call': () => ({ content: [] }) })
    let server: ScriptedServer = old
    await using client = await openClient(() => server.dial(), quiet)
    server = young
    young.on('initialize', () => {
      throw new RpcError(-32022, 'Unsupported')
    })
    await old.disconnect()
    await client.call('x')
    expect(client.server.revision.name).toBe('2026-07-28')
    expect(young.sent('tools/call')[0]._meta).toBeDefined()
  })
})
