import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { proves } from '../../../test/requirements.ts'
import {
  allCapabilities,
  answeringClient,
  stateless,
  textOf,
} from '../../../test/support/answering-client.ts'
import { limits } from '../../util/limits/limits.ts'
import type { ServerOptions } from '../options.ts'
import { Server } from '../server.ts'
import { inputRequired } from './input-required.ts'

const key = (byte: number) => new Uint8Array(32).fill(byte)
const schema = z.object({ ok: z.boolean() })
const yes = { action: 'accept', content: { ok: true } }

function asking(options: ServerOptions = {}) {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {}, ...options })
  const ask = async (
    ctx: { elicit: Parameters<Parameters<typeof server.tool>[2]>[1]['elicit'] },
    what: unknown,
  ) => {
    const { ok } = await ctx.elicit({ message: 'Sure?', schema, key: 'sure' })
    return `${ok} ${JSON.stringify(what)}`
  }
  const input = z.object({ n: z.number().optional() })
  server.tool('ask', { input }, (args, ctx) => ask(ctx, args))
  server.tool('other', { input }, (args, ctx) => ask(ctx, args))
  server.prompt('ask', {}, (args, ctx) => ask(ctx, args))
  return server
}

/** Adds a tool that asks two things; what comes back is called with each run of it. */
function askingTwice(server: Server) {
  const runs = vi.fn()
  server.tool('two', {}, async (_, ctx) => {
    runs()
    await ctx.elicit({ message: 'One?', schema, key: 'one' })
    const { ok } = await ctx.elicit({ message: 'Two?', schema, key: 'two' })
    return `${ok}`
  })
  return runs
}

/** A first round, and what the second one would be. */
async function firstRound(server: Server, principal?: string) {
  const client = await answeringClient(server, stateless, { principal })
  const call = { name: 'ask', arguments: { n: 1 } }
  const { result } = await client.request('tools/call', call)
  const requestState = result?.requestState as string
  return { client, call, requestState, retry: { ...call, requestState } }
}

const inputResponses = { sure: yes }

afterEach(() => void vi.useRealTimers())

