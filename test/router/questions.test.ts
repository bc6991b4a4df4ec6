import { describe, expect, onTestFinished, test } from 'vitest'
import type { UpstreamOptions } from '../../src/router/options.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { Careless } from './careless.ts'
import { caller, routed } from './routed.ts'

const eras = ['session', 'stateless'] as const
type Era = (typeof eras)[number]
const pairs = eras.flatMap(a => eras.map(b => [a, b] as const))

/** A router before a careless server, with time moved by hand, and those who call it. */
async function scene(options: Pick<UpstreamOptions, 'connections'> = { connections: 'shared' }) {
  const clock = fakeClock()
  const server = new Careless()
  const upstream = { server, prefix: false, health: { intervalMs: 0 }, ...options } as const
  const router = await routed({ x: upstream }, { clock })
  /** Who was asked, in order. */
  const asked: string[] = []
  /** Begins a call of somebody, who can be asked for a name unless said otherwise. */
  const begin = async (who: string, era: Era, { canBeAsked = true, timeoutMs = 0 } = {}) => {
    const elicit = async () => {
      asked.push(who)
      return { action: 'accept' as const, content: { name: who } }
    }
    const client = await caller(router, { era, ...(canBeAsked && { elicit }), onError: () => {} })
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

/** Lets everything that is under way come to rest. */
async function rest(): Promise<void> {
  for (let count = 0; count < 20; count++) await new Promise(resolve => setImmediate(resolve))
}

/** What a question was answered with, or why it was not; undefined as long as nothing is known. */
function watched(question: Promise<unknown>): { readonly answer: unknown } {
  const state: { answer: unknown } = { answer: undefined }
  question.then(
    answer => (state.answer = answer),
    (error: Error) => (state.answer = error.message),
  )
  return state
}

const doubtful = expect.stringContaining('it could belong to calls of several callers')
const done = (who: string) => ({ content: [{ type: 'text', text: `${who} is done` }] })
const answerOf = (who: string) => ({ action: 'accept', content: { name: who } })

describe('a question on a connection that several callers share', () => {
  test.each(pairs)('waits until the call of the other is over: a %s and a %s', async (a, b) => {
    const { server, asked, begin } = await scene()
    const ada = await begin('ada', a)
    const bob = await begin('bob', b)
    const question = watched(server.ask())
    await rest()
    expect([question.answer, asked]).toEqual([undefined, []])
    server.end('ada')
    expect(await ada.outcome).toMatchObject(done('ada'))
    await expect.poll(() => question.answer).toEqual(answerOf('bob'))
    expect(asked).toEqual(['bob'])
    server.end('bob')
    expect(await bob.outcome).toMatchObject(done('bob'))
  })

  test('is refused when it is not clear in time, and the calls go on', async () => {
    const { clock, server, asked, begin } = await scene()
    const both = [await begin('ada', 'session'), await begin('bob', 'stateless')]
    const question = watched(server.ask())
    await rest()
    clock.advance(2 * limits.attributionTimeoutMs.default)
    await expect.poll(() => question.answer).toEqual(doubtful)
    server.end('ada')
    server.end('bob')
    await Promise.all(both.map(({ outcome }) => outcome))
    expect(asked).toEqual([])
  })

  test('does not use up the waiting with the call that may have asked', async () => {
    const { clock, server, asked, begin } = await scene()
    const timeoutMs = limits.attributionTimeoutMs.default / 4
    await begin('ada', 'session', { timeoutMs })
    const bob = await begin('bob', 'session')
    const question = watched(server.ask())
    await rest()
    clock.advance(2 * timeoutMs)
    server.end('bob')
    await bob.outcome
    await expect.poll(() => question.answer).toEqual(answerOf('ada'))
    expect(asked).toEqual(['ada'])
    expect(server.cancelled).toEqual([])
  })

  test('is put to nobody once the server does not want to know any more', async () => {
    const { server, asked, begin } = await scene()
    await begin('ada', 'session')
    const bob = await begin('bob', 'session')
    const question = watched(server.ask())
    await rest()
    server.nevermind()
    await rest()
    server.end('bob')
    await bob.outcome
    await rest()
    expect([question.answer, asked]).toEqual([undefined, []])
  })

  test('is put to nobody once the connection is lost', async () => {
    const { server, asked, begin } = await scene()
    const ada = await begin('ada', 'session')
    const bob = await begin('bob', 'stateless')
    void server.ask().catch(() => {})
    await rest()
    await server.cut(ada.peer)
    for (const { outcome } of [ada, bob]) expect(await outcome).toMatchObject({ code: -32008 })
    expect(asked).toEqual([])
  })
})

describe('a call that nobody waits for any more, and whose server goes on', () => {
  const ways = [
    ['cancelled by a session', 'session', {}],
    ['cancelled by a stateless caller', 'stateless', {}],
    ['cancelled by somebody who cannot be asked', 'session', { canBeAsked: false }],
    ['timed out', 'session', { timeoutMs: 1000 }],
    ['timed out for a stateless caller', 'stateless', { timeoutMs: 1000 }],
    [
      'timed out for somebody who cannot be asked',
      'stateless',
      { timeoutMs: 1000, canBeAsked: false },
    ],
  ] as const

  test.each(ways)('has no question of its own put to another: %s', async (_, era, how) => {
    const { clock, server, asked, begin } = await scene()
    const ada = await begin('ada', era, how)
    await begin('bob', 'stateless')
    if ('timeoutMs' in how) clock.advance(2 * how.timeoutMs)
    else ada.stop.abort(new Error('never mind'))
    expect(await ada.outcome).toBeInstanceOf(Error)
    await expect.poll(() => server.cancelled.length).toBe(1)
    const question = watched(server.ask())
    await rest()
    expect(question.answer).toBeUndefined()
    clock.advance(2 * limits.attributionTimeoutMs.default)
    await expect.poll(() => question.answer).toEqual(doubtful)
    expect(asked).toEqual([])
  })

  test.each(ways)('does not count once it is answered after all: %s', async (_, era, how) => {
    const { clock, server, asked, begin } = await scene()
    const ada = await begin('ada', era, how)
    await begin('bob', 'stateless')
    if ('timeoutMs' in how) clock.advance(2 * how.timeoutMs)
    else ada.stop.abort(new Error('never mind'))
    await ada.outcome
    await expect.poll(() => server.cancelled.length).toBe(1)
    const question = watched(server.ask())
    await rest()
    expect(question.answer).toBeUndefined()
    server.end('ada')
    await expect.poll(() => question.answer).toEqual(answerOf('bob'))
    expect(asked).toEqual(['bob'])
  })

  test('does not count for ever', async () => {
    const { clock, server, begin } = await scene()
    const ada = await begin('ada', 'session')
    ada.stop.abort(new Error('never mind'))
    await ada.outcome
    await expect.poll(() => server.cancelled.length).toBe(1)
    clock.advance(limits.abandonedMs.default)
    await begin('bob', 'session')
    expect(await server.ask()).toEqual(answerOf('bob'))
  })

  test('has its question refused at once where nobody else calls', async () => {
    const { server, begin } = await scene()
    const ada = await begin('ada', 'stateless')
    ada.stop.abort(new Error('never mind'))
    await ada.outcome
    await expect.poll(() => server.cancelled.length).toBe(1)
    await expect(server.ask()).rejects.toThrow('was abandoned')
  })
})

describe('what a server asks on its own account', () => {
  test.each(['roots/list', 'elicitation/create', 'sampling/createMessage'])(
    'is refused, and not answered for everybody, while nobody calls: %s',
    async method => {
      const { server, router } = await scene()
      await caller(router, { era: 'session', roots: [{ uri: 'file:///secret' }] })
      await expect(server.connections.at(-1)?.call(method)).rejects.toThrow(
        `${method}: no call is in flight that it could belong to`,
      )
    },
  )
})

describe('callers who share connections with those who are alike', () => {
  test('are given another one while a question is in doubt, so that it clears up', async () => {
    const { server, begin } = await scene({ connections: 'compatible' })
    const ada = await begin('ada', 'session')
    const bob = await begin('bob', 'session')
    expect(bob.peer).toBe(ada.peer)
    const question = watched(server.ask(ada.peer))
    await rest()
    const carl = await begin('carl', 'session')
    expect(carl.peer).not.toBe(ada.peer)
    // Where nobody else is, nothing is doubtful.
    expect(await server.ask(carl.peer)).toEqual(answerOf('carl'))
    server.end('ada')
    await expect.poll(() => question.answer).toEqual(answerOf('bob'))
  })

  test('are given another one while a call that was given up may ask', async () => {
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
