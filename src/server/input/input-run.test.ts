import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { proves } from '../../../test/requirements.ts'
import {
  allCapabilities,
  allRevisions,
  answeringClient,
  stateless,
  textOf,
} from '../../../test/support/answering-client.ts'
import { turn } from '../../../test/support/wire.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { FormSchema } from '../../mcp/types/elicitation.ts'
import { Server } from '../server.ts'
import { Declined } from './elicit.ts'
import { inputRequired } from './input-required.ts'

const since = (first: string) => allRevisions.filter(revision => revision >= first)
const withForms = since('2025-06-18')
const withUrls = since('2025-11-25')
const withOldForms = ['2025-06-18'] as const

function server(onError: (error: unknown) => void = () => {}) {
  return new Server({ name: 'test', version: '1' }, { onError })
}

const yes = { action: 'accept', content: { ok: true } }

describe.each(withForms)('a form in %s', revision => {
  it('is sent by the same handler, and its response is checked and completed', async () => {
    proves('C5i', 'C5j', 'C7f', 'C7g', 'M1', 'M5', 'V3', 'B9')
    const s = server()
    s.tool('deploy', {}, async (_, ctx) => {
      const schema = z.object({
        env: z.enum(['test', 'live']),
        times: z.int().min(1).default(3),
        note: z.string().max(20).optional(),
      })
      return JSON.stringify(await ctx.elicit({ message: 'Deploy where?', schema }))
    })
    const client = await answeringClient(s, revision, {
      answer: () => ({ action: 'accept', content: { env: 'live' } }),
    })
    const reply = await client.call('tools/call', { name: 'deploy' })
    expect(textOf(reply)).toBe('{"env":"live","times":3}')
    expect(client.serverRequests).toHaveLength(1)
    expect(client.serverRequests[0]).toMatchObject({
      method: 'elicitation/create',
      params: {
        message: 'Deploy where?',
        requestedSchema: {
          type: 'object',
          properties: { env: { type: 'string', enum: ['test', 'live'] }, times: {} },
          required: ['env'],
        },
      },
    })
    const { mode } = client.serverRequests[0]?.params ?? {}
    expect(mode).toBe(revision === '2025-06-18' ? undefined : 'form')
  })

  it('throws when the user declines, or returns the answer with onDecline', async () => {
    proves('C5f')
    const s = server()
    const schema = z.object({ ok: z.boolean() })
    s.tool('strict', {}, async (_, ctx) => {
      try {
        await ctx.elicit({ message: 'Sure?', schema })
        return 'yes'
      } catch (error) {
        if (error instanceof Declined) return 'no'
        throw error
      }
    })
    s.tool('open', {}, async (_, ctx) => {
      const { action } = await ctx.elicit({ message: 'Sure?', schema, onDecline: 'return' })
      return action
    })
    s.prompt('asks', {}, async (_, ctx) => {
      await ctx.elicit({ message: 'Sure?', schema })
      return 'yes'
    })
    const answers = ['decline', 'decline', 'cancel', 'decline', 'cancel']
    const client = await answeringClient(s, revision, {
      answer: () => ({ action: answers.shift() }),
    })
    expect(textOf(await client.call('tools/call', { name: 'strict' }))).toBe('no')
    expect(textOf(await client.call('tools/call', { name: 'open' }))).toBe('decline')
    expect(await client.call('tools/call', { name: 'strict' })).toMatchObject({
      result: { isError: true, content: [{ text: 'the question was cancelled' }] },
    })
    // Where there is no result that can say so, it is an error, and no failure of the server's.
    expect(await client.call('prompts/get', { name: 'asks' })).toMatchObject({
      error: { code: 1090, data: { reason: 'the question was declined' } },
    })
    expect(await client.call('prompts/get', { name: 'asks' })).toMatchObject({
      error: { code: 1092, data: { kind: 'elicitation_cancelled' } },
    })
  })

  it.each([
    ['that the schema refuses', { action: 'accept', content: { age: -1 } }, /age/],
    ['without content', { action: 'accept' }, /age/],
    ['of another type', { action: 'accept', content: { age: 'old' } }, /age/],
    ['without an action', { content: { age: 1 } }, /no action/],
  ])('refuses an answer %s', async (_, answer, words) => {
    proves('C5i', 'M14')
    const s = server()
    s.tool('ask', {}, async (_args, ctx) => {
      const schema = z.object({ age: z.int().min(0) })
      return `${(await ctx.elicit({ message: 'How old?', schema, key: 'age' })).age}`
    })
    const client = await answeringClient(s, revision, { answer: () => answer })
    const { error } = await client.call('tools/call', { name: 'ask' })
    expect(error?.code).toBe(revision === stateless ? -32602 : 1090)
    expect(JSON.stringify(error)).toMatch(words)
    if (revision === stateless) expect(error?.data).toMatchObject({ key: 'age' })
  })
})