describe('a requestState', () => {
  it('brings back what was answeringClient, on any connection of the same server', async () => {
    proves('M3', 'B15', 'B15c', 'B15e', 'M9', 'U10c')
    const server = asking()
    const { client, retry } = await firstRound(server)
    const other = await answeringClient(server, stateless)
    for (const one of [client, other]) {
      expect(textOf(await one.request('tools/call', { ...retry, inputResponses }))).toBe(
        'true {"n":1}',
      )
    }
  })

  it('is sent with the input requests and without cache hints', async () => {
    proves('M3', 'U10c', 'B9')
    const server = new Server({ name: 'test', version: '1' })
    server.resource('r', 'r:///1', {}, async ctx => {
      const { ok } = await ctx.elicit({ message: 'Sure?', schema, key: 'sure' })
      return `${ok}`
    })
    const client = await answeringClient(server, stateless)
    const { result } = await client.request('resources/read', { uri: 'r:///1' })
    expect(result).toEqual({
      resultType: 'input_required',
      inputRequests: { sure: { method: 'elicitation/create', params: expect.anything() } },
      requestState: expect.stringMatching(/^[\w-]+$/),
      _meta: expect.anything(),
    })
  })

  it.each([
    ['that was changed', (state: string) => `${state.slice(0, -2)}AA`, 'forged'],
    ['that is no token', () => 'nonsense', 'malformed'],
    ['that is no text', () => 7, 'malformed'],
    ['that is null', () => null, 'malformed'],
    ['that is empty', () => '', 'malformed'],
  ])('%s is refused', async (_, change, why) => {
    proves('M7', 'M7c')
    const { client, retry, requestState } = await firstRound(asking())
    const changed = { ...retry, requestState: change(requestState), inputResponses }
    expect((await client.request('tools/call', changed)).error).toMatchObject({
      code: -32602,
      message: 'Invalid requestState',
      data: { details: `requestState is ${why}` },
    })
  })

  it.each([
    ['tool', 'tools/call', { name: 'other', arguments: { n: 1 } }],
    ['argument', 'tools/call', { name: 'ask', arguments: { n: 2 } }],
    ['method', 'prompts/get', { name: 'ask' }],
  ])('of another %s is refused', async (_, method, params) => {
    proves('M8c', 'M7')
    const { client, requestState } = await firstRound(asking())
    const reply = await client.request(method, { ...params, requestState, inputResponses })
    expect(reply.error).toMatchObject({
      code: -32602,
      data: { details: 'requestState is foreign' },
    })
  })

  it('of another principal is refused', async () => {
    proves('M8', 'C8n')
    const server = asking()
    const { client, retry } = await firstRound(server, 'ada')
    for (const principal of ['bob', undefined]) {
      const other = await answeringClient(server, stateless, { principal })
      expect((await other.request('tools/call', { ...retry, inputResponses })).error).toMatchObject(
        {
          code: -32602,
          data: { details: 'requestState is foreign' },
        },
      )
    }
    expect(textOf(await client.request('tools/call', { ...retry, inputResponses }))).toMatch('true')
  })

  it('is refused when its time is up', async () => {
    proves('M8b')
    vi.useFakeTimers({ toFake: ['Date'] })
    const { client, retry } = await firstRound(asking())
    vi.setSystemTime(Date.now() + limits.serverRequestMs.default - 1)
    expect(textOf(await client.request('tools/call', { ...retry, inputResponses }))).toMatch('true')
    vi.setSystemTime(Date.now() + 1)
    expect((await client.request('tools/call', { ...retry, inputResponses })).error).toMatchObject({
      code: -32602,
      data: { details: 'requestState is expired' },
    })
  })

  it.each([
    ['a retired key that is still in the ring', [key(2), key(1)], true],
    ['a key that is in the ring no more', [key(2)], false],
  ])('sealed by %s', async (_, keys, isGood) => {
    proves('M7c', 'B15c')
    const { retry } = await firstRound(asking({ keys: [key(1)] }))
    const later = await answeringClient(asking({ keys }), stateless)
    const reply = await later.request('tools/call', { ...retry, inputResponses })
    if (isGood) expect(textOf(reply)).toMatch('true')
    else expect(reply.error).toMatchObject({ data: { details: 'requestState is forged' } })
  })
})

