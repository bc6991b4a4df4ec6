import { describe, expect, it } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  allRevisions,
  never,
  ScriptedServer,
  serverOf,
  sessionRevisions,
  sessionServer,
  statelessServer,
  turns,
} from '../../../test/support/scripted-server.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { newest, revisionNamed, revisions } from '../../mcp/revisions/revisions.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { openClient } from '../client.ts'
import type { KnownVersion } from '../options.ts'

const quiet = { onError: () => {} }
const sessionNames = [...sessionRevisions]

describe('negotiation', () => {
  it.each(allRevisions)('uses %s with a server that supports nothing else', async name => {
    const server = serverOf(name, {}, { instructions: 'be kind' })
    await using client = await openClient(server.dial, { name: 'host', version: '2', ...quiet })
    expect(client.server).toMatchObject({ name: 'scripted', version: '1.2.3' })
    expect(client.server.instructions).toBe('be kind')
    expect(client.server.capabilities.tools).toEqual({ listChanged: true })
    expect(client.server.revision).toBe(revisionNamed(name))
  })

  it('sends server/discover first, with a string id and the metadata of stateless requests', async () => {
    const server = statelessServer()
    await using _ = await openClient(server.dial, {
      name: 'host',
      version: '2',
      title: 'The Host',
      sample: () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }),
    })
    expect(server.received).toHaveLength(1)
    expect(server.received[0]?.id).toBeTypeOf('string')
    expect(server.received[0]?.params._meta).toEqual({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {
        sampling: {},
        extensions: { 'io.modelcontextprotocol/tasks': {} },
      },
      'io.modelcontextprotocol/clientInfo': expect.objectContaining({
        name: 'host',
        version: '2',
        title: 'The Host',
      }),
    })
  })

  it('sends initialize with the newest session revision, then notifications/initialized', async () => {
    proves('L1d')
    const server = sessionServer('2025-06-18')
    await using _ = await openClient(server.dial, { name: 'host', version: '2', ...quiet })
    expect(server.methods()).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
    expect(server.received[1]).toMatchObject({
      id: 1,
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'host' } },
    })
  })

  const signs: readonly [string, () => unknown][] = [
    ['"method not found"', () => Promise.reject(new RpcError(-32601, 'Method not found'))],
    ['"not initialized"', () => Promise.reject(new RpcError(-32005, 'Server not initialized'))],
    ['"invalid params"', () => Promise.reject(new RpcError(-32602, 'Invalid params'))],
    ['-32022 without versions', () => Promise.reject(new RpcError(-32022, 'Unsupported'))],
    ['-32020', () => Promise.reject(new RpcError(-32020, 'Header mismatch'))],
    ['its own number', () => Promise.reject(new RpcError(42, 'What?'))],
    [
      'an offer of session revisions',
      () => Promise.reject(new RpcError(-32022, 'No', { data: { supported: sessionNames } })),
    ],
    ['an empty result', () => ({})],
    ['a result that is not an object', () => 'hello'],
    ['versions that are not a list', () => ({ supportedVersions: 'all', capabilities: {} })],
    ['no capabilities', () => ({ supportedVersions: ['2026-07-28'] })],
    [
      'session revisions alone',
      () => ({ supportedVersions: sessionNames, capabilities: {}, resultType: 'complete' }),
    ],
  ]
  it.each(signs)(
    'falls back to initialize if the response to the probe is %s',
    async (_, answer) => {
      const server = sessionServer('2025-03-26', { 'server/discover': answer })
      await using client = await openClient(server.dial, quiet)
      expect(client.server.revision.name).toBe('2025-03-26')
      expect(server.connections).toHaveLength(1)
    },
  )

  it('falls back on the same connection if there is no response to the probe, without cancelling it', async () => {
    const clock = fakeClock()
    const server = sessionServer('2024-11-05', { 'server/discover': never })
    const opening = openClient(server.dial, { clock, discoverTimeoutMs: 2000 })
    await turns()
    clock.advance(1999)
    await turns()
    expect(server.methods()).toEqual(['server/discover'])
    clock.advance(100)
    await using client = await opening
    expect(client.server.revision.name).toBe('2024-11-05')
    expect(server.connections).toHaveLength(1)
    expect(server.sent('notifications/cancelled')).toEqual([])
  })

  it('dials again for a server that exits on the probe, and does not probe it again later', async () => {
    const server = sessionServer('2025-11-25')
    server.on('server/discover', () => {
      void server.disconnect()
      return never()
    })
    await using client = await openClient(server.dial, quiet)
    expect(server.connections).toHaveLength(2)
    await server.disconnect()
    await client.ping()
    expect(server.connections).toHaveLength(3)
    expect(server.sent('server/discover')).toHaveLength(1)
  })

  it('returns to discover if a slow stateless server lists its revision on initialize', async () => {
    const clock = fakeClock()
    const server = statelessServer()
    let isReady = false
    server.on('initialize', () => {
      isReady = true
      throw new RpcError(-32022, 'Unsupported', { data: { supported: ['2026-07-28'] } })
    })
    const answer = { supportedVersions: ['2026-07-28'], capabilities: {} }
    server.on('server/discover', () => (isReady ? answer : never()))
    const opening = openClient(server.dial, { clock })
    await turns()
    clock.advance(4000)
    await using client = await opening
    expect(client.server.revision.era).toBe('stateless')
  })

  it('retries once with a server that refuses and lists the same revision', async () => {
    let refusals = 0
    const server = statelessServer()
    const answer = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {} }
    server.on('server/discover', () => {
      if (refusals++ > 0) return answer
      throw new RpcError(-32022, 'Unsupported', { data: { supported: ['2026-07-28'] } })
    })
    await using client = await openClient(server.dial)
    expect(client.server.revision.era).toBe('stateless')
    expect(new Set(server.received.map(({ id }) => id)).size).toBe(2)
  })

  it('chooses the newest common stateless revision', async () => {
    proves('V5')
    const known = newest('stateless', revisions)
    if (known === undefined) throw new Error('there is a stateless revision')
    const next = { ...known, name: '2027-01-01' }
    const server = statelessServer()
    server.on('server/discover', params => {
      const meta = params._meta as Record<string, unknown>
      if (meta['io.modelcontextprotocol/protocolVersion'] === '2026-07-28') {
        return { supportedVersions: ['2026-07-28', '1999-01-01'], capabilities: {} }
      }
      throw new RpcError(-32022, 'Unsupported', { data: { supported: ['2026-07-28'] } })
    })
    await using client = await openClient(server.dial, { revisions: [...revisions, next] })
    expect(client.server.revision.name).toBe('2026-07-28')
    expect(server.sent('server/discover')).toHaveLength(2)
  })

  it('lists the revisions of both sides if they have none in common', async () => {
    proves('L10', 'V5b', 'V7d')
    const server = statelessServer()
    server.on('server/discover', () => {
      throw new RpcError(-32022, 'Unsupported', { data: { supported: ['2030-01-01'] } })
    })
    const error = await openClient(server.dial).catch(e => e)
    expect(error).toMatchObject({ name: 'ChannelError', code: 'refused' })
    expect(error.message).toMatch(/2030-01-01.*2025-11-25/)
    expect(server.methods()).toEqual(['server/discover'])
  })

  it('closes if the server chooses an unknown revision', async () => {
    proves('L2d')
    const server = sessionServer('1999-01-01')
    const error = await openClient(server.dial, quiet).catch(e => e)
    expect(error).toMatchObject({ name: 'ChannelError', code: 'refused' })
    expect(error.message).toContain('1999-01-01')
    expect(server.methods()).not.toContain('notifications/initialized')
    await server.peer.closed
  })

  it('closes if the server chooses a revision that the options exclude', async () => {
    const server = sessionServer('2024-11-05')
    const options = { revisions: ['2025-11-25', '2026-07-28'] as const, ...quiet }
    await expect(openClient(server.dial, options)).rejects.toMatchObject({ code: 'refused' })
  })

  it('requests another revision if the server refuses one and lists its own', async () => {
    const server = sessionServer('2024-11-05')
    server.on('initialize', ({ protocolVersion }) => {
      if (protocolVersion === '2024-11-05') {
        return { protocolVersion, capabilities: {}, serverInfo: { name: 's', version: '1' } }
      }
      throw new RpcError(-32602, 'Unsupported protocol version', {
        data: { supported: ['2024-11-05'], requested: protocolVersion },
      })
    })
    await using client = await openClient(server.dial, quiet)
    expect(client.server.revision.name).toBe('2024-11-05')
    expect(server.sent('initialize')).toHaveLength(2)
  })

  it('rejects with the error that refuses initialize', async () => {
    const server = sessionServer('2025-11-25')
    server.on('initialize', () => {
      throw new RpcError(-32603, 'out of order')
    })
    const error = await openClient(server.dial, quiet).catch(e => e)
    expect(error).toBeInstanceOf(RpcError)
    expect(error).toMatchObject({ code: -32603, message: 'out of order', kind: 'internal_error' })
    await server.peer.closed
  })

  it('reports that a server exited on initialize, too', async () => {
    const server = sessionServer('2025-11-25')
    server.on('initialize', () => {
      void server.disconnect()
      return never()
    })
    const error = await openClient(server.dial, quiet).catch(e => e)
    expect(error).toMatchObject({ name: 'ChannelError', code: 'closed' })
    expect(error.message).toMatch(/^opening: /)
    expect(server.connections).toHaveLength(1)
  })

  it('times out on initialize, without cancelling it', async () => {
    const clock = fakeClock()
    const server = sessionServer('2025-11-25', { initialize: never })
    const opening = openClient(server.dial, { clock, timeoutMs: 500, ...quiet }).catch(e => e)
    await turns()
    clock.advance(600)
    expect(await opening).toMatchObject({ code: 'timeout' })
    expect(server.sent('notifications/cancelled')).toEqual([])
    await server.peer.closed
  })

  it('rejects with the error of dial', async () => {
    const cause = new Error('no such program')
    await expect(openClient(() => Promise.reject(cause))).rejects.toBe(cause)
  })

  it.each(['server/discover', 'initialize'])('can be aborted during %s', async method => {
    const server = sessionServer('2025-11-25', { [method]: never })
    const giveUp = new AbortController()
    const opening = openClient(server.dial, { signal: giveUp.signal, ...quiet }).catch(e => e)
    await turns()
    const reason = new Error('never mind')
    giveUp.abort(reason)
    expect(await opening).toBe(reason)
    expect(server.sent('notifications/cancelled')).toEqual([])
    await server.peer.closed
  })

  it('can be aborted while dialing, and closes the channel that opens all the same', async () => {
    const server = sessionServer('2025-11-25')
    const giveUp = new AbortController()
    let connect: () => void = () => {}
    const slow = async () => {
      await new Promise<void>(resolve => {
        connect = resolve
      })
      return server.dial()
    }
    const opening = openClient(slow, { signal: giveUp.signal }).catch(e => e)
    await turns()
    giveUp.abort('changed my mind')
    expect(await opening).toBe('changed my mind')
    connect()
    await turns()
    await server.peer.closed
  })

  it('answers a ping before the negotiation is done, and nothing else', async () => {
    const server = sessionServer('2025-11-25')
    const answers: unknown[] = []
    server.on('server/discover', async (_, { exchange }) => {
      answers.push(await exchange.back?.call('ping'))
      answers.push(await exchange.back?.call('roots/list').catch(e => e.code))
      throw new RpcError(-32601, 'Method not found')
    })
    await using _ = await openClient(server.dial, { roots: [] })
    expect(answers).toEqual([{}, -32601])
  })
})

