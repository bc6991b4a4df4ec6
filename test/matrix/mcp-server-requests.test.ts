import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { ClientOptions, ServerRequestContext } from '../../src/client/options.ts'
import type { ElicitFormParams, ElicitResult } from '../../src/mcp/types/elicitation.ts'
import type { SampleParams, SampleResult } from '../../src/mcp/types/sampling.ts'
import { proves } from '../requirements.ts'
import { type Connected, connectCell, named, type Recorder, until } from './mcp-cells.ts'

const answersTo = new Map<string, ElicitResult['content']>([
  ['What is your name?', { name: 'Ada' }],
  ['What is your favorite color?', { color: 'green' }],
  ['Please confirm', { ok: true }],
  ['What context should the prompt use?', { context: 'all of it' }],
])

function fillIn({ message }: ElicitFormParams): ElicitResult {
  if (message === 'decline' || message === 'cancel') return { action: message }
  const content = answersTo.get(message) ?? { username: 'ada', email: 'ada@example.com' }
  return { action: 'accept', content }
}

function speak({ messages, tools }: SampleParams): SampleResult {
  const last = messages.at(-1)
  const [content] = [last?.content].flat()
  const words = content?.type === 'text' ? content.text : ''
  if (tools !== undefined && content?.type === 'text') {
    return {
      role: 'assistant',
      model: 'm',
      stopReason: 'toolUse',
      content: [{ type: 'tool_use', id: 'use-1', name: 'weather', input: { city: 'Paris' } }],
    }
  }
  return { role: 'assistant', model: 'm', content: { type: 'text', text: `said ${words}` } }
}