describe('answers', () => {
  it('that are missing are requested again', async () => {
    proves('M16')
    const { client, retry } = await firstRound(asking())
    for (const answers of [undefined, {}, { other: yes }]) {
      const again = await client.request('tools/call', { ...retry, inputResponses: answers })
      expect(again.result).toMatchObject({
        resultType: 'input_required',
        inputRequests: { sure: {} },
      })
    }
  })

  it('that were not requested are ignored', async () => {
    proves('M15', 'M7')
    const server = asking()
    const runs = askingTwice(server)
    const client = await answeringClient(server, stateless)
    const early = { one: yes, two: yes, __proto__: yes, constructor: yes }
    const first = await client.request('tools/call', { name: 'two' })
    expect(Object.keys(first.result?.inputRequests as object)).toEqual(['one'])
    const { requestState } = first.result ?? {}
    // A response in advance would be one to a request that the user has not seen.
    const second = await client.request('tools/call', {
      name: 'two',
      requestState,
      inputResponses: early,
    })
    expect(Object.keys(second.result?.inputRequests as object)).toEqual(['two'])
    const no = { action: 'accept', content: { ok: false } }
    const third = await client.request('tools/call', {
      name: 'two',
      requestState: second.result?.requestState,
      inputResponses: { one: { action: 'decline' }, two: no },
    })
    expect(textOf(third)).toBe('false')
    expect(runs).toHaveBeenCalledTimes(3)
  })

  it('without a state are matched to the requests of the handler, and checked like any other', async () => {
    proves('M7')
    const server = asking()
    askingTwice(server)
    const client = await answeringClient(server, stateless)
    const call = (answers: object) =>
      client.request('tools/call', { name: 'two', inputResponses: answers })
    const extra = { other: yes, __proto__: yes, constructor: yes }
    expect(textOf(await call({ one: yes, two: yes, ...extra }))).toBe('true')

    const first = await call({ one: yes, ...extra })
    expect(Object.keys(first.result?.inputRequests as object)).toEqual(['two'])
    const { requestState } = first.result ?? {}
    const second = await client.request('tools/call', {
      name: 'two',
      requestState,
      inputResponses: { one: { action: 'decline' }, two: yes },
    })
    expect(textOf(second)).toBe('true')

    const wrong = await call({ one: { action: 'accept', content: { ok: 5 } } })
    expect(wrong.error).toMatchObject({ code: -32602, data: { key: 'one' } })
  })

  it('without a state are ignored by inputRequired, and do not make the state grow', async () => {
    const server = asking()
    server.tool('own', {}, (_, ctx) =>
      ctx.answers.size > 0 ? 'answered' : inputRequired({ where: { method: 'roots/list' } }),
    )
    const client = await answeringClient(server, stateless)
    const sizes = []
    for (const inputResponses of [undefined, { where: { roots: [] }, other: 'x'.repeat(5000) }]) {
      const { result } = await client.request('tools/call', { name: 'own', inputResponses })
      expect(Object.keys(result?.inputRequests as object)).toEqual(['where'])
      sizes.push(String(result?.requestState).length)
    }
    expect(sizes[0]).toBe(sizes[1])
  })

  it.each([[5], [[]], ['x'], [null]])('that are not an object are refused: %j', async answers => {
    proves('M14')
    const { client, retry } = await firstRound(asking())
    const reply = await client.request('tools/call', { ...retry, inputResponses: answers })
    expect(reply.error).toMatchObject({
      code: -32602,
      data: { details: 'inputResponses must be an object' },
    })
  })

  it('are kept from round to round, and so is the state of inputRequired', async () => {
    const server = asking()
    const roots = { method: 'roots/list' } as const
    server.tool('steps', {}, (_, ctx) => {
      const step = typeof ctx.state === 'number' ? ctx.state : 0
      if (step < 3) return inputRequired(step === 1 ? {} : { [`s${step}`]: roots }, step + 1)
      return [...ctx.answers.keys()].join()
    })
    const client = await answeringClient(server, stateless, { answer: () => ({ roots: [] }) })
    expect(textOf(await client.call('tools/call', { name: 'steps' }))).toBe('s0,s2')
    expect(client.rounds).toBe(3)
  })
})

describe('rounds of input requests', () => {
  it('end at a named limit', async () => {
    const server = asking()
    server.tool('nosy', {}, async (_, ctx) => {
      for (let n = 0; ; n++) await ctx.elicit({ message: 'Sure?', schema, key: `${n}` })
    })
    const client = await answeringClient(server, stateless, { answer: () => yes })
    expect((await client.call('tools/call', { name: 'nosy' })).error).toMatchObject({
      code: -32603,
      message: 'Too many rounds of input requests',
    })
    expect(client.rounds).toBe(limits.inputRounds.default)
  })

  it('come only from tools, prompts and resources', async () => {
    proves('M2')
    const server = asking()
    server.resource('r', 'r:///1', {}, () => 'r')
    server.prompt('p', { args: z.object({ a: z.string() }), complete: { a: () => [] } }, () => 'p')
    const client = await answeringClient(server, stateless)
    const calls = [
      ['server/discover', {}],
      ['tools/list', {}],
      ['prompts/list', {}],
      ['resources/list', {}],
      ['resources/templates/list', {}],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
      ],
    ] as const
    for (const [method, params] of calls) {
      const { result } = await client.request(method, { ...params, inputResponses: { x: yes } })
      expect(result).toMatchObject({ resultType: 'complete' })
    }
  })

  it('may come mixed on one connection', async () => {
    proves('B15b')
    const server = asking()
    const { client, retry } = await firstRound(server)
    const second = await client.request('tools/call', { name: 'ask', arguments: { n: 2 } })
    const { requestState } = second.result ?? {}
    const answers = { ask: { n: 2 }, requestState }
    expect(textOf(await client.request('tools/call', { ...retry, inputResponses }))).toBe(
      'true {"n":1}',
    )
    const call = { name: 'ask', arguments: answers.ask, requestState, inputResponses }
    expect(textOf(await client.request('tools/call', call))).toBe('true {"n":2}')
  })
})

