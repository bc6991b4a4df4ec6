import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { allRevisions, answeringClient, stateless } from '../../../test/support/answering-client.ts'
import { rawClient } from '../../../test/support/raw-client.ts'
import { turn } from '../../../test/support/wire.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { Server } from '../server.ts'

function make(onError: (error: unknown) => void = () => {}) {
  return new Server({ name: 'test', version: '1' }, { onError })
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': stateless,
  'io.modelcontextprotocol/clientCapabilities': {},
}

describe.each(allRevisions)('a custom method in %s', revision => {
  it('is answered with the result of its handler, which sees the params and their _meta', async () => {
    const server = make()
    server.method('x/sum', async ({ a, b }, ctx) => {
      ctx.progress(1)
      return { sum: Number(a) + Number(b), by: ctx.meta['test/by'], _meta: { 'test/seen': true } }
    })
    server.method('x/nothing', () => {})
    server.method('x/refuses', () => {
      throw errors.accessDenied({ resource: 'x' })
    })
    const client = await answeringClient(server, revision)
    const _meta = { 'test/by': 'me', progressToken: 't' }
    const { result } = await client.request('x/sum', { a: 1, b: 2, _meta })
    expect(result).toMatchObject({ sum: 3, by: 'me', _meta: { 'test/seen': true } })
    expect(client.received()).toMatchObject([{ method: 'notifications/progress' }])
    const nothing = (await client.request('x/nothing')).result
    if (revision === stateless) {
      expect(result).toMatchObject({ resultType: 'complete' })
      expect(nothing).toMatchObject({ resultType: 'complete' })
    } else {
      expect(nothing).toEqual({})
    }
    expect((await client.request('x/refuses')).error).toMatchObject({
      data: { kind: 'access_denied' },
    })
    expect((await client.request('x/other')).error).toMatchObject({ code: -32601 })
  })

  it('that does not return an object is an internal error', async () => {
    const onError = vi.fn()
    const server = make(onError)
    server.method('x/bad', () => 5)
    const client = await answeringClient(server, revision)
    expect((await client.request('x/bad')).error).toMatchObject({ code: -32603 })
    expect(String(onError.mock.calls[0]?.[0])).toContain('method "x/bad" must return an object')
  })
})

it.each(allRevisions)(
  'takes notifications of that name in %s, without a response',
  async revision => {
    proves('B7b')
    const server = make()
    const heard = vi.fn()
    server.method('notifications/x/happened', ({ n }, { caller }) => heard(n, caller.revision.name))
    const client = await answeringClient(server, revision)
    const _meta = revision === stateless ? envelope : undefined
    client.send({ method: 'notifications/x/happened', params: { n: 1, _meta } })
    await turn()
    expect(heard.mock.calls).toEqual([[1, revision]])
    expect(client.received()).toEqual([])
  },
)

it('reports the failure of a notification once, unchanged', async () => {
  const onError = vi.fn()
  const server = make(onError)
  const broken = new Error('broken')
  server.method('notifications/x/happened', () => {
    throw broken
  })
  const client = await answeringClient(server, '2025-11-25')
  client.send({ method: 'notifications/x/happened' })
  await turn()
  expect(onError.mock.calls.map(([error]) => error)).toEqual([broken])
})

it.each([
  ['tools/call', /the protocol already has a method "tools\/call"/],
  ['notifications/cancelled', /the protocol already has/],
  ['sampling/createMessage', /the protocol already has/],
  ['rpc.discover', /reserved by JSON-RPC/],
  ['x/taken', /duplicate method "x\/taken"/],
  ['', /must have a name/],
])('the name %j is refused', (name, why) => {
  const server = make().method('x/taken', () => ({}))
  expect(() => server.method(name, () => ({}))).toThrow(why)
})

describe('capabilities beside the protocol', () => {
  const extensions = { 'com.example/things': { deep: true }, 'io.modelcontextprotocol/ui': {} }
  const experimental = { telepathy: { range: 3 } }

  it.each(allRevisions)('are declared where %s has a place for them', async revision => {
    proves('V10', 'V10b')
    const server = new Server({ name: 'test', version: '1' }, { extensions, experimental })
    const client = rawClient(server, revision)
    const isStateless = revision === stateless
    const { result } = isStateless ? await client.request('server/discover') : await client.open()
    expect(result?.capabilities).toEqual({
      logging: {},
      experimental,
      ...(isStateless && { extensions }),
    })
  })

  it('show what the client has declared', async () => {
    proves('V10b')
    const server = new Server({ name: 'test', version: '1' }, { extensions })
    server.tool('things', {}, (_, { caller }) =>
      caller.capabilities.extensions?.['com.example/things'] === undefined ? 'plain' : 'deep',
    )
    const client = await answeringClient(server, stateless)
    const call = { name: 'things' }
    expect((await client.request('tools/call', call, {})).result).toMatchObject({
      content: [{ text: 'plain' }],
    })
    expect((await client.request('tools/call', call, { extensions })).result).toMatchObject({
      content: [{ text: 'deep' }],
    })
  })

  it.each([
    ['things', {}, /no prefix/],
    ['com.example/', {}, undefined],
    ['-x/things', {}, /prefix is not made of labels/],
    ['com.example/things', 5, /settings must be an object/],
  ])('have names with a prefix: %j', (name, settings, why) => {
    proves('V10')
    const make = () =>
      new Server(
        { name: 'test', version: '1' },
        { extensions: { [name]: settings as object } as never },
      )
    if (why === undefined) expect(make).not.toThrow()
    else expect(make).toThrow(why)
  })
})
