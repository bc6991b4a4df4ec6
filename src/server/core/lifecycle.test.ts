import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { proves } from '../../../test/requirements.ts'
import {
  allRevisions,
  answeringClient,
  sessionRevisions,
  stateless,
  textOf,
} from '../../../test/support/answering-client.ts'
import { rawClient } from '../../../test/support/raw-client.ts'
import { turn, wire } from '../../../test/support/wire.ts'
import { limits } from '../../util/limits/limits.ts'
import type { ServerOptions } from '../options.ts'
import { Server } from '../server.ts'

function everything(options: ServerOptions = {}) {
  const server = new Server(
    { name: 'test', version: '1', instructions: 'Be kind.' },
    { onError: () => {}, ...options },
  )
  server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
  server.resource('r', 'r:///1', {}, () => 'r')
  server.prompt('p', { args: z.object({ a: z.string() }), complete: { a: () => ['x'] } }, () => 'p')
  return server
}

const echo = { name: 'echo', arguments: { text: 'hi' } }

/** Text in, messages out, without a client in between. */
function raw(server: Server) {
  const w = wire()
  server.attach(w.channel)
  return (text: string | object): unknown[] => {
    void w.deliver(typeof text === 'string' ? text : JSON.stringify(text))
    return w.sent.splice(0).map(sent => JSON.parse(sent))
  }
}

function request(id: number | string, method: string, params?: object) {
  return { jsonrpc: '2.0', id, method, params }
}

function initialize(id: number | string, protocolVersion: string) {
  const clientInfo = { name: 'test', version: '1' }
  return request(id, 'initialize', { protocolVersion, capabilities: {}, clientInfo })
}

describe('before initialize', () => {
  it.each([
    'tools/list',
    'tools/call',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'resources/subscribe',
    'resources/unsubscribe',
    'prompts/list',
    'prompts/get',
    'completion/complete',
    'logging/setLevel',
    'tasks/list',
    'server/discover',
    'x/unknown',
  ])('%s is refused', method => {
    expect(raw(everything())(request(1, method))).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32005,
          message: expect.stringContaining('not initialized'),
          data: { kind: 'not_initialized' },
        },
      },
    ])
  })

  it('a ping is answered', () => {
    proves('U1', 'B5')
    const say = raw(everything())
    expect(say(request(0, 'ping'))).toEqual([{ jsonrpc: '2.0', id: 0, result: {} }])
    expect(say(request('', 'ping'))).toEqual([{ jsonrpc: '2.0', id: '', result: {} }])
  })

  it('notifications are handled and never answered', () => {
    proves('B7b')
    const say = raw(everything())
    for (const method of [
      'notifications/initialized',
      'notifications/cancelled',
      'x',
      'initialized',
    ]) {
      expect(say({ jsonrpc: '2.0', method, params: { requestId: 1 } })).toEqual([])
      expect(say({ jsonrpc: '2.0', method, params: [1] })).toEqual([])
    }
    expect(say(request(1, 'tools/list'))).toMatchObject([{ error: { code: -32005 } }])
  })
})