describe('ctx.once', () => {
  it.each(['2025-11-25', stateless] as const)('runs once for all rounds in %s', async revision => {
    const server = asking()
    const effects: string[] = []
    server.tool('do', {}, async (_, ctx) => {
      const one = await ctx.once('one', () => effects.push('one'))
      const nothing = await ctx.once('nothing', () => void effects.push('nothing'))
      await ctx.elicit({ message: 'Sure?', schema })
      const [two, same] = await Promise.all([
        ctx.once('two', async () => effects.push('two')),
        ctx.once('two', async () => effects.push('never')),
      ])
      if (ctx.answers.size === 0) return inputRequired({ more: { method: 'roots/list' } })
      return `${one} ${nothing} ${two} ${same}`
    })
    const client = await answeringClient(server, revision, {
      answer: ({ method }) => (method === 'roots/list' ? { roots: [] } : yes),
    })
    expect(textOf(await client.call('tools/call', { name: 'do' }))).toBe('1 undefined 3 3')
    expect(effects).toEqual(['one', 'nothing', 'two'])
  })

  it('is not cut short by a server request beside it', async () => {
    const server = asking()
    const effects: string[] = []
    server.tool('do', {}, async (_, ctx) => {
      const slow = async () => {
        await new Promise(resolve => setImmediate(resolve))
        effects.push('slow')
        return 'slow'
      }
      const asking = ctx.once('slow', slow).then(async () => {
        await ctx.elicit({ message: 'Two?', schema, key: 'two' })
      })
      await Promise.all([ctx.elicit({ message: 'One?', schema, key: 'one' }), asking])
      return 'done'
    })
    const client = await answeringClient(server, stateless, { answer: () => yes })
    expect(textOf(await client.call('tools/call', { name: 'do' }))).toBe('done')
    expect(effects).toEqual(['slow'])
    expect(client.rounds).toBe(1)
  })

  it('does nothing twice when a round is sent twice, one after the other or at once', async () => {
    proves('M8d')
    const server = asking()
    let tickets = 0
    server.tool('buy', {}, async (_, ctx) => {
      await ctx.elicit({ message: 'Sure?', schema, key: 'sure' })
      return `ticket ${await ctx.once('ticket', async () => ++tickets)}`
    })
    const client = await answeringClient(server, stateless)
    const { result } = await client.request('tools/call', { name: 'buy' })
    const retry = { name: 'buy', requestState: result?.requestState, inputResponses }
    const sent = () => client.request('tools/call', retry)
    const replies = [await sent(), ...(await Promise.all([sent(), sent()]))]
    expect(replies.map(textOf)).toEqual(['ticket 1', 'ticket 1', 'ticket 1'])
  })

  it('tries again what has failed', async () => {
    const server = asking()
    let tries = 0
    server.tool('do', {}, async (_, ctx) => {
      const attempt = () =>
        ctx.once('x', () => {
          if (++tries === 1) throw new Error('not yet')
          return 'now'
        })
      const first = await attempt().catch(() => 'failed')
      await ctx.elicit({ message: 'Sure?', schema })
      return `${first} ${await attempt()}`
    })
    const client = await answeringClient(server, stateless, { answer: () => yes })
    expect(textOf(await client.call('tools/call', { name: 'do' }))).toBe('now now')
  })

  it('remembers so many requests of its process, and the sealed ones of any', async () => {
    proves('B15c')
    const keys = [key(7)]
    const make = () => {
      const server = asking({ keys })
      server.tool('do', {}, async (_, ctx) => {
        const made = await ctx.once('made', () => process.hrtime.bigint().toString())
        await ctx.elicit({ message: 'Sure?', schema, key: 'sure' })
        return made
      })
      return server
    }
    const one = await answeringClient(make(), stateless, { capabilities: allCapabilities })
    const { result } = await one.request('tools/call', { name: 'do' })
    const retry = { name: 'do', requestState: result?.requestState, inputResponses }
    const other = await answeringClient(make(), stateless)
    const here = textOf(await one.request('tools/call', retry))
    expect(textOf(await other.request('tools/call', retry))).toBe(here)
    for (let n = 0; n <= limits.onceRequests.default; n++) {
      await one.request('tools/call', { name: 'ask', arguments: { n } })
    }
    expect(textOf(await one.request('tools/call', retry))).toBe(here)
  })
})
