import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { connect } from '../../connect.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { deferred } from '../../util/promises.ts'
import { Server } from '../server.ts'
import { cacheResults, callTimeout, type LoggedCall, logCalls } from './index.ts'

const info = { name: 'a', version: '1' }

describe('callTimeout', () => {
  test('ends a call that takes too long, and aborts its handler', async () => {
    const clock = fakeClock()
    await using server = new Server(info)
    server.around(
      'tools/call',
      callTimeout({ ms: 1000, tools: { patient: 5000, endless: 0 }, clock }),
    )
    const aborted = deferred<unknown>()
    const started = [deferred<void>(), deferred<void>()] as const
    server.tool('slow', {}, async (_, ctx) => {
      ctx.signal.addEventListener('abort', () => aborted.resolve(ctx.signal.reason))
      started[0].resolve()
      await new Promise(() => {})
    })
    const released = deferred<void>()
    server.tool('patient', {}, async () => {
      started[1].resolve()
      await released.promise
      return 'done'
    })
    server.tool('quick', {}, () => 'quick')
    server.tool('fails', {}, () => {
      throw new Error('no')
    })
    await using client = await connect(server)
    const slow = client.call('slow')
    const patient = client.call('patient')
    await Promise.all(started.map(one => one.promise))
    clock.advance(1000)
    const text = 'The tool "slow" did not finish within 1000 ms'
    expect(await slow).toMatchObject({ isError: true, text })
    expect(await aborted.promise).toMatchObject({ message: text })
    released.resolve()
    expect((await patient).text).toBe('done')
    expect((await client.call('quick')).text).toBe('quick')
    expect(await client.call('fails')).toMatchObject({ isError: true, text: 'no' })
    expect(clock.pending).toBe(0)
  })

  test('refuses options that mean nothing', () => {
    expect(() => callTimeout({ ms: -1 })).toThrow('option "ms"')
    expect(() => callTimeout({ timeout: 5 } as never)).toThrow('unknown option "timeout"')
  })
})

describe('cacheResults', () => {
  async function counting(options: Partial<Parameters<typeof cacheResults>[0]> = {}) {
    const clock = fakeClock()
    const server = new Server(info)
    let calls = 0
    server.around(
      'tools/call',
      cacheResults({ tools: ['get', 'fails'], ttlMs: 1000, clock, ...options }),
    )
    const input = z.object({ a: z.number().optional(), b: z.number().optional() })
    server.tool('get', { input }, () => `${++calls}`)
    server.tool('put', {}, () => `${++calls}`)
    server.tool('fails', {}, () => {
      throw new Error(`${++calls}`)
    })
    const ada = await connect(server, { principal: { id: 'ada' } })
    const bob = await connect(server, { principal: { id: 'bob' } })
    return { clock, server, ada, bob }
  }

  test('answers the same call of the same principal until it expires', async () => {
    const { clock, server, ada, bob } = await counting()
    const text = async (client: typeof ada, args: object) =>
      (await client.call('get', { ...args })).text
    expect(await text(ada, { a: 1, b: 2 })).toBe('1')
    expect(await text(ada, { b: 2, a: 1 })).toBe('1')
    expect(await text(ada, { a: 2 })).toBe('2')
    expect(await text(bob, { a: 1, b: 2 })).toBe('3')
    clock.advance(1000)
    expect(await text(ada, { a: 1, b: 2 })).toBe('4')
    expect((await ada.call('put')).text).toBe('5')
    expect((await ada.call('put')).text).toBe('6')
    expect([(await ada.call('fails')).text, (await ada.call('fails')).text]).toEqual(['7', '8'])
    await server.close()
  })

  test('shares results where it is told to, and keeps a limited number', async () => {
    const { server, ada, bob } = await counting({ shared: true, max: 1 })
    expect((await ada.call('get', { a: 1 })).text).toBe('1')
    expect((await bob.call('get', { a: 1 })).text).toBe('1')
    expect((await bob.call('get', { a: 2 })).text).toBe('2')
    expect((await bob.call('get', { a: 1 })).text).toBe('3')
    await server.close()
  })

  test('refuses options that mean nothing', () => {
    expect(() => cacheResults({ ttlMs: 5 } as never)).toThrow('cacheResults needs tools and ttlMs')
  })
})

test('logCalls reports every call and its outcome', async () => {
  await using server = new Server(info, { onError: () => {} })
  const calls: LoggedCall[] = []
  server.around(
    'tools/call',
    logCalls(call => calls.push(call)),
  )
  server.tool('ok', {}, () => 'ok')
  server.tool('fails', {}, () => {
    throw new Error('no')
  })
  server.tool('asks', {}, async (_, ctx) => {
    await ctx.elicit({ message: 'Sure?', schema: z.object({}) })
    return 'asked'
  })
  const elicit = () => ({ action: 'accept', content: {} }) as const
  await using client = await connect(server, { principal: { id: 'ada' }, elicit })
  await client.call('ok')
  await client.call('fails')
  await client.call('unknown').catch(() => {})
  await client.call('asks')
  expect(calls.map(({ tool, outcome, code }) => [tool, outcome, code])).toEqual([
    ['ok', 'ok', undefined],
    ['fails', 'failed', undefined],
    ['unknown', 'error', -32002],
    ['asks', 'input', undefined],
    ['asks', 'ok', undefined],
  ])
  expect(calls[0]).toMatchObject({ principal: 'ada', ms: expect.any(Number) })
  expect(() => logCalls(undefined as never)).toThrow('logCalls needs a function')
})
