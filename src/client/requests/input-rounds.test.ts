import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  type Answer,
  type Loose,
  never,
  serverOf,
  statelessServer,
  turns,
} from '../../../test/support/scripted-server.ts'
import { openClient } from '../client.ts'
import type { ClientOptions } from '../options.ts'

const form = (message: string) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: { a: { type: 'string' } } } },
})
const done = { resultType: 'complete', content: [], messages: [], contents: [] }
const accept = (a: string) => ({ action: 'accept', content: { a } }) as const
const elicit: ClientOptions['elicit'] = ({ message }) => accept(message)

/** Answers with one result after the other. */
const inTurn = (...results: unknown[]): Answer => {
  let turn = 0
  return () => results[turn++] ?? done
}
const inputRequired = (requests: object | undefined, requestState?: string) => ({
  resultType: 'input_required',
  ...(requests !== undefined && { inputRequests: requests }),
  ...(requestState !== undefined && { requestState }),
})

describe('a result that needs input', () => {
  const methods: readonly [string, (client: Loose) => Promise<unknown>][] = [
    ['tools/call', client => client.call('x', { y: 1 })],
    ['prompts/get', client => client.prompt('x', { y: '1' })],
    ['resources/read', client => client.read('file:///x')],
  ]
  it.each(methods)('of %s is answered by a retry', async (method, call) => {
    const state = 'opaque "state"\u0000é'
    const server = statelessServer({
      [method]: inTurn(inputRequired({ first: form('one'), second: form('two') }, state)),
    })
    await using client = await openClient(server.dial, { elicit })
    await call(client)
    const [first, second] = server.sent(method)
    const { inputResponses, requestState, ...rest } = second
    expect(rest).toEqual(first)
    expect(first).not.toHaveProperty('requestState')
    expect(inputResponses).toEqual({ first: accept('one'), second: accept('two') })
    expect(requestState).toBe(state)
    const ids = server.received.filter(received => received.method === method).map(({ id }) => id)
    expect(ids[0]).not.toBe(ids[1])
  })

  it('without a state is retried without one', async () => {
    proves('M11c')
    const server = statelessServer({ 'tools/call': inTurn(inputRequired({ q: form('one') })) })
    await using client = await openClient(server.dial, { elicit })
    await client.call('x')
    expect(server.sent('tools/call')[1]).not.toHaveProperty('requestState')
  })

  it('without input requests is retried at once, with its state alone', async () => {
    const server = statelessServer({ 'tools/call': inTurn(inputRequired(undefined, 's1')) })
    await using client = await openClient(server.dial)
    await client.call('x')
    const [, second] = server.sent('tools/call')
    expect(second).toMatchObject({ requestState: 's1' })
    expect(second).not.toHaveProperty('inputResponses')
  })

  it('may follow another, and only the latest state and responses are sent', async () => {
    const server = statelessServer({
      'tools/call': inTurn(
        inputRequired({ a: form('1') }, 's1'),
        inputRequired({ b: form('2') }, 's2'),
        inputRequired({ c: form('3') }),
      ),
    })
    await using client = await openClient(server.dial, { elicit })
    await client.call('x')
    const [, second, third, fourth] = server.sent('tools/call')
    expect([second.requestState, third.requestState, fourth.requestState]).toEqual([
      's1',
      's2',
      undefined,
    ])
    expect(
      [second, third, fourth].map(({ inputResponses }) => Object.keys(inputResponses)),
    ).toEqual([['a'], ['b'], ['c']])
  })

  it('never leaks into another request', async () => {
    const server = statelessServer({
      'tools/call': ({ name, requestState }) =>
        name === 'ask' && requestState === undefined
          ? inputRequired({ q: form('?') }, 'secret')
          : done,
    })
    let release: () => void = () => {}
    const slow: ClientOptions['elicit'] = () =>
      new Promise(resolve => {
        release = () => resolve(accept('x'))
      })
    await using client = await openClient(server.dial, { elicit: slow })
    const asking = client.call('ask')
    await turns()
    await client.call('other')
    release()
    await asking
    await client.call('other')
    for (const params of server.sent('tools/call').filter(({ name }) => name === 'other')) {
      expect(params).not.toHaveProperty('requestState')
      expect(params).not.toHaveProperty('inputResponses')
    }
  })

  it('is given up after ten rounds', async () => {
    const server = statelessServer({
      'tools/call': () => inputRequired({ q: form('again?') }, 's'),
    })
    await using client = await openClient(server.dial, { elicit })
    await expect(client.call('x')).rejects.toMatchObject({ code: 'too-many' })
    expect(server.sent('tools/call')).toHaveLength(11)
  })

  it('has all its input requests handled concurrently', async () => {
    const server = statelessServer({
      'tools/call': inTurn(
        inputRequired({ a: form('a'), b: form('b'), c: { method: 'roots/list' } }),
      ),
    })
    let open = 0
    const together: ClientOptions['elicit'] = async ({ message }) => {
      open++
      await turns(1)
      return accept(`${message} of ${open}`)
    }
    await using client = await openClient(server.dial, { elicit: together, roots: [] })
    await client.call('x')
    expect(server.sent('tools/call')[1].inputResponses).toEqual({
      a: accept('a of 2'),
      b: accept('b of 2'),
      c: { roots: [] },
    })
  })

  it('keeps keys unchanged, whatever their names', async () => {
    const keys = ['__proto__', 'constructor', '', 'a b']
    const requests = Object.fromEntries(keys.map(key => [key, form(key)]))
    const server = statelessServer({ 'tools/call': inTurn(inputRequired(requests)) })
    await using client = await openClient(server.dial, { elicit })
    await client.call('x')
    const { inputResponses } = server.sent('tools/call')[1]
    expect(Object.keys(inputResponses)).toEqual(keys)
  })

  it.each([
    ['an undeclared request', { q: { method: 'sampling/createMessage', params: {} } }, 'refused'],
    ['an unknown request', { q: { method: 'acme/ask' } }, 'refused'],
    ['a request without a method', { q: {} }, 'framing'],
    ['input requests that are not an object', 'what?', 'framing'],
  ])('with %s is refused before any handler runs', async (_, requests, code) => {
    const ask = vi.fn(elicit as Loose)
    const mixed = typeof requests === 'string' ? requests : { first: form('1'), ...requests }
    const server = statelessServer({ 'tools/call': () => inputRequired(mixed as Loose) })
    await using client = await openClient(server.dial, { elicit: ask as Loose })
    await expect(client.call('x')).rejects.toMatchObject({ code })
    expect(ask).not.toHaveBeenCalled()
    expect(server.sent('tools/call')).toHaveLength(1)
  })

  it('is invalid without input requests and state', async () => {
    const server = statelessServer({ 'tools/call': () => inputRequired(undefined) })
    await using client = await openClient(server.dial, { elicit })
    await expect(client.call('x')).rejects.toMatchObject({ code: 'framing' })
  })

  it('rejects with what a handler throws, and stops the others', async () => {
    const cause = new Error('the user went home')
    let stopped = false
    const server = statelessServer({
      'tools/call': () => inputRequired({ a: form('a'), b: form('b') }),
    })
    await using client = await openClient(server.dial, {
      elicit: ({ message }, { signal }) => {
        if (message === 'b') throw cause
        signal.addEventListener('abort', () => {
          stopped = true
        })
        return never()
      },
    })
    await expect(client.call('x')).rejects.toBe(cause)
    expect(stopped).toBe(true)
    expect(server.sent('tools/call')).toHaveLength(1)
  })

  it('can be aborted while a handler waits', async () => {
    let seen: AbortSignal | undefined
    const server = statelessServer({ 'tools/call': () => inputRequired({ a: form('a') }) })
    await using client = await openClient(server.dial, {
      elicit: (_, { signal }) => {
        seen = signal
        return never()
      },
    })
    const giveUp = new AbortController()
    const call = client.call('x', {}, { signal: giveUp.signal }).catch(e => e)
    await turns()
    giveUp.abort('enough')
    expect(await call).toBe('enough')
    expect(seen?.aborted).toBe(true)
  })

  it('ends with the client', async () => {
    const server = statelessServer({ 'tools/call': () => inputRequired({ a: form('a') }) })
    const client = await openClient(server.dial, { elicit: never })
    const call = client.call('x').catch(e => e)
    await turns()
    await client.close()
    expect(await call).toMatchObject({ code: 'closed' })
  })

  it('is answered on another connection if the first was lost meanwhile', async () => {
    const server = statelessServer({ 'tools/call': inTurn(inputRequired({ a: form('a') }, 's')) })
    let release: () => void = () => {}
    await using client = await openClient(server.dial, {
      elicit: () =>
        new Promise(resolve => {
          release = () => resolve(accept('x'))
        }),
    })
    const call = client.call('x')
    await turns()
    await server.disconnect()
    release()
    await call
    expect(server.connections).toHaveLength(2)
    expect(server.sent('tools/call')[1]).toMatchObject({ requestState: 's' })
  })
})