describe.each(sessionRevisions)('initialize for %s', revision => {
  it('is answered with that revision, and opens the session', async () => {
    proves('L2', 'L2e', 'V13b', 'L5', 'L5c', 'S1', 'U7', 'U1')
    const client = rawClient(everything(), revision)
    const { result } = await client.open()
    expect(result).toMatchObject({
      protocolVersion: revision,
      serverInfo: { name: 'test', version: '1' },
      instructions: 'Be kind.',
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
      },
    })
    const { completions } = (result?.capabilities ?? {}) as { completions?: object }
    expect(completions).toEqual(revision === '2024-11-05' ? undefined : {})
    expect((await client.request('ping')).result).toEqual({})
    expect(textOf(await client.request('tools/call', echo))).toBe('hi')
  })

  it('keeps a bounded description of the client', async () => {
    const { default: max } = limits.callerBytes
    const open = (info: object, capabilities: object = {}) => {
      const clients: unknown[] = []
      const server = new Server({ name: 'test', version: '1' })
      server.tool('who', {}, (_, ctx) => {
        clients.push(ctx.caller.client)
        return ''
      })
      const say = raw(server)
      const clientInfo = { name: 'test', version: '1', ...info }
      const [reply] = say(
        request(1, 'initialize', { protocolVersion: revision, capabilities, clientInfo }),
      )
      say(request(2, 'tools/call', { name: 'who', arguments: {} }))
      return { reply, clients }
    }
    const refused = { error: { code: -32602, message: expect.stringContaining(`${max} bytes`) } }
    expect(open({ title: 'x'.repeat(max) }).reply).toMatchObject(refused)
    expect(open({}, { experimental: { x: 'x'.repeat(max) } }).reply).toMatchObject(refused)
    const icons = [{ src: `data:,${'x'.repeat(max)}` }]
    const { reply, clients } = open({ title: 'Test', icons })
    expect(reply).toMatchObject({ result: { protocolVersion: revision } })
    await vi.waitFor(() => expect(clients).toEqual([{ name: 'test', version: '1', title: 'Test' }]))
    const small = open({ icons: [{ src: 'https://x.example/icon.png' }] })
    await vi.waitFor(() => expect(small.clients).toMatchObject([{ icons: [{}] }]))
  })

  it('is refused the second time, and the session continues', async () => {
    const client = rawClient(everything(), revision)
    await client.open()
    expect((await client.open()).error).toMatchObject({
      code: -32005,
      message: 'Already initialized',
    })
    expect(textOf(await client.request('tools/call', echo))).toBe('hi')
  })

  it('sends nothing to the client until it is ready', async () => {
    proves('L4b')
    const server = everything()
    const say = raw(server)
    say(initialize(1, revision))
    server.tool('more', {}, () => '')
    await turn()
    expect(say({ jsonrpc: '2.0', method: 'notifications/initialized' })).toEqual([])
    server.tool('even more', {}, () => '')
    await turn()
    expect(say(request(2, 'ping'))).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      { jsonrpc: '2.0', id: 2, result: {} },
    ])
  })

  it('treats a client that sends requests as ready', async () => {
    const server = everything()
    const say = raw(server)
    say(initialize(1, revision))
    say(request(2, 'tools/list'))
    server.tool('more', {}, () => '')
    await turn()
    expect(say(request(3, 'ping'))).toHaveLength(2)
  })
})

describe('versions', () => {
  it.each(['2026-07-28', '1999-01-01', '', 'x'])('%j is answered with the newest', requested => {
    proves('L2b', 'L2c')
    expect(raw(everything())(initialize(1, requested))).toMatchObject([
      { result: { protocolVersion: '2025-11-25' } },
    ])
  })

  it('are those of the option `revisions`', () => {
    proves('L2b', 'L2c')
    const say = raw(everything({ revisions: ['2024-11-05', '2025-03-26'] }))
    expect(say(initialize(1, '2025-11-25'))).toMatchObject([
      { result: { protocolVersion: '2025-03-26' } },
    ])
  })

  it('of servers without sessions are named to clients that request a session', () => {
    proves('V11', 'L10')
    expect(raw(everything({ revisions: [stateless] }))(initialize(1, '2025-11-25'))).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32602,
          message: 'Unsupported protocol version; this server speaks 2026-07-28',
          data: {
            kind: 'unsupported_protocol_version',
            version: '2025-11-25',
            supported: ['2026-07-28'],
            requested: '2025-11-25',
          },
        },
      },
    ])
  })

  it.each([undefined, 5, null])('must be texts, not %j', protocolVersion => {
    const say = raw(everything())
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    expect(say(request(1, 'initialize', params))).toMatchObject([
      { error: { code: -32602, data: { details: 'protocolVersion must be a string' } } },
    ])
    expect(say(initialize(2, '2025-11-25'))).toMatchObject([{ result: {} }])
  })

  it('that differ are an error where the profile says so', () => {
    const say = raw(everything({ profile: 'erlmcp' }))
    expect(say(initialize(1, '1999-01-01'))).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32062,
          message: 'Protocol version mismatch',
          data: {
            clientVersion: '1999-01-01',
            serverVersion: '2025-11-25',
            supported: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'],
            requested: '1999-01-01',
          },
        },
      },
    ])
    expect(say(initialize(2, '2025-11-25'))).toMatchObject([{ result: {} }])
  })
})