it.each(withOldForms)('a form in %s has no defaults but of booleans', async revision => {
  proves('C6b')
  const s = server()
  s.tool('ask', {}, async (_, ctx) => {
    const schema = z.object({
      many: z.array(z.enum(['a', 'b'])).default(['a']),
      name: z.string().default('Ada'),
      on: z.boolean().default(true),
    })
    return JSON.stringify(await ctx.elicit({ message: 'What?', schema }))
  })
  const client = await answeringClient(s, revision, {
    answer: () => ({ action: 'accept', content: {} }),
  })
  const reply = await client.call('tools/call', { name: 'ask' })
  expect(textOf(reply)).toBe('{"many":["a"],"name":"Ada","on":true}')
  const form = client.serverRequests[0]?.params?.requestedSchema as FormSchema
  const fields = Object.values(form.properties)
  const types = fields.filter(field => 'default' in field).map(({ type }) => type)
  expect(new Set(types)).toEqual(new Set(['boolean']))
  expect(fields.map(({ type }) => type)).not.toContain('array')
})

it('a form has no field that forms do not support', async () => {
  proves('C5j', 'C6')
  const s = server()
  s.tool('ask', {}, async (_, ctx) => {
    const schema = z.object({ where: z.object({ street: z.string() }) })
    return JSON.stringify(await ctx.elicit({ message: 'Where?', schema }))
  })
  s.tool('format', {}, async (_, ctx) => {
    const schema = { type: 'object', properties: { id: { type: 'string', format: 'ipv4' } } }
    return JSON.stringify(await ctx.elicit({ message: 'Which?', schema }))
  })
  const client = await answeringClient(s, '2025-11-25')
  for (const name of ['ask', 'format']) {
    expect(await client.call('tools/call', { name })).toMatchObject({ result: { isError: true } })
  }
  expect(client.serverRequests).toEqual([])
})

describe.each(withUrls)('an elicitation by URL in %s', revision => {
  it('has the URL of the page, and an id if the revision has one', async () => {
    proves('C7h', 'C7j', 'C7c', 'C7f')
    const s = server()
    s.tool('pay', {}, async (_, ctx) => {
      await ctx.elicit({ message: 'Pay', url: 'https://pay.example/1', elicitationId: 'p1' })
      return 'paid'
    })
    const client = await answeringClient(s, revision, { answer: () => ({ action: 'accept' }) })
    expect(textOf(await client.call('tools/call', { name: 'pay' }))).toBe('paid')
    expect(client.serverRequests[0]?.params).toEqual({
      mode: 'url',
      message: 'Pay',
      url: 'https://pay.example/1',
      ...(revision !== stateless && { elicitationId: 'p1' }),
    })
  })

  it('must be a URL', async () => {
    proves('C7i')
    const s = server()
    s.tool('pay', {}, async (_, ctx) => {
      await ctx.elicit({ message: 'Pay', url: 'pay here' })
      return 'paid'
    })
    const client = await answeringClient(s, revision)
    expect(await client.call('tools/call', { name: 'pay' })).toMatchObject({
      result: {
        isError: true,
        content: [{ text: expect.stringContaining('"pay here" is not a URL') }],
      },
    })
  })

  it('can be required by an error, which becomes an input request where the revision has no such error', async () => {
    proves('C9d', 'C9e', 'C9g', 'B21f')
    const s = server()
    let isPaid = false
    s.tool('fetch', {}, () => {
      if (isPaid) return 'here'
      throw errors.urlElicitationRequired({
        elicitations: [{ message: 'Pay first', url: 'https://pay.example/2' }],
      })
    })
    const client = await answeringClient(s, revision, {
      answer: () => {
        isPaid = true
        return { action: 'accept' }
      },
    })
    const reply = await client.call('tools/call', { name: 'fetch' })
    if (revision === stateless) {
      expect(textOf(reply)).toBe('here')
      expect(client.rounds).toBe(1)
    } else {
      expect(reply.error).toMatchObject({
        code: -32042,
        data: {
          elicitations: [
            {
              mode: 'url',
              message: 'Pay first',
              url: 'https://pay.example/2',
              elicitationId: expect.any(String),
            },
          ],
        },
      })
    }
  })
})

