import { afterEach, describe, expect, it } from 'vitest'
import { allRevisions, asked, stateless } from '../../test/support/asking.ts'
import { turn, wire } from '../../test/support/wire.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { methods } from '../jsonrpc/handler.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import { Server } from '../server/server.ts'
import { callsAreHeard, LiveCall } from './call.ts'
import { type CallBegun, type CallEnded, events } from './events.ts'
import { observed, sessionsOf } from './observed.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

function heard() {
  const begun: CallBegun[] = []
  const ended: CallEnded[] = []
  ends.push(events.callBegun.subscribe(call => begun.push(call)))
  ends.push(events.callEnded.subscribe(call => ended.push(call)))
  return { begun, ended }
}

function make() {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  server.use(observed({ server: 'files' }))
  server.tool('echo', {}, () => 'hi')
  server.tool('slow', {}, async () => 'hi')
  server.tool('bad', {}, () => {
    throw new Error('no')
  })
  server.tool('ask', {}, async (_, ctx) => {
    await ctx.elicit({ message: '?', schema: { type: 'object', properties: {} } as const })
    return 'asked'
  })
  server.resource('r', 'r:///1', {}, () => {
    throw new Error('disk on fire')
  })
  server.prompt('p', {}, () => 'p')
  return server
}

describe.each(allRevisions)('calls in %s', revision => {
  it('are told of with what they are, how they ended and who made them', async () => {
    const server = make()
    const client = await asked(server, revision, { principal: 'ada' })
    const { begun, ended } = heard()
    await client.ask('tools/call', { name: 'echo' })
    await client.ask('tools/call', { name: 'slow' })
    await client.ask('tools/call', { name: 'bad' })
    await client.ask('tools/call', { name: 'none' })
    await client.ask('resources/read', { uri: 'r:///1' })
    await client.ask('prompts/get', { name: 'p' })
    await client.ask('tools/list')
    await client.ask('no/such')
    await turn()
    expect(ended.map(({ method, name, outcome, kind }) => [method, name, outcome, kind])).toEqual([
      ['tools/call', 'echo', 'ok', undefined],
      ['tools/call', 'slow', 'ok', undefined],
      ['tools/call', 'bad', 'tool-error', undefined],
      ['tools/call', 'none', 'error', 'tool_not_found'],
      ['resources/read', 'r:///1', 'error', 'internal_error'],
      ['prompts/get', 'p', 'ok', undefined],
      ['tools/list', undefined, 'ok', undefined],
      ['no/such', undefined, 'error', 'method_not_found'],
    ])
    expect(begun).toEqual(ended)
    expect(begun[0]).toBe(ended[0])
    for (const call of ended) {
      expect(call.durationMs).toBeGreaterThanOrEqual(0)
      expect(call.server).toBe('files')
      expect(call.caller).toEqual({
        principal: 'ada',
        client: { name: expect.any(String), version: expect.any(String) },
        revision,
        era: revision === stateless ? 'stateless' : 'session',
      })
    }
  })

  it('cost nothing but a look when nobody listens', async () => {
    const client = await asked(make(), revision)
    expect(callsAreHeard()).toBe(false)
    expect((await client.ask('tools/call', { name: 'echo' })).result).toBeDefined()
  })
})

it('a question in a result is no end of the matter', async () => {
  const client = await asked(make(), stateless)
  const { ended } = heard()
  await client.ask('tools/call', { name: 'ask' })
  await turn()
  expect(ended.map(({ outcome }) => outcome)).toEqual(['input-required'])
})

it('a call that was given up is told as that', async () => {
  const { ended } = heard()
  const handler = observed()(async () => {
    throw new Error('given up')
  })
  const exchange = { signal: AbortSignal.abort(), envelope: {}, notify: () => {} }
  const answer = handler({ type: 'request', id: 1, method: 'x' }, exchange)
  await expect(answer).rejects.toThrow('given up')
  expect(ended).toMatchObject([{ method: 'x', outcome: 'cancelled' }])
})