describe('stateless requests', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': stateless,
    'io.modelcontextprotocol/clientCapabilities': {},
  }

  it.each(['2025-11-25', '2027-01-01', ''])('in %j are refused with those served', version => {
    proves('V4')
    const _meta = { ...meta, 'io.modelcontextprotocol/protocolVersion': version }
    expect(raw(everything())(request(1, 'tools/list', { _meta }))).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32022,
          message: 'Unsupported protocol version',
          data: {
            supported: [stateless],
            requested: version,
            kind: 'unsupported_protocol_version',
          },
        },
      },
    ])
  })

  it.each([
    ['without capabilities', { 'io.modelcontextprotocol/clientCapabilities': undefined }],
    ['with capabilities that are none', { 'io.modelcontextprotocol/clientCapabilities': 1 }],
    ['with a version that is no text', { 'io.modelcontextprotocol/protocolVersion': 1 }],
    ['with a log level that is none', { 'io.modelcontextprotocol/logLevel': 'loud' }],
    ['with a token that is none', { progressToken: {} }],
  ])('%s are refused', (_, changes) => {
    proves('V1c', 'U8d', 'U5')
    const params = { _meta: { ...meta, ...changes } }
    expect(raw(everything())(request(1, 'tools/list', params))).toMatchObject([
      { error: { code: -32602, data: { details: expect.stringContaining('_meta') } } },
    ])
  })

  it('need no name, and are answered with one', () => {
    proves('V2b', 'V3', 'V6', 'V6b', 'B9')
    const say = raw(everything())
    expect(say(request(1, 'server/discover', { _meta: meta }))).toMatchObject([
      {
        result: {
          resultType: 'complete',
          supportedVersions: [stateless],
          capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
          _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1' } },
        },
      },
    ])
  })

  it('are served alike under any name of the client', () => {
    proves('V3b')
    const say = raw(everything())
    const replies = ['a', 'administrator'].map(name => {
      const clientInfo = { name, version: '1' }
      const _meta = { ...meta, 'io.modelcontextprotocol/clientInfo': clientInfo }
      return say(request(1, 'tools/list', { _meta }))
    })
    expect(replies[0]).toEqual(replies[1])
  })

  const discover = (id: number) => request(id, 'server/discover', { _meta: meta })
  const call = (id: number) => request(id, 'tools/call', { ...echo, _meta: meta })
  const open = (id: number) => initialize(id, '2025-11-25')
  const inSession = (id: number) => request(id, 'tools/call', echo)
  const steps = { discover, call, open, inSession }
  const orders = permutations(Object.keys(steps) as (keyof typeof steps)[])

  it.each(orders)('share a pipe with a session, in the order %s %s %s %s', (...order) => {
    proves('V13', 'V13b', 'B15', 'V9')
    const say = raw(everything())
    const replies = new Map(
      order.map((name, at) => [name, say(steps[name](at))[0] as Record<string, unknown>]),
    )
    expect(replies.get('discover')).toMatchObject({ result: { supportedVersions: [stateless] } })
    expect(replies.get('call')).toMatchObject({ result: { resultType: 'complete' } })
    expect(replies.get('open')).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
    const isOpen = order.indexOf('open') < order.indexOf('inSession')
    const expected = isOpen ? { result: { content: [{}] } } : { error: { code: -32005 } }
    expect(replies.get('inSession')).toMatchObject(expected)
    expect(replies.get('inSession')?.result ?? {}).not.toHaveProperty('resultType')
  })
})

