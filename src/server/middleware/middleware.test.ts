import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  allRevisions,
  answeringClient,
  stateless,
  textOf,
} from '../../../test/support/answering-client.ts'
import { turn, wire } from '../../../test/support/wire.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { ServerOptions } from '../options.ts'
import { Server } from '../server.ts'

function make(options: ServerOptions = {}) {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {}, ...options })
  server.tool('echo', {}, () => 'hi')
  server.tool('slow', {}, async () => 'hi')
  server.resource('r', 'r:///1', {}, () => 'r')
  return server
}

function thenable<T>(value: T): PromiseLike<T> {
  const promise = Promise.resolve(value)
  // biome-ignore lint/suspicious/noThenProperty: that is the point
  return { then: promise.then.bind(promise) }
}

describe.each(allRevisions)('middleware in %s', revision => {
  it('stands around every request and notification, the first outermost', async () => {
    const seen: string[] = []
    const server = make()
    for (const name of ['outer', 'inner']) {
      server.use(next => (message, exchange) => {
        seen.push(`${name} ${message.method}`)
        return next(message, exchange)
      })
    }
    const client = await answeringClient(server, revision)
    await turn()
    seen.splice(0)
    expect(textOf(await client.request('tools/call', { name: 'echo' }))).toBe('hi')
    client.send({ method: 'x/note' })
    expect(seen).toEqual(['outer tools/call', 'inner tools/call', 'outer x/note', 'inner x/note'])
  })

  it('may answer in place of the server, and its answer is whole', async () => {
    proves('B9', 'V3', 'U10')
    const server = make()
    server.use(next => (message, exchange) => {
      if (message.method === 'tools/call') return { content: [], _meta: { 'a/b': 1 } }
      if (message.method === 'tools/list') return Promise.resolve({ tools: [] })
      if (message.method === 'resources/list') return thenable({ resources: [] })
      return next(message, exchange)
    })
    const client = await answeringClient(server, revision)
    const { result } = await client.request('tools/call', { name: 'echo' })
    const { result: list } = await client.request('tools/list')
    expect((await client.request('resources/list')).result).toMatchObject({ resources: [] })
    expect(result).toMatchObject({ content: [], _meta: { 'a/b': 1 } })
    if (revision === stateless) {
      expect(result).toMatchObject({ resultType: 'complete' })
      expect(list).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' })
    } else {
      expect(result).not.toHaveProperty('resultType')
      expect(list).toEqual({ tools: [] })
    }
  })

  it('may change an answer where it is, which is whole all the same', async () => {
    const server = make()
    server.use(next => (message, exchange) => {
      const result = next(message, exchange)
      if (message.method === 'tools/call') Object.assign(result as object, { _meta: { 'a/b': 1 } })
      if (message.method === 'tools/list') Reflect.deleteProperty(result as object, 'resultType')
      return result
    })
    const client = await answeringClient(server, revision)
    const { result } = await client.request('tools/call', { name: 'echo' })
    expect(result).toMatchObject({ content: [{ text: 'hi' }], _meta: { 'a/b': 1 } })
    if (revision !== stateless) return
    expect(result?._meta).toHaveProperty(['io.modelcontextprotocol/serverInfo'])
    expect((await client.request('tools/list')).result).toHaveProperty('resultType', 'complete')
  })

  it('may change what comes back, and sees errors as what they are', async () => {
    const kinds: unknown[] = []
    const server = make()
    server.use(next => async (message, exchange) => {
      try {
        const result = (await next(message, exchange)) as object
        return message.method === 'tools/call' ? { ...result, content: [] } : result
      } catch (error) {
        kinds.push(error instanceof RpcError ? error.kind : error)
        throw error
      }
    })
    const client = await answeringClient(server, revision)
    expect((await client.request('tools/call', { name: 'echo' })).result?.content).toEqual([])
    await client.request('tools/call', { name: 'nope' })
    await client.request('resources/read', { uri: 'no:///1' })
    expect(kinds).toEqual(['tool_not_found', 'resource_not_found'])
  })

  it.each([
    ['at once', false],
    ['later', true],
  ])('that throws %s is answered in the numbers of the caller', async (_, isLater) => {
    const server = make()
    server.use(next => (message, exchange) => {
      if (message.method !== 'resources/read') return next(message, exchange)
      const error = errors.resourceNotFound({ uri: 'gone:///1' })
      if (isLater) return Promise.reject(error)
      throw error
    })
    const client = await answeringClient(server, revision)
    expect((await client.request('resources/read', { uri: 'r:///1' })).error).toMatchObject({
      code: revision === stateless ? -32602 : -32002,
      data: { uri: 'gone:///1', kind: 'resource_not_found' },
    })
  })

  it('that fails is an internal error, whose story stays here', async () => {
    proves('B6b')
    const onError = vi.fn()
    const server = make({ onError })
    const failure = new Error('the password is 123')
    server.use(next => (message, exchange) => {
      if (message.method === 'tools/list') throw failure
      if (message.method === 'tools/call') return Promise.reject(failure)
      return next(message, exchange)
    })
    const client = await answeringClient(server, revision)
    for (const [method, params] of [
      ['tools/list', {}],
      ['tools/call', { name: 'echo' }],
    ] as const) {
      const { error } = await client.request(method, params)
      expect(error).toEqual({
        code: -32603,
        message: 'Internal error',
        data: { kind: 'internal_error' },
      })
      expect(onError).toHaveBeenLastCalledWith(failure, expect.objectContaining({ method }))
    }
    expect(onError).toHaveBeenCalledTimes(2)
  })
})

