import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { pollOptions } from '../../test/support/poll-options.ts'
import { turn, wire } from '../../test/support/wire.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { Server } from './server.ts'

const sessionRevisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
}

/** A client that writes messages by hand and reads the responses. */
function attach(server: Server) {
  const w = wire()
  const session = server.attach(w.channel)
  let id = 0
  const read = (): unknown[] => w.sent.splice(0).map(text => JSON.parse(text))
  const send = (message: object): void => {
    void w.deliver(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }
  const ask = async (method: string, params?: object): Promise<Record<string, unknown>> => {
    const mine = ++id
    send({ id: mine, method, params })
    let reply: unknown
    await vi.waitFor(() => {
      const found = w.sent.findIndex(text => {
        const message = JSON.parse(text)
        return message.id === mine && message.method === undefined
      })
      if (found < 0) throw new Error(`no reply to ${method}`)
      reply = JSON.parse(w.sent.splice(found, 1)[0] ?? '')
    }, pollOptions)
    return reply as Record<string, unknown>
  }
  return {
    w,
    session,
    send,
    read,
    ask,
    stateless: (method: string, params: object = {}) => ask(method, { ...params, _meta: envelope }),
    initialize: async (revision = '2025-11-25', capabilities: object = {}) => {
      const reply = await ask('initialize', {
        protocolVersion: revision,
        capabilities,
        clientInfo: { name: 'test', version: '1' },
      })
      send({ method: 'notifications/initialized' })
      return reply
    },
  }
}

function everything() {
  const server = new Server(
    { name: 'test', version: '1.0.0', title: 'Test', instructions: 'Be kind.' },
    { onError: () => {} },
  )
  server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
  server.tool(
    'add',
    {
      title: 'Add',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ sum: a + b }),
  )
  server.tool('fails', {}, () => {
    throw new Error('out of paper')
  })
  server.tool('refuses', {}, () => {
    throw new RpcError(7, 'no')
  })
  server.resource('config', 'file:///etc/app.json', { mimeType: 'application/json' }, () => '{}')
  server.resourceTemplate(
    'user',
    'db://users/{id}',
    { complete: { id: () => ['ada'] } },
    ({ id }) => (id === 'ada' ? `user ${id}` : undefined),
  )
  server.prompt(
    'review',
    { args: z.object({ code: z.string() }), complete: { code: value => [`${value}!`] } },
    ({ code }) => `Review ${code}`,
  )
  return server
}

describe('opening a session', () => {
  it.each(sessionRevisions)('settles on %s when asked for it', async revision => {
    const { initialize } = attach(everything())
    expect(await initialize(revision)).toMatchObject({
      result: { protocolVersion: revision, serverInfo: { name: 'test', version: '1.0.0' } },
    })
  })

  it.each(['2026-07-28', '1999-01-01', ''])('answers %j with the newest it has', async revision => {
    const { initialize } = attach(everything())
    expect(await initialize(revision)).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
  })

  it('refuses everything but ping before it, and a second one', async () => {
    const { ask, initialize } = attach(everything())
    expect(await ask('ping')).toMatchObject({ result: {} })
    expect(await ask('tools/list')).toMatchObject({ error: { code: -32005 } })
    await initialize()
    expect(await ask('tools/list')).toHaveProperty('result')
    expect(await initialize()).toMatchObject({ error: { code: -32005 } })
  })

  it('reports that versions differ if the profile says so', async () => {
    const server = new Server({ name: 'x', version: '1' }, { profile: 'erlmcp' })
    const { initialize } = attach(server)
    expect(await initialize('1999-01-01')).toMatchObject({ error: { code: -32062 } })
  })
})

