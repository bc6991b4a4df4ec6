import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  type Answer,
  allRevisions,
  type Loose,
  never,
  type ScriptedServer,
  serverOf,
  sessionRevisions,
  sessionServer,
  statelessServer,
  turns,
} from '../../../test/support/scripted-server.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { openClient } from '../client.ts'
import type { ClientOptions, Sample } from '../options.ts'

const quiet = { onError: () => {} }
const form = {
  message: 'Sure?',
  requestedSchema: {
    type: 'object',
    properties: { ok: { type: 'boolean' }, n: { type: 'integer', default: 3 } },
    required: ['ok'],
  },
}
const sample: Sample = () => ({
  role: 'assistant',
  content: { type: 'text', text: 'hi' },
  model: 'tiny',
})
const wish = { messages: [{ role: 'user', content: { type: 'text', text: 'say' } }], maxTokens: 9 }

/** A tool that sends one server request, in the form of its revision, and returns the response. */
function asking(revision: string, method: string, params?: object): ScriptedServer {
  const stateless: Answer = ({ inputResponses }) =>
    inputResponses === undefined
      ? { resultType: 'input_required', inputRequests: { q: { method, params } } }
      : { content: [], structuredContent: (inputResponses as Loose).q }
  const session: Answer = async (_, { exchange }) => {
    const structuredContent = await exchange.back?.call(method, params)
    return { content: [], structuredContent }
  }
  const answer = revision === '2026-07-28' ? stateless : session
  return serverOf(revision, { 'tools/call': answer })
}

async function ask(
  revision: string,
  [method, params]: [string, object?],
  options: ClientOptions,
): Promise<unknown> {
  await using client = await openClient(asking(revision, method, params).dial, {
    ...quiet,
    ...options,
  })
  return (await client.call('ask')).structured
}

describe.each(allRevisions)('server requests in %s', revision => {
  const hasForms = !['2024-11-05', '2025-03-26'].includes(revision)
  const hasPages = ['2025-11-25', '2026-07-28'].includes(revision)

  it('for roots are answered with an array, or with the result of a function', async () => {
    const roots = [{ uri: 'file:///work', name: 'work' }]
    expect(await ask(revision, ['roots/list'], { roots })).toEqual({ roots })
    expect(await ask(revision, ['roots/list'], { roots: async () => roots })).toEqual({ roots })
  })

  it('for sampling are passed to the handler', async () => {
    const answer = await ask(revision, ['sampling/createMessage', wish], {
      sample: request => ({
        role: 'assistant',
        content: { type: 'text', text: `${request.maxTokens}` },
        model: 'tiny',
      }),
    })
    expect(answer).toMatchObject({ content: { text: '9' }, model: 'tiny' })
  })

  it('for sampling have all params, unchanged', async () => {
    proves('C2e', 'C3j')
    const received: unknown[] = []
    const speak: Sample = (request, context) => {
      received.push(request.messages)
      return sample(request, context)
    }
    const marked = { 'com.example/cached': true }
    const first = [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'u', name: 'a', input: {}, _meta: marked }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', toolUseId: 'u', content: [], _meta: marked }],
      },
    ]
    const second = [{ role: 'user', content: { type: 'text', text: 'and now?' } }]
    let messages: object[] = first
    const server = asking(revision, 'sampling/createMessage', {
      maxTokens: 9,
      get messages() {
        return messages
      },
    })
    await using client = await openClient(server.dial, { ...quiet, sample: speak })
    await client.call('ask')
    messages = second
    await client.call('ask')
    expect(received).toEqual([first, second])
  })

  it('for elicitation are passed to the handler, and get the defaults of the form', async () => {
    proves('C7')
    const elicit = vi.fn(() => ({ action: 'accept', content: { ok: true } }) as const)
    const answer = ask(revision, ['elicitation/create', form], { elicit })
    if (hasForms) {
      expect(await answer).toEqual({ action: 'accept', content: { ok: true, n: 3 } })
      expect(elicit.mock.calls[0]).toMatchObject([form, { signal: expect.any(AbortSignal) }])
    } else {
      await expect(answer).rejects.toThrow()
      expect(elicit).not.toHaveBeenCalled()
    }
  })

  it.each(['decline', 'cancel'] as const)(
    'may be answered with %s, and nothing else',
    async action => {
      if (!hasForms) return
      const elicit = () => ({ action, content: { ok: true } })
      expect(await ask(revision, ['elicitation/create', form], { elicit })).toEqual({ action })
    },
  )

  it('for a URL are passed to the URL handler, in revisions that have them', async () => {
    const page = { mode: 'url', message: 'Log in', url: 'https://x.test/', elicitationId: 'e1' }
    proves('C8', 'C8b', 'C9h')
    const fetched = vi.spyOn(globalThis, 'fetch')
    const url = vi.fn(() => ({ action: 'accept', content: { ok: true } }) as const)
    const answer = ask(revision, ['elicitation/create', page], { elicit: { url } })
    if (hasPages) {
      expect(await answer).toEqual({ action: 'accept' })
      // The address and the id go to the handler as they are, and nowhere else.
      expect(url.mock.calls).toMatchObject([[page, {}]])
    } else {
      await expect(answer).rejects.toThrow()
      expect(url).not.toHaveBeenCalled()
    }
    expect(fetched).not.toHaveBeenCalled()
    fetched.mockRestore()
  })

  it('are refused without a handler', async () => {
    for (const request of ['roots/list', 'sampling/createMessage', 'elicitation/create']) {
      await expect(ask(revision, [request, {}], {})).rejects.toThrow()
    }
  })

  it('are declared only if there are handlers, in the form of the revision', async () => {
    const declared = async (options: ClientOptions): Promise<Loose> => {
      const server = serverOf(revision, { 'tools/call': () => ({ content: [] }) })
      await using client = await openClient(server.dial, {
        ...quiet,
        ...options,
        revisions: [revision],
      })
      await client.call('x')
      return revision === '2026-07-28'
        ? server.sent('tools/call')[0]._meta['io.modelcontextprotocol/clientCapabilities']
        : server.sent('initialize')[0].capabilities
    }
    const none = await declared({ tasks: false })
    expect(none).toEqual({})
    const full = await declared({
      roots: [],
      sample,
      sampling: { tools: true, context: true },
      elicit: { form: () => ({ action: 'cancel' }), url: () => ({ action: 'cancel' }) },
      experimental: { 'com.example/x': {} },
      tasks: false,
    })
    expect(full).toEqual({
      roots: revision === '2026-07-28' ? {} : { listChanged: true },
      sampling: hasPages ? { tools: {}, context: {} } : {},
      ...(hasForms && { elicitation: hasPages ? { form: {}, url: {} } : {} }),
      experimental: { 'com.example/x': {} },
    })
    const pagesAlone = await declared({
      elicit: { url: () => ({ action: 'cancel' }) },
      tasks: false,
    })
    expect(pagesAlone).toEqual(hasPages ? { elicitation: { url: {} } } : {})
  })
})