it('stands around each message of a batch', () => {
  const server = make()
  const seen: string[] = []
  server.use(next => (message, exchange) => {
    seen.push(message.method)
    if (message.method === 'ping') throw errors.accessDenied({ resource: 'ping' })
    return next(message, exchange)
  })
  const w = wire()
  server.attach(w.channel)
  const say = (message: object) => void w.deliver(JSON.stringify(message))
  const params = {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  }
  say({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  w.sent.splice(0)
  say([
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo' } },
  ])
  expect(seen).toEqual(['initialize', 'ping', 'notifications/initialized', 'tools/call'])
  expect(JSON.parse(w.sent[0] ?? '')).toMatchObject([
    { id: 1, error: { code: -32056 } },
    { id: 2, result: {} },
  ])
})

it('added later stands around what comes then, on connections that are open', async () => {
  const server = make()
  const client = await answeringClient(server, '2025-11-25')
  server.use(() => () => ({ tools: [] }))
  expect((await client.request('tools/list')).result).toEqual({ tools: [] })
})

describe.each(allRevisions)('what fails inside of a server, in %s', revision => {
  it('is an internal error to the client and the whole story to onError', async () => {
    proves('S15e', 'S17c', 'U9f')
    const onError = vi.fn()
    const server = make({ onError })
    const failure = new Error('disk on fire')
    const fails = () => {
      throw failure
    }
    server.resource('bad', 'bad:///1', {}, fails)
    server.prompt('bad', {}, async () => fails())
    server.resourceTemplate('t', 't:///{id}', { complete: { id: fails } }, () => '')
    const client = await answeringClient(server, revision)
    const calls = [
      ['resources/read', { uri: 'bad:///1' }],
      ['prompts/get', { name: 'bad' }],
      [
        'completion/complete',
        { ref: { type: 'ref/resource', uri: 't:///{id}' }, argument: { name: 'id', value: '' } },
      ],
    ] as const
    for (const [method, params] of calls) {
      expect((await client.request(method, params)).error).toMatchObject({
        code: -32603,
        message: 'Internal error',
      })
      const message = expect.objectContaining({ method, params: expect.objectContaining(params) })
      expect(onError).toHaveBeenLastCalledWith(failure, message)
    }
    expect(onError).toHaveBeenCalledTimes(3)
  })
})
