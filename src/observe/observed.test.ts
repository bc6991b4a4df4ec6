import { afterEach, describe, expect, it } from 'vitest'
import { allRevisions, answeringClient, stateless } from '../../test/support/answering-client.ts'
import { turn, wire } from '../../test/support/wire.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { methods } from '../jsonrpc/handler.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import { Server } from '../server/server.ts'
import { CallSpan, hasCallSubscribers } from './call.ts'
import { type CallFinished, type CallStarted, events } from './events.ts'
import { observed, withSessionEvents } from './observed.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

function recorded() {
  const started: CallStarted[] = []
  const finished: CallFinished[] = []
  ends.push(events.callStarted.subscribe(call => started.push(call)))
  ends.push(events.callFinished.subscribe(call => finished.push(call)))
  return { started, finished }
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
  it('publish events with their subject, outcome and caller', async () => {
    const server = make()
    const client = await answeringClient(server, revision, { principal: 'ada' })
    const { started, finished } = recorded()
    await client.request('tools/call', { name: 'echo' })
    await client.request('tools/call', { name: 'slow' })
    await client.request('tools/call', { name: 'bad' })
    await client.request('tools/call', { name: 'none' })
    await client.request('resources/read', { uri: 'r:///1' })
    await client.request('prompts/get', { name: 'p' })
    await client.request('tools/list')
    await client.request('no/such')
    await turn()
    expect(
      finished.map(({ method, name, outcome, kind }) => [method, name, outcome, kind]),
    ).toEqual([
      ['tools/call', 'echo', 'ok', undefined],
      ['tools/call', 'slow', 'ok', undefined],
      ['tools/call', 'bad', 'tool-error', undefined],
      ['tools/call', 'none', 'error', 'tool_not_found'],
      ['resources/read', 'r:///1', 'error', 'internal_error'],
      ['prompts/get', 'p', 'ok', undefined],
      ['tools/list', undefined, 'ok', undefined],
      ['no/such', undefined, 'error', 'method_not_found'],
    ])
    expect(started).toEqual(finished)
    expect(started[0]).toBe(finished[0])
    for (const call of finished) {
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

  it('publish nothing without subscribers', async () => {
    const client = await answeringClient(make(), revision)
    expect(hasCallSubscribers()).toBe(false)
    expect((await client.request('tools/call', { name: 'echo' })).result).toBeDefined()
  })
})

it('an input_required result has an outcome of its own', async () => {
  const client = await answeringClient(make(), stateless)
  const { finished } = recorded()
  await client.request('tools/call', { name: 'ask' })
  await turn()
  expect(finished.map(({ outcome }) => outcome)).toEqual(['input-required'])
})

it('an aborted call has the outcome cancelled', async () => {
  const { finished } = recorded()
  const handler = observed()(async () => {
    throw new Error('given up')
  })
  const exchange = { signal: AbortSignal.abort(), envelope: {}, notify: () => {} }
  const answer = handler({ type: 'request', id: 1, method: 'x' }, exchange)
  await expect(answer).rejects.toThrow('given up')
  expect(finished).toMatchObject([{ method: 'x', outcome: 'cancelled' }])
})

it('callFailed is published for failed calls only', async () => {
  const client = await answeringClient(make(), stateless, { principal: 'ada' })
  const failed: CallFinished[] = []
  ends.push(events.callFailed.subscribe(call => failed.push(call)))
  for (const name of ['echo', 'slow', 'bad', 'none']) await client.request('tools/call', { name })
  await client.request('resources/read', { uri: 'r:///1' })
  expect(failed.map(({ method, name, kind }) => [method, name, kind])).toEqual([
    ['tools/call', 'none', 'tool_not_found'],
    ['resources/read', 'r:///1', 'internal_error'],
  ])
  for (const call of failed) {
    expect(call.durationMs).toBeGreaterThanOrEqual(0)
    expect(call.caller).toMatchObject({ principal: 'ada', revision: stateless })
  }
})

it('notifications are not calls', () => {
  const { started } = recorded()
  const exchange = { signal: AbortSignal.any([]), envelope: {}, notify: () => {} }
  observed()(methods({ x: () => 1 }))({ type: 'notification', method: 'x' }, exchange)
  expect(started).toEqual([])
})

it('hostile params yield neither a name nor a client', () => {
  const { finished } = recorded()
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
  expect(finished.map(({ name, caller }) => [name, caller.client])).toEqual(
    hostile.map(() => [undefined, undefined]),
  )
})

describe('a call span', () => {
  it('is published once, with the members set meanwhile', () => {
    const { started, finished } = recorded()
    const call = new CallSpan({
      method: 'tools/call',
      name: 'x',
      server: 'files',
      caller: { principal: 'ada' },
    })
    expect(started).toEqual([call])
    call.instance = 'files#1'
    call.retries = 1
    call.fail(new RpcError(-32050, 'words'))
    call.end('ok')
    expect(finished).toHaveLength(1)
    expect(finished[0]).toMatchObject({
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

it('connections publish sessionOpened and sessionClosed', async () => {
  const published: unknown[] = []
  ends.push(events.sessionOpened.subscribe(event => published.push(event)))
  ends.push(events.sessionClosed.subscribe(event => published.push(event)))
  const endpoint = withSessionEvents(make())
  const attachment = endpoint.attach(wire().channel, { principal: { id: 'ada' } })
  await attachment.close()
  await turn()
  const session = expect.any(Number)
  expect(published).toEqual([
    { session, caller: { principal: 'ada' } },
    { session, durationMs: expect.any(Number), reason: undefined },
  ])
})

it('withSessionEvents changes nothing else of an endpoint', () => {
  const { profile, revisions, handle } = make()
  const attach: Endpoint['attach'] = () => {
    throw new Error('not connected')
  }
  const endpoint: Endpoint = { profile, revisions, handle, rawCalls: new Map(), attach }
  expect({ ...withSessionEvents(endpoint), attach }).toEqual(endpoint)
})

describe('events', () => {
  it('are published on channels of their names', () => {
    const names = Object.values(events).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^trunkline:[a-z-]+:[a-z]+$/)
    const seen: unknown[] = []
    const end = events.toolChanged.subscribe(event => seen.push(event))
    expect(events.toolChanged.hasSubscribers).toBe(true)
    const event = { server: 's', tool: 't', change: 'added' } as const
    events.toolChanged.publish(event)
    end()
    expect(events.toolChanged.hasSubscribers).toBe(false)
    events.toolChanged.publish(event)
    expect(seen).toEqual([event])
  })
})