it('a page that is required and refused ends the request', async () => {
  const s = server()
  s.resource('bill', 'bill:///1', {}, () => {
    throw errors.urlElicitationRequired({
      elicitations: [{ message: 'Pay first', url: 'https://pay.example/2' }],
    })
  })
  const client = await answeringClient(s, stateless, { answer: () => ({ action: 'decline' }) })
  const reply = await client.call('resources/read', { uri: 'bill:///1' })
  expect(reply.error).toMatchObject({ code: 1090 })
  expect(client.rounds).toBe(1)
})

it('the completion of a URL elicitation is sent once, and only to the client that it belongs to', async () => {
  proves('C9', 'C9b', 'C8n')
  const s = server()
  s.tool('pay', {}, async (_, ctx) => {
    await ctx.elicit({ message: 'Pay', url: 'https://pay.example/1', elicitationId: 'p1' })
    return 'pending'
  })
  const one = await answeringClient(s, '2025-11-25', { answer: () => ({ action: 'accept' }) })
  const other = await answeringClient(s, '2025-11-25')
  await one.call('tools/call', { name: 'pay' })
  s.completeElicitation('p2')
  s.completeElicitation('p1')
  s.completeElicitation('p1')
  expect(one.received().filter(message => message.method?.endsWith('complete'))).toEqual([
    {
      jsonrpc: '2.0',
      method: 'notifications/elicitation/complete',
      params: { elicitationId: 'p1' },
    },
  ])
  expect(other.received()).toEqual([])
})

describe.each(allRevisions)('sampling and roots in %s', revision => {
  it('are sent by the same handler', async () => {
    proves('C2d', 'M5', 'M1', 'B14')
    const s = server()
    s.tool('ask', {}, async (_, ctx) => {
      const [root] = await ctx.roots()
      const { content, model } = await ctx.sample({
        messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
        maxTokens: 10,
      })
      return `${root?.uri} ${model} ${JSON.stringify(content)}`
    })
    const client = await answeringClient(s, revision, {
      answer: ({ method }) =>
        method === 'roots/list'
          ? { roots: [{ uri: 'file:///work' }] }
          : { role: 'assistant', model: 'm', content: { type: 'text', text: 'Ho' } },
    })
    const reply = await client.call('tools/call', { name: 'ask' })
    expect(textOf(reply)).toBe('file:///work m {"type":"text","text":"Ho"}')
    expect(client.serverRequests.map(({ method }) => method)).toEqual([
      'roots/list',
      'sampling/createMessage',
    ])
    if (revision === stateless) expect(client.rounds).toBe(2)
  })

  it('are not sent to a client that has not declared them', async () => {
    proves('C1l', 'C3b', 'L5b', 'L5c', 'M6', 'V8', 'V8c', 'V9')
    const s = server()
    const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }] as const
    s.tool('roots', {}, async (_, ctx) => `${(await ctx.roots()).length}`)
    s.tool('sample', {}, async (_, ctx) => (await ctx.sample({ messages, maxTokens: 1 })).model)
    s.tool('tools', {}, async (_, ctx) => {
      const tools = [{ name: 't', inputSchema: { type: 'object' as const } }]
      return (await ctx.sample({ messages, maxTokens: 1, tools })).model
    })
    s.tool('form', {}, async (_, ctx) => {
      await ctx.elicit({ message: 'Sure?', schema: z.object({ ok: z.boolean() }) })
      return 'yes'
    })
    s.tool('url', {}, async (_, ctx) => {
      await ctx.elicit({ message: 'Pay', url: 'https://pay.example' })
      return 'yes'
    })
    const required = {
      roots: { roots: {} },
      sample: { sampling: {} },
      tools: { sampling: { tools: {} } },
      form: { elicitation: { form: {} } },
      url: { elicitation: { url: {} } },
    }
    // Declared in an earlier request, which counts for nothing in a later one.
    const client = await answeringClient(s, revision, { capabilities: { sampling: {} } })
    if (revision === stateless) await client.request('tools/list', {}, allCapabilities)
    for (const [name, requiredCapabilities] of Object.entries(required)) {
      if (name === 'sample') continue
      const { error } = await client.request('tools/call', { name })
      if (revision === stateless) {
        expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities } })
      } else {
        expect(error?.data).toMatchObject({ kind: 'capability_not_supported' })
      }
    }
    expect(client.serverRequests).toEqual([])
  })

  it('refuse answers of another shape', async () => {
    proves('M14', 'C2h')
    const s = server()
    s.prompt('roots', {}, async (_, ctx) => `${(await ctx.roots({ key: 'r' })).length}`)
    s.prompt('sample', {}, async (_, ctx) => {
      const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }] as const
      return (await ctx.sample({ messages, maxTokens: 1 }, { key: 's' })).model
    })
    const answers = [{ roots: [{ name: 'x' }] }, { roots: 5 }, { role: 'user' }, { model: 'm' }]
    const client = await answeringClient(s, revision, { answer: () => answers.shift() })
    for (const [name, code] of [
      ['roots', -32603],
      ['roots', -32603],
      ['sample', -32046],
      ['sample', -32046],
    ] as const) {
      const { error } = await client.call('prompts/get', { name })
      expect(error?.code).toBe(revision === stateless ? -32602 : code)
      expect(error?.message).toMatch(/answer|response/)
    }
  })
})