describe.each(sessionRevisions)('requests of a server in %s', revision => {
  async function call(options: ClientOptions, method: string, params?: object): Promise<Loose> {
    const server = sessionServer(revision)
    await using _ = await openClient(server.dial, { ...quiet, ...options })
    return await server.peer.call(method, params).catch(error => error)
  }

  it('are answered: ping', async () => {
    expect(await call({}, 'ping')).toEqual({})
  })

  it.each([
    ['roots/list', {}],
    ['sampling/createMessage', wish],
    ['elicitation/create', form],
    ['tools/list', {}],
    ['constructor', {}],
  ])('are refused as unknown without a handler: %s', async (method, params) => {
    proves('C1e')
    expect(await call({}, method, params)).toMatchObject({ code: -32601 })
  })

  it('are refused with invalid params if params are missing', async () => {
    proves('C7d')
    const elicit = () => ({ action: 'cancel' }) as const
    for (const params of [{}, { messages: [] }, { maxTokens: 3, messages: 'x' }, []]) {
      const error = await call({ sample }, 'sampling/createMessage', params)
      expect(error).toMatchObject({ code: -32602 })
    }
    if (['2024-11-05', '2025-03-26'].includes(revision)) return
    for (const params of [{}, { message: 'x' }, { ...form, mode: 'url' }, { ...form, mode: 'x' }]) {
      const error = await call({ elicit }, 'elicitation/create', params)
      expect(error).toMatchObject({ code: -32602 })
    }
  })

  it('get an RpcError that a handler throws, and no other error', async () => {
    proves('C2g')
    const onError = vi.fn()
    const reject = () => {
      throw new RpcError(-1, 'User rejected sampling request')
    }
    const refusal = await call({ sample: reject }, 'sampling/createMessage', wish)
    expect(refusal).toMatchObject({ code: -1, message: 'User rejected sampling request' })
    const fail = () => {
      throw new Error('the key is 1234')
    }
    const failure = await call({ sample: fail, onError }, 'sampling/createMessage', wish)
    expect(failure).toMatchObject({ code: -32603, message: 'Internal error' })
    expect(String(onError.mock.calls[0]?.[0])).toContain('1234')
  })

  it('that are cancelled abort the handler and get no response', async () => {
    const server = sessionServer(revision)
    let stopped: unknown
    const slow: Sample = (_, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          stopped = true
          reject(signal.reason)
        })
      })
    const onError = vi.fn()
    await using _ = await openClient(server.dial, { sample: slow, onError })
    onError.mockClear()
    void server.peer.call('sampling/createMessage', wish).catch(() => {})
    await turns()
    server.notify('notifications/cancelled', { requestId: 1 })
    await turns()
    expect(stopped).toBe(true)
    expect(server.replies).toEqual([])
    expect(onError).not.toHaveBeenCalled()
  })
})

