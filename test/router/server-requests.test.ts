import { describe, expect, onTestFinished, test } from 'vitest'
import type { UpstreamOptions } from '../../src/router/options.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { Careless } from './careless.ts'
import { caller, routed } from './routed.ts'

const eras = ['session', 'stateless'] as const
type Era = (typeof eras)[number]
const pairs = eras.flatMap(a => eras.map(b => [a, b] as const))

/** A router before a `Careless` server, with a fake clock and a function that starts calls. */
async function scene(options: Pick<UpstreamOptions, 'connections'> = { connections: 'shared' }) {
  const clock = fakeClock()
  const server = new Careless()
  const upstream = { server, prefix: false, health: { intervalMs: 0 }, ...options } as const
  const router = await routed({ x: upstream }, { clock })
  /** The callers that were elicited, in order. */
  const asked: string[] = []
  /** Starts a call of the named caller, which supports elicitation by default. */
  const begin = async (
    who: string,
    era: Era,
    { supportsElicitation = true, timeoutMs = 0 } = {},
  ) => {
    const elicit = async () => {
      asked.push(who)
      return { action: 'accept' as const, content: { name: who } }
    }
    const client = await caller(router, {
      era,
      ...(supportsElicitation && { elicit }),
      onError: () => {},
    })
    const stop = new AbortController()
    const _meta = timeoutMs > 0 ? { 'trunkline/timeoutMs': timeoutMs } : {}
    const params = { name: 'work', arguments: { who }, _meta }
    const outcome = client
      .request('tools/call', params, { signal: stop.signal })
      .catch((error: unknown) => error)
    const peer = await server.begun(who)
    return { client, stop, outcome, peer }
  }
  onTestFinished(() => {
    for (const who of ['ada', 'bob', 'carl']) server.end(who)
  })
  return { clock, server, router, asked, begin }
}

/** Lets pending work settle. */
async function settle(): Promise<void> {
  for (let count = 0; count < 20; count++) await new Promise(resolve => setImmediate(resolve))
}

/** The result of a server request, or its error message; undefined while it is pending. */
function tracked(request: Promise<unknown>): { readonly answer: unknown } {
  const state: { answer: unknown } = { answer: undefined }
  request.then(
    answer => (state.answer = answer),
    (error: Error) => (state.answer = error.message),
  )
  return state
}

const ambiguous = expect.stringContaining('it could belong to calls of several callers')
const done = (who: string) => ({ content: [{ type: 'text', text: `${who} is done` }] })
const answerOf = (who: string) => ({ action: 'accept', content: { name: who } })

describe('a server request on a connection that several callers share', () => {
  test.each(pairs)('waits until the other call finishes: a %s and a %s', async (a, b) => {
    const { server, asked, begin } = await scene()
    const ada = await begin('ada', a)
    const bob = await begin('bob', b)
    const request = tracked(server.ask())
    await settle()
    expect([request.answer, asked]).toEqual([undefined, []])
    server.end('ada')
    expect(await ada.outcome).toMatchObject(done('ada'))
    await expect.poll(() => request.answer).toEqual(answerOf('bob'))
    expect(asked).toEqual(['bob'])
    server.end('bob')
    expect(await bob.outcome).toMatchObject(done('bob'))
  })

  test('is refused when it stays ambiguous for too long, and the calls continue', async () => {
    const { clock, server, asked, begin } = await scene()
    const both = [await begin('ada', 'session'), await begin('bob', 'stateless')]
    const request = tracked(server.ask())
    await settle()
    clock.advance(2 * limits.attributionTimeoutMs.default)
    await expect.poll(() => request.answer).toEqual(ambiguous)
    server.end('ada')
    server.end('bob')
    await Promise.all(both.map(({ outcome }) => outcome))
    expect(asked).toEqual([])
  })

  test('does not count its waiting time against the call that may have sent it', async () => {
    const { clock, server, asked, begin } = await scene()
    const timeoutMs = limits.attributionTimeoutMs.default / 4
    await begin('ada', 'session', { timeoutMs })
    const bob = await begin('bob', 'session')
    const request = tracked(server.ask())
    await settle()
    clock.advance(2 * timeoutMs)
    server.end('bob')
    await bob.outcome
    await expect.poll(() => request.answer).toEqual(answerOf('ada'))
    expect(asked).toEqual(['ada'])
    expect(server.cancelled).toEqual([])
  })

  test('is sent to no caller after the server cancels it', async () => {
    const { server, asked, begin } = await scene()
    await begin('ada', 'session')
    const bob = await begin('bob', 'session')
    const request = tracked(server.ask())
    await settle()
    server.cancelLast()
    await settle()
    server.end('bob')
    await bob.outcome
    await settle()
    expect([request.answer, asked]).toEqual([undefined, []])
  })

  test('is sent to no caller after the connection is lost', async () => {
    const { server, asked, begin } = await scene()
    const ada = await begin('ada', 'session')
    const bob = await begin('bob', 'stateless')
    void server.ask().catch(() => {})
    await settle()
    await server.cut(ada.peer)
    for (const { outcome } of [ada, bob]) expect(await outcome).toMatchObject({ code: -32008 })
    expect(asked).toEqual([])
  })
})