describe('a required era', () => {
  it('is not probed for if it is session', async () => {
    const server = sessionServer('2025-11-25')
    await using _ = await openClient(server.dial, { era: 'session' })
    expect(server.methods()).toEqual(['initialize', 'notifications/initialized'])
  })

  it.each([
    ['refuses', () => Promise.reject(new RpcError(-32601, 'Method not found'))],
    ['says something else', () => ({})],
  ])('is not given up for a server that %s', async (_, answer) => {
    const server = sessionServer('2025-11-25', { 'server/discover': answer })
    const opening = openClient(server.dial, { era: 'stateless' })
    await expect(opening).rejects.toMatchObject({ code: 'refused' })
    expect(server.methods()).toEqual(['server/discover'])
  })

  it('must have revisions', async () => {
    const { dial } = new ScriptedServer()
    const wrong = [{ era: 'stateless', revisions: ['2025-11-25'] }, { revisions: [] }] as const
    for (const options of wrong) await expect(openClient(dial, options)).rejects.toThrow(TypeError)
    // @ts-expect-error there is no such revision
    await expect(openClient(dial, { revisions: ['1999-01-01'] })).rejects.toThrow(TypeError)
  })
})

describe('the version cache', () => {
  const at = Date.now()
  const cacheWith = (known?: KnownVersion) => {
    const store = new Map<string, KnownVersion>(known && [['files', known]])
    return { store, versionCache: { key: 'files', store } }
  }

  it.each(allRevisions)('stores the era of %s', async name => {
    const { store, versionCache } = cacheWith()
    await using client = await openClient(serverOf(name).dial, { versionCache, ...quiet })
    expect(store.get('files')?.era).toBe(client.server.revision.era)
  })

  it('saves the next client the probe', async () => {
    const { versionCache } = cacheWith({ era: 'session', at })
    const server = sessionServer('2025-11-25')
    await using _ = await openClient(server.dial, { versionCache })
    expect(server.methods()).toEqual(['initialize', 'notifications/initialized'])
  })

  it('expires after a day', async () => {
    const { versionCache } = cacheWith({ era: 'session', at: at - 25 * 3600_000 })
    const server = sessionServer('2025-11-25')
    await using _ = await openClient(server.dial, { versionCache, ...quiet })
    expect(server.methods()).toContain('server/discover')
  })

  it('gives a stateless server the full timeout', async () => {
    const clock = fakeClock()
    const { versionCache } = cacheWith({ era: 'stateless', at })
    let answer: (result: unknown) => void = () => {}
    const server = statelessServer()
    server.on(
      'server/discover',
      () =>
        new Promise(resolve => {
          answer = resolve
        }),
    )
    const opening = openClient(server.dial, { clock, versionCache })
    await turns()
    clock.advance(50_000)
    await turns()
    answer({ supportedVersions: ['2026-07-28'], capabilities: {} })
    await using client = await opening
    expect(client.server.revision.era).toBe('stateless')
    expect(server.methods()).toEqual(['server/discover'])
  })

  it('is corrected if a session server has become stateless', async () => {
    const { store, versionCache } = cacheWith({ era: 'session', at })
    const server = statelessServer()
    await using client = await openClient(server.dial, { versionCache, ...quiet })
    expect(client.server.revision.era).toBe('stateless')
    expect(store.get('files')?.era).toBe('stateless')
  })

  it('is corrected if a stateless server has become a session server', async () => {
    const { store, versionCache } = cacheWith({ era: 'stateless', at })
    const server = sessionServer('2025-06-18')
    await using client = await openClient(server.dial, { versionCache, ...quiet })
    expect(client.server.revision.name).toBe('2025-06-18')
    expect(store.get('files')?.era).toBe('session')
  })
})

describe('the server description', () => {
  it('is read from the top level of the result, as in drafts', async () => {
    const server = new ScriptedServer({
      'server/discover': () => ({
        supportedVersions: ['2026-07-28'],
        capabilities: {},
        serverInfo: { name: 'drafty', version: '0', title: 'Drafty' },
      }),
    })
    await using client = await openClient(server.dial)
    expect(client.server).toMatchObject({ name: 'drafty', title: 'Drafty' })
  })

  it('may be empty', async () => {
    const server = new ScriptedServer({
      'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: {} }),
    })
    await using client = await openClient(server.dial)
    expect(client.server).toMatchObject({ name: '', version: '' })
  })
})