describe('sampling with tools', () => {
  const use = { type: 'tool_use', id: 'u1', name: 'add', input: {} }
  const result = { type: 'tool_result', toolUseId: 'u1', content: [] }
  const user = (...content: object[]) => ({ role: 'user', content })
  const assistant = (...content: object[]) => ({ role: 'assistant', content })
  const words = { type: 'text', text: 'x' }
  const ask = async (params: object, sampling?: ClientOptions['sampling']): Promise<Loose> => {
    const server = sessionServer('2025-11-25')
    await using _ = await openClient(server.dial, { ...quiet, sample, sampling })
    const request = { maxTokens: 1, messages: [], ...params }
    return await server.peer.call('sampling/createMessage', request).catch(error => error)
  }

  it('is refused unless that was declared', async () => {
    proves('C3c')
    expect(await ask({ tools: [] })).toMatchObject({ code: -32602 })
    expect(await ask({ toolChoice: {} })).toMatchObject({ code: -32602 })
    expect(await ask({ tools: [] }, { tools: true })).toMatchObject({ model: 'tiny' })
  })

  it('is refused with invalid messages', async () => {
    proves('C3f', 'C3g')
    const fine = [
      [user(words)],
      [user(words), assistant(use), user(result)],
      [{ role: 'user', content: words }, assistant(words, use), user(result), assistant(words)],
    ]
    for (const messages of fine) {
      expect(await ask({ messages }, { tools: true })).toMatchObject({ model: 'tiny' })
    }
    const odd = [
      [user(result)],
      [assistant(use)],
      [assistant(use), user(words)],
      [assistant(use), user(result, words)],
      [assistant(use, { ...use, id: 'u2' }), user(result)],
      ['hello'],
    ]
    for (const messages of odd) {
      expect(await ask({ messages }, { tools: true })).toMatchObject({ code: -32602 })
    }
  })
})

describe('the completion of a URL elicitation', () => {
  it('that is unknown or complete is ignored', async () => {
    proves('C9c')
    const onError = vi.fn()
    const server = sessionServer('2025-11-25')
    const elicit = { url: () => ({ action: 'accept' }) as const }
    await using client = await openClient(server.dial, { elicit, onError })
    onError.mockClear()
    const page = { mode: 'url', message: 'Log in', url: 'https://x.test/', elicitationId: 'e1' }
    await server.peer.call('elicitation/create', page)
    for (const params of [
      { elicitationId: 'e1' },
      { elicitationId: 'e1' },
      { elicitationId: 7 },
      {},
    ]) {
      server.notify('notifications/elicitation/complete', params)
    }
    await turns()
    await client.ping()
    expect(onError).not.toHaveBeenCalled()
  })
})

describe('results that do not match', () => {
  it.each([
    ['content', () => ({ action: 'accept', content: { ok: 'yes' } })],
    ['a missing field', () => ({ action: 'accept' })],
    ['an action', () => ({ action: 'maybe' })],
  ])('are a mistake of the handler: %s', async (_, elicit) => {
    proves('C5h')
    const onError = vi.fn()
    const server = sessionServer('2025-11-25')
    await using _client = await openClient(server.dial, { elicit: elicit as Loose, onError })
    onError.mockClear()
    const answer = await server.peer.call('elicitation/create', form).catch(error => error)
    expect(answer).toMatchObject({ code: -32603 })
    expect(onError.mock.calls[0]?.[0]).toBeInstanceOf(TypeError)
  })
})