it.each(['2024-11-05', '2025-03-26'] as const)('%s has no elicitation at all', async revision => {
  proves('L5c')
  const s = server()
  s.tool('form', {}, async (_, ctx) => {
    await ctx.elicit({ message: 'Sure?', schema: z.object({ ok: z.boolean() }) })
    return 'yes'
  })
  const client = await answeringClient(s, revision)
  expect((await client.call('tools/call', { name: 'form' })).error?.data).toMatchObject({
    kind: 'capability_not_supported',
  })
  expect(client.serverRequests).toEqual([])
})

it.each([
  ['form', {}, true],
  ['url', {}, false],
  ['form', { form: {} }, true],
  ['form', { url: {} }, false],
  ['url', { url: {} }, true],
])(
  'an elicitation by %s, to a client with elicitation %j, is sent: %s',
  async (mode, elicitation, isAsked) => {
    proves('C7c', 'C7e')
    const s = server()
    s.tool('ask', {}, async (_args, ctx) => {
      const schema = z.object({ ok: z.boolean() })
      await ctx.elicit(
        mode === 'url'
          ? { message: 'Pay', url: 'https://pay.example' }
          : { message: 'Sure?', schema },
      )
      return 'yes'
    })
    const client = await answeringClient(s, '2025-11-25', {
      capabilities: { elicitation },
      answer: () => yes,
    })
    const reply = await client.call('tools/call', { name: 'ask' })
    expect(textOf(reply) === 'yes').toBe(isAsked)
    expect(client.serverRequests.length === 1).toBe(isAsked)
  },
)

