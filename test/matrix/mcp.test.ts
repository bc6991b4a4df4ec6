import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { LogMessageParams } from '../../src/mcp/types/logging.ts'
import { proves } from '../requirements.ts'
import { type Connected, connectCell, named, type Recorder, until } from './mcp-cells.ts'

describe.each(named)('over %s', (_, cell) => {
  const { revision, features, isStateless, cancelsByLeaving } = cell
  const logs: LogMessageParams[] = []
  let connected: Connected
  let client: Client
  let recorder: Recorder

  beforeAll(async () => {
    connected = await connectCell(cell, { onLog: message => logs.push(message) })
    client = connected.client
    recorder = connected.recorder
  })

  afterEach(() => {
    // What both sides sent in the test, checked against the schema of the revision.
    expect(recorder.problems()).toEqual([])
  })

  afterAll(() => connected?.close())

  test('the server describes itself, in the requested revision', () => {
    proves('L1', 'L1b', 'L1c', 'L4', 'L3', 'L5', 'L5c', 'T8b', 'V7b')
    const { server } = client
    expect(server).toMatchObject({ name: 'everything', version: '1.0.0' })
    expect(server.revision.name).toBe(revision)
    expect(server.title).toBe(features.titles ? 'Everything' : undefined)
    // A router has a website of its own, or none.
    const website = cell.wire.behind === undefined && features.icons
    expect(server.websiteUrl).toBe(website ? 'https://example.com/everything' : undefined)
    expect(server.instructions).toContain('Every feature')
    expect(server.capabilities).toMatchObject({ tools: {}, resources: {}, prompts: {} })
    const [first, second] = recorder.frames.filter(({ from }) => from === 'client')
    expect(recorder.frames.slice(0, 2).map(({ from }) => from)).toEqual(['client', 'server'])
    if (isStateless) {
      expect(first?.message.method).toBe('server/discover')
    } else {
      expect(first?.message).toMatchObject({
        method: 'initialize',
        params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'matrix' } },
      })
      expect(second?.message.method).toBe('notifications/initialized')
    }
  })

  test('tools are listed and called, whatever they return', async () => {
    proves('T10', 'B5', 'B5b')
    const names = await all(client.tools(), ({ name }) => name)
    expect(names).toContain('test_simple_text')
    expect(new Set(names).size).toBe(names.length)
    expect((await client.call('test_simple_text')).text).toContain('simple text')
    const types = async (tool: string) => (await client.call(tool)).content.map(({ type }) => type)
    expect(await types('test_image_content')).toEqual(['image'])
    expect(await types('test_audio_content')).toEqual([features.audio ? 'audio' : 'resource'])
    expect(await types('test_embedded_resource')).toEqual(['resource'])
    expect(await types('test_resource_link')).toEqual([
      features.resourceLinks ? 'resource_link' : 'text',
    ])
    expect(await types('test_multiple_content_types')).toEqual(['text', 'image', 'resource'])
  })

  test('a structured result matches its output schema', async () => {
    const output = {
      type: 'object',
      properties: { sum: { type: 'number' } },
      required: ['sum'],
    } as const
    const answer = await client.call('test_structured_content', { a: 1, b: 2 })
    expect(JSON.parse(answer.text)).toEqual({ sum: 3 })
    const isStructured = features.structured !== 'none'
    expect(answer.structured).toEqual(isStructured ? { sum: 3 } : undefined)
    if (isStructured) {
      const typed = await client.call('test_structured_content', { a: 2, b: 2 }, { output })
      expect(typed.structured).toEqual({ sum: 4 })
    }
    const list = await client.call('test_structured_list')
    expect(list.structured).toEqual(features.structured === 'any' ? [1, 2, 3] : undefined)
    expect(JSON.parse(list.text)).toEqual([1, 2, 3])
  })

  test('failing tools and invalid requests are distinguished', async () => {
    proves('B5c', 'B24')
    recorder.isMisuse = true
    const failed = await client.call('test_error_handling')
    expect(failed).toMatchObject({ isError: true })
    expect(failed.text).toContain('intentionally')
    await expect(client.call('test_protocol_error')).rejects.toMatchObject({
      name: 'RpcError',
      code: 4711,
      data: { reason: 'asked for' },
    })
    await expect(client.call('there_is_none')).rejects.toMatchObject({ code: -32602 })
    await expect(client.request('there/is/none')).rejects.toMatchObject({ code: -32601 })
    const wrong = client.call('test_structured_content', { a: 'one' })
    if (features.inputErrors === 'result') expect((await wrong).isError).toBe(true)
    else await expect(wrong).rejects.toMatchObject({ code: -32602 })
  })

  test('resources are listed page by page and read', async () => {
    proves('U6', 'U6d', 'U6e', 'U6f')
    const before = recorder.of('resources/list').length
    const uris = await all(client.resources(), ({ uri }) => uri)
    expect(uris.length).toBeGreaterThan(60)
    const pages = recorder.of('resources/list').slice(before)
    expect(pages.length).toBeGreaterThan(1)
    const cursors = recorder.frames
      .filter(({ from, message }) => from === 'server' && message.result?.resources !== undefined)
      .map(({ message }) => message.result.nextCursor)
    expect(cursors).toEqual([...pages.slice(1).map(({ params }) => params.cursor), undefined])
    expect((await client.read('test://static-text')).text).toContain('static text')
    const [picture] = (await client.read('test://static-binary')).contents
    expect(picture).toMatchObject({ mimeType: 'image/png', blob: expect.any(String) })
    expect(await all(client.resourceTemplates(), ({ uriTemplate }) => uriTemplate)).toContain(
      'test://template/{id}/data',
    )
    expect((await client.read('test://template/7/data')).text).toContain('Data for ID: 7')
    await expect(client.read('test://nowhere')).rejects.toMatchObject({
      code: isStateless ? -32602 : -32002,
      kind: 'resource_not_found',
    })
    await expect(client.read('test://failing')).rejects.toMatchObject({
      code: -32603,
      message: 'Internal error',
    })
  })

  test('prompts are listed and filled in', async () => {
    proves('S17h')
    recorder.isMisuse = true
    const names = await all(client.prompts(), ({ name }) => name)
    expect(names).toContain('test_prompt_with_arguments')
    const { messages } = await client.prompt('test_prompt_with_arguments', { arg1: 'a', arg2: 'b' })
    expect(messages).toEqual([
      { role: 'user', content: { type: 'text', text: expect.stringContaining("arg1='a'") } },
    ])
    const pictured = await client.prompt('test_prompt_with_image')
    expect(pictured.messages.map(({ content }) => content.type)).toEqual(['image', 'text'])
    await expect(client.prompt('test_prompt_with_arguments', {})).rejects.toMatchObject({
      code: -32602,
    })
    await expect(client.prompt('there_is_none')).rejects.toMatchObject({ code: -32602 })
  })

  test('arguments are completed, using the context where the revision has it', async () => {
    proves('U9m')
    const of = { prompt: 'test_prompt_with_arguments' }
    expect((await client.complete(of, 'arg1', 'par')).values).toEqual(['paris', 'party', 'park'])
    const many = await client.complete(of, 'arg2', 'x', { arg1: 'known-' })
    expect(many.values).toHaveLength(100)
    expect(many.values[0]).toBe(features.completionContext ? 'known-x0' : 'x0')
    const ids = await client.complete({ resource: 'test://template/{id}/data' }, 'id', '12')
    expect(ids.values).toEqual(['123', '124'])
    expect((await client.complete(of, 'arg1', 'none like this')).values).toEqual([])
  })

  test('log messages are filtered by the requested level', async () => {
    logs.length = 0
    await client.setLogLevel('error')
    await client.call('test_logging_tool')
    const wanted = ['error', 'critical', 'alert', 'emergency']
    expect(logs.map(({ level }) => level)).toEqual(wanted)
    await client.setLogLevel('emergency')
    await client.call('test_logging_tool')
    expect(logs.map(({ level }) => level)).toEqual([...wanted, 'emergency'])
  })

  test('progress is reported to callers that request it, and always increases', async () => {
    proves('U5', 'U5b', 'U5c', 'U5d', 'U5e')
    const reported: number[] = []
    const before = recorder.of('notifications/progress').length
    const watch = () =>
      client.call('test_tool_with_progress', {}, { onProgress: p => reported.push(p.progress) })
    await watch()
    expect(reported).toEqual([0, 50, 100])
    await Promise.all([watch(), watch(), watch()])
    await client.call('test_tool_with_progress')
    await client.call('test_late_progress', {}, { onProgress: p => reported.push(p.progress) })
    await client.call('test_simple_text')
    expect(reported.filter(progress => progress === 1)).toHaveLength(1)
    expect(reported.filter(progress => progress === 100)).toHaveLength(4)
    const calls = recorder
      .of('tools/call')
      .map(({ params }) => params._meta?.progressToken)
      .filter(token => token !== undefined)
    expect(new Set(calls).size).toBe(calls.length)
    for (const token of calls) {
      expect(typeof token === 'string' || Number.isInteger(token)).toBe(true)
    }
    // Four calls with three progress messages each, and one that returned before its second.
    expect(recorder.of('notifications/progress')).toHaveLength(before + 13)
  })

  test('a cancelled call is stopped and gets no response', async () => {
    proves('U2', 'U2c', 'U2e', 'U2k', 'T5', 'L8', 'L8b', 'L8c', 'S12g', 'H7f', 'N7d')
    const name = 'given up'
    const given = new AbortController()
    const call = client.call('test_wait', { name }, { signal: given.signal })
    call.catch(() => {})
    await whenWaiting(client, name, 'yes')
    given.abort('changed my mind')
    await expect(call).rejects.toBe('changed my mind')
    await whenWaiting(client, name, 'no')
    const late = client.call('test_wait', { name: 'late' }, { timeoutMs: 20 })
    await expect(late).rejects.toMatchObject({ code: 'timeout' })
    await whenWaiting(client, 'late', 'no')
    const waits = recorder.of('tools/call').filter(({ params }) => params.name === 'test_wait')
    const ids = waits.map(({ id }) => id)
    const cancelled = [
      { requestId: ids[0], reason: 'changed my mind' },
      { requestId: ids[1], reason: 'timeout' },
    ]
    expect(recorder.of('notifications/cancelled').map(({ params }) => params)).toEqual(
      cancelsByLeaving ? [] : cancelled,
    )
    const answered = recorder.frames.filter(
      ({ from, message }) => from === 'server' && ids.includes(message.id),
    )
    expect(answered).toEqual([])
  })

  test('a cancellation of a finished or unknown request is ignored', async () => {
    proves('U2g', 'U2j', 'B7b')
    recorder.isMisuse = true
    await client.call('test_simple_text')
    const last = recorder.of('tools/call').at(-1)
    const before = recorder.frames.length
    client.notify('notifications/cancelled', { requestId: last?.id, reason: 'too late' })
    client.notify('notifications/cancelled', { requestId: 'never was' })
    client.notify('notifications/cancelled', { requestId: [] })
    client.notify('notifications/cancelled')
    client.notify('notifications/there/is/none')
    expect((await client.call('test_simple_text')).isError).toBe(false)
    const received = recorder.frames.slice(before).filter(({ from }) => from === 'server')
    expect(received).toHaveLength(1)
  })

  test('pings are answered in sessions, and exist nowhere else', async () => {
    proves('U1')
    if (isStateless) await expect(client.ping()).rejects.toMatchObject({ code: 'refused' })
    else await client.ping()
    const [ping] = recorder.of('ping')
    const reply = recorder.frames.find(
      ({ from, message }) => from === 'server' && ping !== undefined && message.id === ping.id,
    )
    expect(reply?.message.result).toEqual(isStateless ? undefined : {})
  })

  test('batches are answered where the revision has them, and refused otherwise', async () => {
    proves('B8', 'B8b', 'T3', 'H4', 'H4b', 'N3d')
    const batch = () =>
      client.batch(b => [
        b.request('tools/call', { name: 'test_simple_text' }),
        b.request('prompts/list'),
        b.request('there/is/none').catch((error: unknown) => error),
      ])
    if (revision !== '2025-03-26') {
      await expect(batch()).rejects.toMatchObject({ code: 'refused' })
      expect(recorder.frames.some(({ message }) => Array.isArray(message))).toBe(false)
      return
    }
    recorder.isMisuse = true
    const [call, prompts, error] = await batch()
    expect(call).toMatchObject({ content: [{ type: 'text' }] })
    expect(prompts.prompts.length).toBeGreaterThan(3)
    expect(error).toMatchObject({ code: -32601 })
    const [sent, answered] = recorder.frames.filter(({ message }) => Array.isArray(message))
    expect(sent?.message.map((one: { method: string }) => one.method)).not.toContain('initialize')
    // Over HTTP they belong to one response, from which each message arrives separately.
    if (!cell.wire.isPerRequest) expect(answered?.message).toHaveLength(3)
  })

  test('concurrent calls each get their own response', async () => {
    proves('B2', 'B3', 'B4')
    const calls = Array.from({ length: 200 }, (_each, a) =>
      client.call('test_structured_content', { a, b: 1 }),
    )
    const sums = (await Promise.all(calls)).map(({ text }) => JSON.parse(text).sum)
    expect(sums).toEqual(calls.map((_each, a) => a + 1))
    const requests = recorder.messages.filter(
      ({ from, message }) => from === 'client' && message.method && message.id !== undefined,
    )
    const ids = requests.map(({ message }) => message.id)
    expect(ids.length).toBeGreaterThan(200)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(typeof id === 'string' || Number.isInteger(id)).toBe(true)
  })

  test('large and non-ASCII texts survive a round trip', async () => {
    proves('B1b', 'T1', 'T8')
    const code = 'wörld\n\u2028😀 '.repeat(50_000)
    const { messages } = await client.prompt('test_prompt_with_arguments', { arg1: code, arg2: '' })
    const [message] = messages
    const got = message?.content.type === 'text' ? message.content.text : ''
    expect(got.includes(code)).toBe(true)
  })

  test('every request identifies its sender where there is no session', async () => {
    proves('V1', 'V2', 'B1', 'B7', 'B14b', 'B15d', 'T4', 'T1c')
    await client.call('test_simple_text')
    // All messages go to one process.
    expect(recorder.connections).toBe(1)
    const sent = recorder.messages.filter(({ from }) => from === 'client').map(one => one.message)
    for (const message of sent) {
      expect(message.jsonrpc).toBe('2.0')
      if (message.method === undefined) expect(isStateless).toBe(false)
      if (message.method?.startsWith('notifications/')) expect('id' in message).toBe(false)
      if (!isStateless || message.id === undefined || message.method === 'there/is/none') continue
      expect(message.params._meta).toMatchObject({
        'io.modelcontextprotocol/protocolVersion': revision,
        'io.modelcontextprotocol/clientCapabilities': expect.any(Object),
        'io.modelcontextprotocol/clientInfo': { name: 'matrix', version: '1.0.0' },
      })
    }
  })
})

/** Polls until a tool that waits is running, or is not. */
function whenWaiting(client: Client, name: string, answer: 'yes' | 'no'): Promise<void> {
  return until(client, async () => (await client.call('test_is_waiting', { name })).text === answer)
}

async function all<T, U>(items: AsyncIterable<T>, of: (item: T) => U): Promise<U[]> {
  const found: U[] = []
  for await (const item of items) found.push(of(item))
  return found
}