it('calls that failed are told of apart, and no others', async () => {
  const client = await asked(make(), stateless, { principal: 'ada' })
  const failed: CallEnded[] = []
  ends.push(events.callFailed.subscribe(call => failed.push(call)))
  for (const name of ['echo', 'slow', 'bad', 'none']) await client.ask('tools/call', { name })
  await client.ask('resources/read', { uri: 'r:///1' })
  expect(failed.map(({ method, name, kind }) => [method, name, kind])).toEqual([
    ['tools/call', 'none', 'tool_not_found'],
    ['resources/read', 'r:///1', 'internal_error'],
  ])
  for (const call of failed) {
    expect(call.durationMs).toBeGreaterThanOrEqual(0)
    expect(call.caller).toMatchObject({ principal: 'ada', revision: stateless })
  }
})

it('notifications are none', () => {
  const { begun } = heard()
  const exchange = { signal: AbortSignal.any([]), envelope: {}, notify: () => {} }
  observed()(methods({ x: () => 1 }))({ type: 'notification', method: 'x' }, exchange)
  expect(begun).toEqual([])
})

it('hostile params name nobody and nothing', () => {
  const { ended } = heard()
  const exchange = { signal: AbortSignal.any([]), envelope: {}, notify: () => {} }
  const handler = observed()(() => null)
  const hostile = [
    undefined,
    [],
    { name: 1, _meta: 7 },
    { name: null, _meta: { 'io.modelcontextprotocol/protocolVersion': {} } },
    {
      name: {},
      _meta: {
        'io.modelcontextprotocol/protocolVersion': 'x',
        'io.modelcontextprotocol/clientInfo': { name: 1 },
      },
    },
  ]
  for (const params of hostile)
    handler({ type: 'request', id: 1, method: 'tools/call', params }, exchange)
  expect(ended.map(({ name, caller }) => [name, caller.client])).toEqual(
    hostile.map(() => [undefined, undefined]),
  )
})

describe('a live call', () => {
  it('is told once, with what was written to it on the way', () => {
    const { begun, ended } = heard()
    const call = new LiveCall({
      method: 'tools/call',
      name: 'x',
      server: 'files',
      caller: { principal: 'ada' },
    })
    expect(begun).toEqual([call])
    call.instance = 'files#1'
    call.retries = 1
    call.fail(new RpcError(-32050, 'words'))
    call.end('ok')
    expect(ended).toHaveLength(1)
    expect(ended[0]).toMatchObject({
      server: 'files',
      instance: 'files#1',
      retries: 1,
      outcome: 'error',
      kind: 'code -32050',
      code: -32050,
      caller: { principal: 'ada' },
    })
  })
})

it('connections are told of when they are taken over and when they end', async () => {
  const told: unknown[] = []
  ends.push(events.sessionOpened.subscribe(event => told.push(event)))
  ends.push(events.sessionClosed.subscribe(event => told.push(event)))
  const endpoint = sessionsOf(make())
  const attachment = endpoint.attach(wire().channel, { principal: { id: 'ada' } })
  await attachment.close()
  await turn()
  const session = expect.any(Number)
  expect(told).toEqual([
    { session, caller: { principal: 'ada' } },
    { session, durationMs: expect.any(Number), reason: undefined },
  ])
})

it('changes nothing else of an endpoint whose connections it tells of', () => {
  const { profile, revisions, handle } = make()
  const attach: Endpoint['attach'] = () => {
    throw new Error('nobody connects')
  }
  const endpoint: Endpoint = { profile, revisions, handle, writtenCalls: new Map(), attach }
  expect({ ...sessionsOf(endpoint), attach }).toEqual(endpoint)
})

describe('events', () => {
  it('travel over channels named after them, to whoever subscribes', () => {
    const names = Object.values(events).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^trunkline:[a-z]+:[a-z]+$/)
    const seen: unknown[] = []
    const end = events.toolChanged.subscribe(event => seen.push(event))
    expect(events.toolChanged.isHeard).toBe(true)
    const event = { server: 's', tool: 't', change: 'added' } as const
    events.toolChanged.publish(event)
    end()
    expect(events.toolChanged.isHeard).toBe(false)
    events.toolChanged.publish(event)
    expect(seen).toEqual([event])
  })
})