describe('a conversation for sampling', () => {
  const use = { type: 'tool_use', id: 'u1', name: 't', input: {} } as const
  const result = { type: 'tool_result', toolUseId: 'u1', content: [] } as const
  const words = { type: 'text', text: 'hm' } as const
  const ask = [{ role: 'user', content: words }] as const

  it.each([
    [
      'a use with its result',
      [...ask, { role: 'assistant', content: use }, { role: 'user', content: result }],
      true,
    ],
    ['a use without', [...ask, { role: 'assistant', content: use }], false],
    [
      'a use and other words',
      [...ask, { role: 'assistant', content: use }, { role: 'user', content: words }],
      false,
    ],
    [
      'a result and other words',
      [...ask, { role: 'assistant', content: use }, { role: 'user', content: [result, words] }],
      false,
    ],
    ['a result of nothing', [{ role: 'user', content: result }], false],
  ])('with %s is sent: %#', async (_, messages, isGood) => {
    proves('C3d', 'C3e', 'C2h')
    const s = server()
    s.tool('ask', {}, async (_args, ctx) => {
      const tools = [{ name: 't', inputSchema: { type: 'object' as const } }]
      const { model } = await ctx.sample({ messages: messages as never, maxTokens: 1, tools })
      return model
    })
    const client = await answeringClient(s, '2025-11-25', {
      answer: () => ({ role: 'assistant', model: 'm', content: words }),
    })
    const reply = await client.call('tools/call', { name: 'ask' })
    expect(reply.result?.isError === true).toBe(!isGood)
    expect(client.serverRequests).toHaveLength(isGood ? 1 : 0)
  })

  it('requests other contexts only if the client has declared them', async () => {
    proves('C4')
    const s = server()
    s.tool('ask', {}, async (_, ctx) => {
      const { model } = await ctx.sample({
        messages: ask,
        maxTokens: 1,
        includeContext: 'allServers',
      })
      return model
    })
    const answer = () => ({ role: 'assistant', model: 'm', content: words })
    const seen: unknown[] = []
    for (const sampling of [{}, { context: {} }]) {
      const client = await answeringClient(s, '2025-11-25', { capabilities: { sampling }, answer })
      await client.call('tools/call', { name: 'ask' })
      seen.push(client.serverRequests[0]?.params?.includeContext)
    }
    expect(seen).toEqual([undefined, 'allServers'])
  })
})

describe.each(withForms)('several server requests in %s', revision => {
  const schema = z.object({ ok: z.boolean() })

  it('that are made together are sent together', async () => {
    proves('M4')
    const s = server()
    s.tool('both', {}, async (_, ctx) => {
      const all = await Promise.all([
        ctx.elicit({ message: 'One?', schema, key: 'one' }),
        ctx.elicit({ message: 'Two?', schema, key: 'two' }),
        ctx.roots(),
      ])
      return `${all.length}`
    })
    let waiting = 0
    let most = 0
    const client = await answeringClient(s, revision, {
      answer: ({ method, key }) => {
        waiting++
        most = Math.max(most, waiting)
        if (key !== undefined) waiting--
        return method === 'roots/list' ? { roots: [] } : yes
      },
    })
    expect(textOf(await client.call('tools/call', { name: 'both' }))).toBe('3')
    if (revision === stateless) {
      expect(client.rounds).toBe(1)
      expect(client.serverRequests.map(({ key }) => key).sort()).toEqual(['2', 'one', 'two'])
    } else {
      expect(most).toBe(3)
    }
  })

  it('begun before they are awaited do not end the process', async () => {
    const s = server()
    s.tool('begun', {}, async (_, ctx) => {
      const one = ctx.elicit({ message: 'One?', schema })
      const two = ctx.elicit({ message: 'Two?', schema })
      return `${(await one).ok} ${(await two).ok}`
    })
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    try {
      const client = await answeringClient(s, revision, { answer: () => yes })
      expect(textOf(await client.call('tools/call', { name: 'begun' }))).toBe('true true')
      await turn()
      expect(unhandled).not.toHaveBeenCalled()
    } finally {
      process.off('unhandledRejection', unhandled)
    }
  })

  it('with the same key are a fault of the handler, which names the key', async () => {
    proves('M4')
    const s = server()
    s.tool('twice', {}, async (_, ctx) => {
      await Promise.all([
        ctx.elicit({ message: 'One?', schema, key: 'same' }),
        ctx.elicit({ message: 'Two?', schema, key: 'same' }),
      ])
      return 'never'
    })
    const client = await answeringClient(s, revision, { answer: () => yes })
    expect((await client.call('tools/call', { name: 'twice' })).error).toMatchObject({
      code: -32603,
      message: 'Two input requests of one handler have the key "same"',
    })
  })
})