describe('one pipe for both eras', () => {
  it('serves discover, a stateless call, initialize and a session call one after another', async () => {
    const { stateless, initialize, ask } = attach(everything())
    expect(await stateless('server/discover')).toMatchObject({
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: { listChanged: true } },
        instructions: 'Be kind.',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test' } },
      },
    })
    const call = { name: 'add', arguments: { a: 1, b: 2 } }
    expect(await stateless('tools/call', call)).toMatchObject({
      result: { resultType: 'complete', structuredContent: { sum: 3 } },
    })
    await initialize()
    const reply = await ask('tools/call', call)
    expect(reply).toMatchObject({ result: { structuredContent: { sum: 3 } } })
    expect(reply.result).not.toHaveProperty('resultType')
    expect(await stateless('tools/call', call)).toMatchObject({
      result: { resultType: 'complete' },
    })
  })

  it.each([
    ['another version', { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' }, -32022],
    ['no capabilities', { 'io.modelcontextprotocol/clientCapabilities': undefined }, -32602],
  ])('refuses %s in the envelope', async (_, changes, code) => {
    const { ask } = attach(everything())
    const reply = await ask('tools/list', { _meta: { ...envelope, ...changes } })
    expect(reply).toMatchObject({ error: { code } })
  })

  it.each([
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'nonsense',
    'toString',
  ])('has no %s for a stateless request', async method => {
    const { stateless } = attach(everything())
    expect(await stateless(method)).toMatchObject({ error: { code: -32601 } })
  })
})

describe.each([...sessionRevisions, '2026-07-28'])('in %s', revision => {
  async function open() {
    const client = attach(everything())
    if (revision === '2026-07-28') return { ...client, call: client.stateless }
    await client.initialize(revision)
    return { ...client, call: client.ask }
  }

  it('lists tools in order and calls them', async () => {
    const { call } = await open()
    const listed = (await call('tools/list')).result as { tools: { name: string }[] }
    expect(listed.tools.map(tool => tool.name)).toEqual(['echo', 'add', 'fails', 'refuses'])
    expect(await call('tools/call', { name: 'echo', arguments: { text: 'hi' } })).toMatchObject({
      result: { content: [{ type: 'text', text: 'hi' }] },
    })
  })

  it('distinguishes failures of tools from errors of the protocol', async () => {
    const { call } = await open()
    expect(await call('tools/call', { name: 'fails' })).toMatchObject({
      result: { isError: true, content: [{ type: 'text', text: 'out of paper' }] },
    })
    expect(await call('tools/call', { name: 'refuses' })).toMatchObject({ error: { code: 7 } })
    expect(await call('tools/call', { name: 'nope' })).toMatchObject({
      error: { code: -32602, data: { tool: 'nope', kind: 'tool_not_found' } },
    })
    expect(await call('tools/call', {})).toMatchObject({ error: { code: -32602 } })
    const bad = await call('tools/call', { name: 'echo', arguments: { text: 5 } })
    const asResult = ['2025-11-25', '2026-07-28'].includes(revision)
    expect(bad).toMatchObject(
      asResult ? { result: { isError: true } } : { error: { code: -32602 } },
    )
  })

  it('reads resources, single ones and families', async () => {
    const { call } = await open()
    expect(await call('resources/read', { uri: 'file:///etc/app.json' })).toMatchObject({
      result: {
        contents: [{ uri: 'file:///etc/app.json', text: '{}', mimeType: 'application/json' }],
      },
    })
    expect(await call('resources/read', { uri: 'db://users/ada' })).toMatchObject({
      result: { contents: [{ uri: 'db://users/ada', text: 'user ada' }] },
    })
    const code = revision === '2026-07-28' ? -32602 : -32002
    for (const uri of ['db://users/bob', 'nope://x']) {
      expect(await call('resources/read', { uri })).toMatchObject({
        error: { code, data: { uri } },
      })
    }
    expect(await call('resources/templates/list')).toMatchObject({
      result: { resourceTemplates: [{ name: 'user', uriTemplate: 'db://users/{id}' }] },
    })
  })

  it('fills in prompts and completes their arguments', async () => {
    const { call } = await open()
    expect(await call('prompts/list')).toMatchObject({
      result: { prompts: [{ name: 'review', arguments: [{ name: 'code', required: true }] }] },
    })
    expect(await call('prompts/get', { name: 'review', arguments: { code: 'x' } })).toMatchObject({
      result: { messages: [{ role: 'user', content: { type: 'text', text: 'Review x' } }] },
    })
    expect(await call('prompts/get', { name: 'review' })).toMatchObject({ error: { code: -32602 } })
    const argument = { name: 'code', value: 'f' }
    const ref = { type: 'ref/prompt', name: 'review' }
    expect(await call('completion/complete', { ref, argument })).toMatchObject({
      result: { completion: { values: ['f!'], hasMore: false } },
    })
  })

  it('notifies subscribers of changes', async () => {
    const server = everything()
    const client = attach(server)
    const isStateless = revision === '2026-07-28'
    if (isStateless) {
      client.send({
        id: 'sub',
        method: 'subscriptions/listen',
        params: {
          notifications: {
            toolsListChanged: true,
            resourceSubscriptions: ['file:///etc/app.json'],
          },
          _meta: envelope,
        },
      })
      expect(client.read()).toMatchObject([
        {
          method: 'notifications/subscriptions/acknowledged',
          params: { notifications: { toolsListChanged: true } },
        },
      ])
    } else {
      await client.initialize(revision)
      await client.ask('resources/subscribe', { uri: 'file:///etc/app.json' })
    }
    client.read()
    server.tool('more', {}, () => 'more')
    server.updated('file:///etc/app.json')
    server.updated('file:///other')
    await turn()
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 'sub' }
    expect(client.read()).toMatchObject([
      { method: 'notifications/tools/list_changed', ...(isStateless && { params: { _meta } }) },
      { method: 'notifications/resources/updated', params: { uri: 'file:///etc/app.json' } },
    ])
    await client.session.close()
    if (isStateless) expect(client.read()[0]).toMatchObject({ id: 'sub', result: { _meta } })
  })
})