describe('roots that change', () => {
  it('are notified to a session, and returned from then on', async () => {
    const changed = vi.fn()
    const server = sessionServer('2025-11-25', { 'notifications/roots/list_changed': changed })
    await using client = await openClient(server.dial, { roots: [], ...quiet })
    client.setRoots([{ uri: 'file:///new' }])
    await turns()
    expect(changed).toHaveBeenCalledTimes(1)
    expect(await server.peer.call('roots/list')).toEqual({ roots: [{ uri: 'file:///new' }] })
  })

  it('are not notified in stateless revisions', async () => {
    const server = asking('2026-07-28', 'roots/list')
    await using client = await openClient(server.dial, { roots: [] })
    client.setRoots(() => [{ uri: 'file:///new' }])
    expect((await client.call('x')).structured).toEqual({ roots: [{ uri: 'file:///new' }] })
    expect(server.methods()).not.toContain('notifications/roots/list_changed')
  })

  it('must be an option first', async () => {
    await using client = await openClient(statelessServer().dial)
    expect(() => client.setRoots([])).toThrow(TypeError)
  })
})

describe('a stateless server that sends requests', () => {
  it.each(['ping', 'roots/list', 'sampling/createMessage'])('is refused: %s', async method => {
    const onError = vi.fn()
    const server = statelessServer()
    await using _ = await openClient(server.dial, { roots: [], sample, onError })
    await expect(server.peer.call(method, wish)).rejects.toMatchObject({ code: -32601 })
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'refused' })
  })
})

describe('the time that a server request takes', () => {
  it.each(['2025-11-25', '2026-07-28'])(
    'does not count against the timeout in %s',
    async revision => {
      let outcome: unknown
      const clock = fakeClock()
      let answer: () => void = () => {}
      const elicit = () =>
        new Promise<{ action: 'accept'; content: { ok: boolean } }>(resolve => {
          answer = () => resolve({ action: 'accept', content: { ok: true } })
        })
      const server = asking(revision, 'elicitation/create', form)
      await using client = await openClient(server.dial, {
        clock,
        elicit,
        timeoutMs: 1000,
        ...quiet,
      })
      client.call('ask').then(
        value => {
          outcome = value
        },
        error => {
          outcome = error
        },
      )
      await turns()
      clock.advance(60_000)
      await turns()
      expect(outcome).toBeUndefined()
      answer()
      await turns()
      expect(outcome).toMatchObject({ structured: { action: 'accept' } })
    },
  )

  it('does not count against the timeout, even with progress meanwhile', async () => {
    const clock = fakeClock()
    const server = asking('2025-11-25', 'elicitation/create', form)
    await using client = await openClient(server.dial, {
      clock,
      elicit: never,
      timeoutMs: 1000,
      ...quiet,
    })
    let isOver = false
    const steps: unknown[] = []
    client
      .call('ask', {}, { onProgress: step => steps.push(step) })
      .catch(() => {})
      .finally(() => {
        isOver = true
      })
    await turns()
    const { progressToken } = server.sent('tools/call')[0]._meta
    server.notify('notifications/progress', { progressToken, progress: 1 })
    await turns()
    clock.advance(5000)
    await turns()
    expect(steps).toHaveLength(1)
    expect(isOver).toBe(false)
  })

  it.each(['2025-11-25', '2026-07-28'])('counts against the total time in %s', async revision => {
    const clock = fakeClock()
    const server = asking(revision, 'elicitation/create', form)
    await using client = await openClient(server.dial, {
      clock,
      elicit: never,
      maxTotalMs: 5000,
      timeoutMs: 1000,
      ...quiet,
    })
    const call = client.call('ask').catch(e => e)
    await turns()
    clock.advance(5100)
    expect(await call).toMatchObject({ code: 'timeout' })
  })
})

describe('sampling as a notification', () => {
  it.each([
    ['erlmcp', 1],
    ['mcp', 0],
  ] as const)(
    'runs the handler in the profile %s %i times, without a response',
    async (profile, times) => {
      const server = sessionServer('2025-11-25')
      const seen: unknown[] = []
      await using client = await openClient(server.dial, {
        profile,
        onError: () => {},
        sample: ({ messages }) => {
          seen.push(messages)
          return { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } }
        },
      })
      const messages = [{ role: 'user', content: { type: 'text', text: 'hello' } }]
      server.notify('sampling/createMessage', { messages, maxTokens: 5 })
      await client.ping()
      await client.ping()
      expect(seen).toHaveLength(times)
    },
  )

  it('reports one that cannot be run', async () => {
    const server = sessionServer('2025-11-25')
    const reports: unknown[] = []
    await using client = await openClient(server.dial, {
      profile: 'erlmcp',
      onError: error => reports.push(error),
    })
    server.notify('sampling/createMessage', {})
    await client.ping()
    expect(reports).toEqual([expect.objectContaining({ code: -32601 })])
  })
})