describe.each(withForms)('inputRequired in %s', revision => {
  const sure = {
    method: 'elicitation/create',
    params: {
      message: 'Sure?',
      requestedSchema: {
        type: 'object',
        properties: { ok: { type: 'boolean' } },
        required: ['ok'],
      },
    },
  } as const

  function ask(ctx: { answers: ReadonlyMap<string, unknown>; state: unknown }) {
    if (ctx.answers.size === 0) return inputRequired({ sure, roots: { method: 'roots/list' } }, 7)
    return `${JSON.stringify([...ctx.answers])} ${ctx.state}`
  }

  it('works for tools, prompts and resources', async () => {
    proves('M3')
    const s = server()
    s.tool('ask', {}, (_, ctx) => ask(ctx))
    s.prompt('ask', {}, (_, ctx) => ask(ctx) as string)
    s.resource('ask', 'ask:///1', {}, ctx => ask(ctx))
    const client = await answeringClient(s, revision, {
      answer: ({ method }) => (method === 'roots/list' ? { roots: [] } : yes),
    })
    const replies = [
      await client.call('tools/call', { name: 'ask' }),
      await client.call('prompts/get', { name: 'ask' }),
      await client.call('resources/read', { uri: 'ask:///1' }),
    ]
    for (const reply of replies) {
      const words = JSON.stringify(reply.result).replaceAll('\\', '')
      expect(words).toContain('["sure",{"action":"accept","content":{"ok":true}}]')
      expect(words).toContain('["roots",{"roots":[]}]')
      expect(words).toContain(' 7')
    }
    expect(client.serverRequests).toHaveLength(6)
  })

  it('sends no request that the client has not declared, and rejects responses of another shape', async () => {
    proves('M6', 'M14')
    const s = server()
    s.tool('ask', {}, (_, ctx) => ask(ctx))
    const lacking = await answeringClient(s, revision, { capabilities: { elicitation: {} } })
    expect((await lacking.call('tools/call', { name: 'ask' })).error).toBeDefined()
    const odd = await answeringClient(s, revision, {
      answer: ({ method }) =>
        method === 'roots/list' ? { roots: [] } : { action: 'accept', content: { ok: 'maybe' } },
    })
    const { error } = await odd.call('tools/call', { name: 'ask' })
    expect(error?.code).toBe(revision === stateless ? -32602 : 1090)
  })

  it('stops after so many rounds', async () => {
    const s = server()
    let runs = 0
    s.tool('endless', {}, () => {
      runs++
      return inputRequired({ sure })
    })
    const client = await answeringClient(s, revision, { answer: () => yes })
    expect((await client.call('tools/call', { name: 'endless' })).error).toMatchObject({
      code: -32603,
      message: 'Too many rounds of input requests',
    })
    expect(client.serverRequests).toHaveLength(10)
    expect(runs).toBe(11)
  })
})

describe('a method of one’s own', () => {
  it('may send requests in a session, but not in rounds of input', async () => {
    proves('M2')
    const onError = vi.fn()
    const s = server(onError)
    s.method('x/ask', async (_, ctx) => ({ roots: await ctx.roots() }))
    const answer = () => ({ roots: [] })
    const session = await answeringClient(s, '2025-11-25', { answer })
    expect((await session.call('x/ask')).result).toEqual({ roots: [] })
    const single = await answeringClient(s, stateless, { answer })
    expect((await single.call('x/ask')).error).toMatchObject({ code: -32603 })
    expect(String(onError.mock.calls[0]?.[0])).toMatch(/only tools, prompts and resources/)
  })
})

it.each(withForms)(
  'what was answered is not asked again in %s when the handler is run again',
  async revision => {
    const s = server()
    s.tool('both', {}, async (_, ctx) => {
      const schema = z.object({ ok: z.boolean() })
      const { ok } = await ctx.elicit({ message: 'First?', schema })
      if (ctx.answers.has('second')) return `${ok}`
      const requestedSchema: FormSchema = {
        type: 'object',
        properties: { ok: { type: 'boolean' } },
      }
      const params = { message: 'Second?', requestedSchema }
      return inputRequired({ second: { method: 'elicitation/create', params } })
    })
    const client = await answeringClient(s, revision, { answer: () => yes })
    expect(textOf(await client.call('tools/call', { name: 'both' }))).toBe('true')
    expect(client.serverRequests.map(({ params }) => params?.message)).toEqual([
      'First?',
      'Second?',
    ])
  },
)