it('what handlers return may be a promise of any kind', async () => {
  const server = new Server({ name: 'test', version: '1' })
  const later = <T>(value: T) => {
    const promise = Promise.resolve(value)
    // biome-ignore lint/suspicious/noThenProperty: query builders of databases are just this
    return { then: promise.then.bind(promise) } as unknown as Promise<T>
  }
  server.tool('query', {}, () => later('rows'))
  server.resource('table', 'db://table', {}, () => later('cells'))
  server.prompt('ask', {}, () => later('words'))
  server.method('x/query', () => later({ rows: 1 }))
  const complete = { id: () => later(['7']) }
  server.resourceTemplate('row', 'db://rows/{id}', { complete }, () => later('row'))
  const client = attach(server)
  await client.initialize()
  expect(await client.ask('tools/call', { name: 'query' })).toMatchObject({
    result: { content: [{ text: 'rows' }] },
  })
  expect(await client.ask('resources/read', { uri: 'db://table' })).toMatchObject({
    result: { contents: [{ text: 'cells' }] },
  })
  expect(await client.ask('prompts/get', { name: 'ask' })).toMatchObject({
    result: { messages: [{ content: { text: 'words' } }] },
  })
  const ref = { type: 'ref/resource', uri: 'db://rows/{id}' }
  const argument = { name: 'id', value: '' }
  expect(await client.ask('completion/complete', { ref, argument })).toMatchObject({
    result: { completion: { values: ['7'] } },
  })
  expect(await client.ask('x/query')).toMatchObject({ result: { rows: 1 } })
})

it('a handler that stops because its request was cancelled is not reported', async () => {
  const onError = vi.fn()
  const server = new Server({ name: 'test', version: '1' }, { onError })
  server.prompt('wait', {}, (_, { signal }) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('gave up')))
    })
  })
  const client = attach(server)
  await client.initialize()
  client.send({ id: 'w', method: 'prompts/get', params: { name: 'wait' } })
  client.send({ method: 'notifications/cancelled', params: { requestId: 'w' } })
  await turn()
  expect(onError).not.toHaveBeenCalled()
})