describe('an abandoned call whose server continues', () => {
  const ways = [
    ['cancelled by a session', 'session', {}],
    ['cancelled by a stateless caller', 'stateless', {}],
    ['cancelled by a caller without elicitation', 'session', { supportsElicitation: false }],
    ['timed out', 'session', { timeoutMs: 1000 }],
    ['timed out for a stateless caller', 'stateless', { timeoutMs: 1000 }],
    [
      'timed out for a caller without elicitation',
      'stateless',
      { timeoutMs: 1000, supportsElicitation: false },
    ],
  ] as const

  test.each(ways)(
    'never has its server request sent to another caller: %s',
    async (_, era, how) => {
      const { clock, server, asked, begin } = await scene()
      const ada = await begin('ada', era, how)
      await begin('bob', 'stateless')
      if ('timeoutMs' in how) clock.advance(2 * how.timeoutMs)
      else ada.stop.abort(new Error('never mind'))
      expect(await ada.outcome).toBeInstanceOf(Error)
      await expect.poll(() => server.cancelled.length).toBe(1)
      const request = tracked(server.ask())
      await settle()
      expect(request.answer).toBeUndefined()
      clock.advance(2 * limits.attributionTimeoutMs.default)
      await expect.poll(() => request.answer).toEqual(ambiguous)
      expect(asked).toEqual([])
    },
  )

  test.each(ways)(
    'is no candidate any more once it is answered after all: %s',
    async (_, era, how) => {
      const { clock, server, asked, begin } = await scene()
      const ada = await begin('ada', era, how)
      await begin('bob', 'stateless')
      if ('timeoutMs' in how) clock.advance(2 * how.timeoutMs)
      else ada.stop.abort(new Error('never mind'))
      await ada.outcome
      await expect.poll(() => server.cancelled.length).toBe(1)
      const request = tracked(server.ask())
      await settle()
      expect(request.answer).toBeUndefined()
      server.end('ada')
      await expect.poll(() => request.answer).toEqual(answerOf('bob'))
      expect(asked).toEqual(['bob'])
    },
  )

  test('stops being a candidate after a while', async () => {
    const { clock, server, begin } = await scene()
    const ada = await begin('ada', 'session')
    ada.stop.abort(new Error('never mind'))
    await ada.outcome
    await expect.poll(() => server.cancelled.length).toBe(1)
    clock.advance(limits.abandonedMs.default)
    await begin('bob', 'session')
    expect(await server.ask()).toEqual(answerOf('bob'))
  })

  test('has its server request refused at once where no other call is in flight', async () => {
    const { server, begin } = await scene()
    const ada = await begin('ada', 'stateless')
    ada.stop.abort(new Error('never mind'))
    await ada.outcome
    await expect.poll(() => server.cancelled.length).toBe(1)
    await expect(server.ask()).rejects.toThrow('was abandoned')
  })
})

describe('a server request outside of any call', () => {
  test.each(['roots/list', 'elicitation/create', 'sampling/createMessage'])(
    'is refused, and not answered on behalf of all callers, while no call is in flight: %s',
    async method => {
      const { server, router } = await scene()
      await caller(router, { era: 'session', roots: [{ uri: 'file:///secret' }] })
      await expect(server.connections.at(-1)?.call(method)).rejects.toThrow(
        `${method}: no call is in flight that it could belong to`,
      )
    },
  )
})

describe('callers with "compatible" connections', () => {
  test('get another connection while a server request is ambiguous, so that it can be attributed', async () => {
    const { server, begin } = await scene({ connections: 'compatible' })
    const ada = await begin('ada', 'session')
    const bob = await begin('bob', 'session')
    expect(bob.peer).toBe(ada.peer)
    const request = tracked(server.ask(ada.peer))
    await settle()
    const carl = await begin('carl', 'session')
    expect(carl.peer).not.toBe(ada.peer)
    // With a single caller on the connection, the request is unambiguous.
    expect(await server.ask(carl.peer)).toEqual(answerOf('carl'))
    server.end('ada')
    await expect.poll(() => request.answer).toEqual(answerOf('bob'))
  })

  test('get another connection while an abandoned call may send a server request', async () => {
    const { server, begin } = await scene({ connections: 'compatible' })
    const ada = await begin('ada', 'stateless')
    ada.stop.abort(new Error('never mind'))
    await ada.outcome
    await expect.poll(() => server.cancelled.length).toBe(1)
    const bob = await begin('bob', 'stateless')
    expect(bob.peer).not.toBe(ada.peer)
    expect(await server.ask(bob.peer)).toEqual(answerOf('bob'))
  })
})