describe.each(allRevisions)('a feature that a server lacks in %s', revision => {
  it.each([
    ['tools', 'tools/list', {}],
    ['tools', 'tools/call', { name: 'x' }],
    ['resources', 'resources/list', {}],
    ['resources', 'resources/templates/list', {}],
    ['resources', 'resources/read', { uri: 'r:///1' }],
    ['prompts', 'prompts/list', {}],
    ['prompts', 'prompts/get', { name: 'x' }],
    [
      'completions',
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: '' } },
    ],
  ])('%s: %s does not exist', async (capability, method, params) => {
    proves('L5b', 'U9c', 'S17i')
    const server = new Server({ name: 'bare', version: '1' })
    if (capability === 'completions')
      server.prompt('x', { args: z.object({ a: z.string() }) }, () => '')
    const client = await answeringClient(server, revision)
    const reply = await client.request(method, params)
    // Before it was a capability, a server with prompts completed: with nothing, if need be.
    if (capability === 'completions' && revision === '2024-11-05') {
      expect(reply.result).toMatchObject({ completion: { values: [] } })
    } else {
      expect(reply.error).toMatchObject({ code: -32601, data: { method } })
    }
  })

  it('a method that the revision does not have does not exist either', async () => {
    proves('B24')
    const client = await answeringClient(everything(), revision)
    const gone = [
      'initialize',
      'ping',
      'logging/setLevel',
      'resources/subscribe',
      'resources/unsubscribe',
    ]
    const later = ['server/discover', 'subscriptions/listen']
    for (const method of [
      'x/unknown',
      'toString',
      '__proto__',
      'roots/list',
      ...(revision === stateless ? gone : later),
    ]) {
      expect((await client.request(method)).error).toMatchObject({ code: -32601 })
    }
  })

  it('a feature that was removed is still answered, with an empty list', async () => {
    proves('S1d', 'S1')
    const server = new Server({ name: 'test', version: '1' })
    const tool = server.tool('t', {}, () => '')
    const prompt = server.prompt('p', {}, () => '')
    const client = await answeringClient(server, revision)
    tool.remove()
    prompt.disable()
    expect((await client.request('tools/list')).result).toMatchObject({ tools: [] })
    expect((await client.request('prompts/list')).result).toMatchObject({ prompts: [] })
  })
})

describe('batches', () => {
  const pings = [request(1, 'ping'), request(2, 'ping'), { jsonrpc: '2.0', method: 'x' }]

  it.each(sessionRevisions)('in a session of %s', revision => {
    proves('B8', 'B8c')
    const say = raw(everything())
    say(initialize(0, revision))
    if (revision === '2025-03-26') {
      expect(say(pings)).toEqual([
        [
          { jsonrpc: '2.0', id: 1, result: {} },
          { jsonrpc: '2.0', id: 2, result: {} },
        ],
      ])
    } else {
      expect(say(pings)).toMatchObject([{ error: { code: -32600 } }])
    }
  })

  it.each(['mcp', 'erlmcp', 'jsonrpc'] as const)('with initialize are refused by %s', profile => {
    proves('B8b')
    const say = raw(everything({ profile }))
    const batch = [initialize(1, '2025-03-26'), request(2, 'ping')]
    expect(say(batch)).toMatchObject([{ error: { code: -32600 } }])
    expect(say(request(3, 'tools/list'))).toMatchObject([{ error: { code: -32005 } }])
    say(initialize(4, '2025-03-26'))
    expect(say(batch)).toMatchObject([{ error: { code: -32600 } }])
    expect(say(request(5, 'tools/list'))).toMatchObject([{ result: {} }])
  })

  it('with a stateless request are refused, because its revision has no batches', () => {
    proves('B8c')
    const say = raw(everything())
    say(initialize(1, '2025-03-26'))
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': stateless,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const batch = [request(2, 'ping'), request(3, 'tools/list', { _meta })]
    expect(say(batch)).toMatchObject([{ error: { code: -32600 } }])
  })
})