describe('the type of a result', () => {
  const types: readonly [string, object, boolean][] = [
    ['absent', { content: [] }, true],
    ['complete', { resultType: 'complete', content: [] }, true],
    ['unknown', { resultType: 'partial', content: [] }, false],
    ['a number', { resultType: 7, content: [] }, false],
    ['null', { resultType: null, content: [] }, false],
    ['named like something every object has', { resultType: 'constructor', content: [] }, false],
  ]
  it.each(types)('may be %s or not', async (_, result, isFine) => {
    proves('B10', 'B10b')
    const server = statelessServer({ 'tools/call': () => result })
    await using client = await openClient(server.dial)
    const answer = client.call('x')
    if (isFine) expect((await answer).content).toEqual([])
    else await expect(answer).rejects.toMatchObject({ code: 'framing' })
  })

  it.each([
    ['tools/list', (client: Loose) => client.request('tools/list')],
    ['completion/complete', (client: Loose) => client.complete({ prompt: 'p' }, 'a', '')],
    ['acme/do', (client: Loose) => client.request('acme/do')],
  ])('must not be input_required for %s', async (method, call) => {
    const server = statelessServer({ [method]: () => inputRequired({ q: form('?') }) })
    await using client = await openClient(server.dial, { elicit })
    await expect(call(client)).rejects.toMatchObject({ code: 'framing' })
  })

  it.each(['tools/list', 'resources/read', 'prompts/get', 'acme/do'])(
    'must not be a task for %s',
    async method => {
      proves('X3')
      const server = statelessServer({
        [method]: () => ({ resultType: 'task', taskId: 't1', status: 'working' }),
      })
      await using client = await openClient(server.dial, { onError: () => {} })
      await expect(client.request(method, { uri: 'x:y' })).rejects.toMatchObject({
        code: 'framing',
      })
    },
  )

  it('means nothing in a session', async () => {
    const server = serverOf('2025-11-25', {
      'tools/call': () => ({ resultType: 'input_required', content: [] }),
    })
    await using client = await openClient(server.dial, { onError: () => {} })
    expect((await client.call('x')).content).toEqual([])
  })
})