describe.each(named)('over %s', (_, cell) => {
  const { revision, own, features, isStateless, wire } = cell
  /** Whether server requests are those of a session, which a router translates for a stateless client. */
  const isBridged = isStateless && wire.behind !== undefined && wire.behind !== revision
  /** What a server request waits for, and the contexts of the requests received so far. */
  let gate: Promise<unknown> | undefined
  const asked: ServerRequestContext[] = []
  let connected: Connected
  let client: Client
  let recorder: Recorder

  const options: ClientOptions = {
    elicit: {
      form: async (form, context) => {
        asked.push(context)
        await gate
        return fillIn(form)
      },
      url: () => ({ action: 'accept' }),
    },
    sample: speak,
    sampling: { tools: true },
    roots: [{ uri: 'file:///work', name: 'work' }],
  }

  beforeAll(async () => {
    connected = await connectCell(cell, options)
    client = connected.client
    recorder = connected.recorder
  })

  afterEach(() => {
    gate = undefined
    expect(recorder.problems()).toEqual([])
  })

  afterAll(() => connected?.close())

  test('capabilities are declared in the form of the revision', () => {
    proves('C1', 'C1b', 'C2', 'C2b', 'C3', 'C5', 'C5b', 'C7b')
    const { capabilities } = isStateless
      ? { capabilities: declaredIn(recorder.of('server/discover')[0].params) }
      : recorder.of('initialize')[0].params
    expect(capabilities.roots).toEqual(isStateless ? {} : { listChanged: true })
    expect(capabilities.sampling).toEqual(own.samplingTools ? { tools: {} } : {})
    const modes = { none: undefined, form: {}, 'form and url': { form: {}, url: {} } }
    expect(capabilities.elicitation).toEqual(modes[own.elicitation])
  })

  test('the user fills in a form, declines or cancels', async () => {
    const call = client.call('test_elicitation', { message: 'Who are you?' })
    if (features.elicitation === 'none') {
      // These revisions have no elicitation.
      expect(
        await call.then(
          ({ isError }) => isError,
          () => true,
        ),
      ).toBe(true)
      return
    }
    expect((await call).text).toContain('action=accept')
    expect((await call).text).toContain('"username":"ada"')
    expect((await client.call('test_elicitation', { message: 'decline' })).text).toContain(
      'action=decline',
    )
    expect((await client.call('test_elicitation', { message: 'cancel' })).text).toContain(
      'action=cancel',
    )
  })

  testIf(features.richForms)('a form is filled in with its defaults beforehand', async () => {
    proves('C6c')
    answersTo.set('Please look through the defaults', { name: 'Grace' })
    const { text } = await client.call('test_elicitation_sep1034_defaults')
    expect(JSON.parse(text.slice(text.indexOf('{')))).toEqual({
      name: 'Grace',
      age: 30,
      score: 95.5,
      status: 'active',
      verified: true,
    })
  })

  test('the user is sent to a page where the revision has URL elicitation', async () => {
    const call = client.call('test_elicitation_url')
    if (features.elicitation !== 'form and url') {
      expect(
        await call.then(
          ({ isError }) => isError,
          () => true,
        ),
      ).toBe(true)
      return
    }
    expect((await call).text).toBe('Page: accept')
  })

  test('a model is sampled', async () => {
    const { text } = await client.call('test_sampling', { prompt: 'hello' })
    expect(text).toBe('LLM response: said hello')
  })

  test('a model uses tools where the revision has them', async () => {
    const call = client.call('test_sampling_with_tools')
    if (!features.samplingTools) {
      expect(
        await call.then(
          ({ isError }) => isError,
          () => true,
        ),
      ).toBe(true)
      return
    }
    expect((await call).text).toBe('LLM response: said ')
  })

  test('roots are returned, and new ones after a change', async () => {
    proves('C1d')
    expect((await client.call('test_roots')).text).toBe('file:///work')
    client.setRoots([{ uri: 'file:///home' }, { uri: 'file:///tmp' }])
    expect((await client.call('test_roots')).text).toBe('file:///home\nfile:///tmp')
    expect(recorder.of('notifications/roots/list_changed')).toHaveLength(isStateless ? 0 : 1)
    client.setRoots([{ uri: 'file:///work', name: 'work' }])
  })

  testIf(features.elicitation !== 'none')('several input requests are sent at once', async () => {
    proves('M10')
    const before = recorder.of('tools/call').length
    const { text } = await client.call('test_input_required_result_multiple_inputs')
    expect(text).toBe('said Generate a greeting Ada, of 1 roots')
    const calls = recorder.of('tools/call').slice(before)
    expect(calls).toHaveLength(isStateless ? 2 : 1)
    if (!isStateless) return
    const { inputResponses } = calls[1].params
    const keys = isBridged ? ['q1', 'q2', 'q3'] : ['client_roots', 'greeting', 'user_name']
    expect(Object.keys(inputResponses).sort()).toEqual(keys)
  })

  testIf(features.elicitation !== 'none')('input requests are sent in several rounds', async () => {
    proves('M11', 'M12', 'M13')
    const before = recorder.frames.length
    const { text } = await client.call('test_input_required_result_multi_round')
    expect(text).toBe('Ada likes green (stamp-Ada)')
    if (!isStateless) return
    const calls = recorder.frames
      .slice(before)
      .filter(({ message }) => message.method === 'tools/call')
      .map(({ message }) => message)
    const states = recorder.frames
      .slice(before)
      .map(({ message }) => message.result?.requestState)
      .filter(state => state !== undefined)
    expect(calls).toHaveLength(3)
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
    expect(calls.map(({ params }) => params.requestState)).toEqual([undefined, ...states])
    expect((await client.call('test_simple_text')).isError).toBe(false)
    expect(recorder.of('tools/call').at(-1).params).not.toHaveProperty('requestState')
    expect(recorder.of('tools/call').at(-1).params).not.toHaveProperty('inputResponses')
  })

  testIf(features.elicitation !== 'none')(
    'prompts and resources send server requests too',
    async () => {
      const { messages } = await client.prompt('test_input_required_result_prompt')
      expect(messages).toMatchObject([{ content: { text: 'Use this context: all of it' } }])
      expect((await client.read('test://asking')).text).toBe('Read by Ada')
    },
  )

  testIf(isStateless && features.elicitation !== 'none')(
    'the request state comes back with the response',
    async () => {
      const { text } = await client.call('test_input_required_result_request_state')
      expect(text).toBe('state-ok')
    },
  )

  // On a connection that calls share, where server requests name no call, an ambiguous one is refused.
  const isAttributed = features.elicitation !== 'none' && !(isBridged && wire.isShared)
  testIf(isAttributed)('cancelling a call cancels its server request, too', async () => {
    gate = new Promise(() => {})
    const given = new AbortController()
    const before = asked.length
    const call = client.call('test_elicitation', { message: 'Who?' }, { signal: given.signal })
    call.catch(() => {})
    await until(client, () => asked.length > before)
    given.abort('enough')
    await expect(call).rejects.toBe('enough')
    // A session uses a request of its own, which the server then cancels.
    await until(client, () => asked.at(-1)?.signal.aborted === true)
    expect((await client.call('test_simple_text')).isError).toBe(false)
  })

  testIf(revision === '2025-11-25' && (wire.behind ?? revision) === revision)(
    'a server that needs the user on a page first returns an error',
    async () => {
      await expect(client.call('test_url_elicitation_required')).rejects.toMatchObject({
        code: -32042,
        data: { elicitations: [{ elicitationId: 'consent-1' }] },
      })
    },
  )
})

describe.each(named)('over %s, with a client without capabilities', (_, cell) => {
  let connected: Connected

  beforeAll(async () => {
    connected = await connectCell(cell)
  })

  afterAll(() => connected?.close())

  test.each([
    ['test_elicitation', { message: 'Who are you?' }],
    ['test_sampling', { prompt: 'hello' }],
    ['test_roots', {}],
  ])('%s detects that, and sends no server request', async (tool, args) => {
    proves('L5b')
    const { client, recorder } = connected
    const failed = await client.call(tool, args).then(
      answer => (answer.isError ? answer : undefined),
      error => error,
    )
    expect(failed).toBeDefined()
    const requests = recorder.frames.filter(
      ({ from, message }) => from === 'server' && message.method !== undefined && 'id' in message,
    )
    expect(requests).toEqual([])
    expect(recorder.problems()).toEqual([])
  })
})

/** A test for features that only some revisions have. */
function testIf(isThere: boolean): (name: string, body: () => Promise<void>) => void {
  return (name, body) => {
    if (isThere) test(name, body)
  }
}

function declaredIn(params: { readonly _meta: Readonly<Record<string, unknown>> }): Loose {
  return params._meta['io.modelcontextprotocol/clientCapabilities']
}

// biome-ignore lint/suspicious/noExplicitAny: assertions say what they expect
type Loose = any