describe('errors without a request', () => {
  // JSON-RPC 2.0, section 5, wants null where the id could not be read; the schemas of 2025-11-25 and
  // later have an id that may be left out and cannot be null. So it goes by the revision, and where
  // none is known yet by the newest.
  it.each([undefined, ...sessionRevisions])('after opening %s', revision => {
    proves('B6', 'B5c')
    const say = raw(everything())
    if (revision !== undefined) say(initialize(1, revision))
    const isNameless = revision === undefined || revision === '2025-11-25'
    expect(say('{"jsonrpc": nonsense')).toEqual([
      {
        jsonrpc: '2.0',
        ...(!isNameless && { id: null }),
        error: { code: -32700, message: 'Parse error', data: { kind: 'parse_error' } },
      },
    ])
    // Where it can be read, it goes back.
    expect(say('{"jsonrpc":"2.0","id":7,"method":5}')).toMatchObject([
      { id: 7, error: { code: -32600 } },
    ])
  })
})

describe('the profile erlmcp', () => {
  it('accepts requests under its own names', () => {
    for (const [profile, expected] of [
      ['erlmcp', { result: {} }],
      ['mcp', { error: { code: -32601 } }],
    ] as const) {
      const server = everything({ profile })
      server.tool('greet', {}, () => 'hello')
      server.resource('r', 'r:///r', {}, () => 'text')
      const say = raw(server)
      say(initialize(1, '2025-11-25'))
      const greet = { name: 'greet', arguments: {} }
      expect(say({ ...request(2, 'tool/execute'), params: greet })).toMatchObject([expected])
      expect(say({ ...request(3, 'resources/get'), params: { uri: 'r:///r' } })).toMatchObject([
        expected,
      ])
    }
  })

  it('rejects ping before initialize', () => {
    const say = raw(everything({ profile: 'erlmcp' }))
    expect(say(request(1, 'ping'))).toMatchObject([{ error: { code: -32005 } }])
    say(initialize(2, '2025-11-25'))
    expect(say(request(3, 'ping'))).toMatchObject([{ result: {} }])
    expect(raw(everything())(request(1, 'ping'))).toMatchObject([{ result: {} }])
  })

  it('limits the descriptions of tools', () => {
    const server = everything({ profile: 'erlmcp' })
    const description = 'x'.repeat(10_001)
    expect(() => server.tool('wordy', { description }, () => '')).toThrow(
      expect.objectContaining({
        code: -32011,
        message: 'tool "wordy": the description is longer than 10000 characters',
        data: { actualSize: 10_001, maxSize: 10_000 },
      }),
    )
    const brief = server.tool('brief', { description: 'x'.repeat(10_000) }, () => '')
    expect(() => brief.update({ description })).toThrow(/longer than 10000/)
    everything().tool('wordy', { description }, () => '')
  })
})

describe('spellings of erlmcp', () => {
  it.each(['mcp', 'erlmcp'] as const)('are understood by the profile %s', async profile => {
    const server = everything({ profile })
    let reason: unknown
    server.tool('wait', {}, async (_, { signal }) => {
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
      reason = signal.reason
      return 'late'
    })
    const say = raw(server)
    say(initialize(1, '2025-11-25'))
    say({ jsonrpc: '2.0', method: 'initialized' })
    server.tool('more', {}, () => '')
    await turn()
    const [notified] = say(request(2, 'tools/call', { name: 'wait' }))
    // The profile of that name speaks so itself.
    const method = profile === 'mcp' ? 'notifications/tools/list_changed' : 'tools/list_changed'
    expect(notified).toEqual({ jsonrpc: '2.0', method })
    for (const name of ['roots/list_changed', 'progress', 'message', 'resources/updated']) {
      expect(say({ jsonrpc: '2.0', method: name, params: {} })).toEqual([])
    }
    say({ jsonrpc: '2.0', method: 'cancelled', params: { requestId: 2, reason: 'enough' } })
    await turn()
    expect(String(reason)).toContain('cancelled: enough')
    expect(say(request(3, 'ping'))).toEqual([{ jsonrpc: '2.0', id: 3, result: {} }])
  })
})

function permutations<T>(of: readonly T[]): T[][] {
  if (of.length < 2) return [[...of]]
  return of.flatMap((first, at) =>
    permutations([...of.slice(0, at), ...of.slice(at + 1)]).map(rest => [first, ...rest]),
  )
}
