import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../test/requirements.ts'
import {
  allRevisions,
  never,
  serverOf,
  sessionServer,
  statelessServer,
  turns,
} from '../../test/support/scripted-server.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { openClient } from './client.ts'

const quiet = { onError: () => {} }
const text = (words: string) => ({ type: 'text', text: words })

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe.each(allRevisions)('calls in %s', revision => {
  it('call tools', async () => {
    const server = serverOf(revision, {
      'tools/call': ({ name, arguments: args }) => ({
        content: [text(`${name}`), { type: 'image', data: '', mimeType: 'image/png' }, text('two')],
        structuredContent: args,
        _meta: { 'com.example/cost': 3 },
      }),
    })
    await using client = await openClient(server.dial, quiet)
    const answer = await client.call('add', { a: 1 })
    expect(answer).toMatchObject({
      text: 'add\ntwo',
      structured: { a: 1 },
      isError: false,
      meta: { 'com.example/cost': 3 },
    })
    expect(answer.content).toHaveLength(3)
    expect(answer.raw.content).toBe(answer.content)
    const [sent] = server.sent('tools/call')
    expect(sent).toMatchObject({ name: 'add', arguments: { a: 1 } })
    expect(Object.keys(sent?._meta ?? {})).toHaveLength(revision === '2026-07-28' ? 3 : 0)
  })

  it('resolve with the failure of a tool', async () => {
    const server = serverOf(revision, {
      'tools/call': () => ({ content: [text('no such city')], isError: true }),
    })
    await using client = await openClient(server.dial, quiet)
    expect(await client.call('forecast')).toMatchObject({ isError: true, text: 'no such city' })
  })

  it('read resources', async () => {
    const server = serverOf(revision, {
      'resources/read': ({ uri }) => ({
        contents: [
          { uri, text: 'a' },
          { uri, blob: 'AA==' },
        ],
      }),
    })
    await using client = await openClient(server.dial, quiet)
    const { text: read, contents } = await client.read('file:///a')
    expect(read).toBe('a')
    expect(contents).toHaveLength(2)
  })

  it('get prompts', async () => {
    const server = serverOf(revision, {
      'prompts/get': ({ arguments: args }) => ({
        messages: [{ role: 'user', content: text(JSON.stringify(args)) }],
      }),
    })
    await using client = await openClient(server.dial, quiet)
    const { messages } = await client.prompt('review', { code: 'x' })
    expect(messages).toEqual([{ role: 'user', content: text('{"code":"x"}') }])
  })

  it('complete arguments, with the context where the revision has it', async () => {
    const server = serverOf(revision, {
      'completion/complete': () => ({ completion: { values: ['function'], hasMore: true } }),
    })
    await using client = await openClient(server.dial, quiet)
    const completion = await client.complete({ prompt: 'review' }, 'code', 'fun', { a: 'b' })
    expect(completion).toEqual({ values: ['function'], hasMore: true })
    await client.complete({ resource: 'db://{id}' }, 'id', '')
    const [first, second] = server.sent('completion/complete')
    expect(first).toMatchObject({
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'code', value: 'fun' },
    })
    const canSay = !['2024-11-05', '2025-03-26'].includes(revision)
    expect(first.context).toEqual(canSay ? { arguments: { a: 'b' } } : undefined)
    expect(second.ref).toEqual({ type: 'ref/resource', uri: 'db://{id}' })
  })

  it('follow the pages of every list', async () => {
    const page =
      (member: string) =>
      ({ cursor }: { readonly cursor?: unknown }) =>
        cursor === undefined
          ? { [member]: [{ name: 'a' }, { name: 'b' }], nextCursor: 'more' }
          : { [member]: [{ name: cursor }] }
    const server = serverOf(revision, {
      'tools/list': page('tools'),
      'resources/list': page('resources'),
      'resources/templates/list': page('resourceTemplates'),
      'prompts/list': page('prompts'),
    })
    await using client = await openClient(server.dial, quiet)
    for (const list of [
      client.tools(),
      client.resources(),
      client.resourceTemplates(),
      client.prompts(),
    ]) {
      expect((await all<{ name: string }>(list)).map(({ name }) => name)).toEqual([
        'a',
        'b',
        'more',
      ])
    }
    expect(server.sent('tools/list').map(({ cursor }) => cursor)).toEqual([undefined, 'more'])
  })

  it('make any request and send any notification', async () => {
    const noted = vi.fn()
    const server = serverOf(revision, {
      'acme/do': ({ x }) => ({ did: x }),
      'acme/note': noted,
    })
    await using client = await openClient(server.dial, quiet)
    expect(await client.request('acme/do', { x: 1 })).toMatchObject({ did: 1 })
    client.notify('acme/note', { y: 2 })
    await turns()
    expect(noted.mock.calls[0]?.[0]).toEqual({ y: 2 })
  })

  it('reject with the kind of error that the code means in this revision', async () => {
    const server = serverOf(revision, {
      'resources/read': ({ uri }) => {
        throw new RpcError(revision === '2026-07-28' ? -32602 : -32002, 'Resource not found', {
          data: { uri },
        })
      },
    })
    await using client = await openClient(server.dial, quiet)
    const error = await client.read('file:///nowhere').catch(e => e)
    expect(error).toBeInstanceOf(RpcError)
    expect(error).toMatchObject({ kind: 'resource_not_found', category: 'resource' })
  })

  it('assign no kind to application-defined codes, but for one', async () => {
    proves('B21c', 'S15d')
    let code = 0
    const server = serverOf(revision, {
      'resources/read': () => {
        throw new RpcError(code, 'No')
      },
    })
    await using client = await openClient(server.dial, quiet)
    const kindOf = async (sent: number) => {
      code = sent
      return (await client.read('file:///x').catch(error => error)).kind
    }
    expect(await kindOf(-32002)).toBe('resource_not_found')
    if (revision !== '2026-07-28') return
    for (let sent = -32019; sent <= -32000; sent++) {
      if (sent !== -32002) expect([sent, await kindOf(sent)]).toEqual([sent, undefined])
    }
  })

  it('leave the params of the caller as they are', async () => {
    const server = serverOf(revision, { 'acme/do': () => ({}) })
    await using client = await openClient(server.dial, quiet)
    const params = Object.freeze({ x: 1, _meta: Object.freeze({ 'com.example/a': 1 }) })
    await client.request('acme/do', params, { onProgress: () => {} })
    expect(params).toEqual({ x: 1, _meta: { 'com.example/a': 1 } })
    const { _meta } = server.sent('acme/do')[0]
    expect(_meta).toMatchObject({ 'com.example/a': 1, progressToken: expect.any(String) })
    const version = revision === '2026-07-28' ? revision : undefined
    expect(_meta['io.modelcontextprotocol/protocolVersion']).toBe(version)
  })

  it('never use an id twice', async () => {
    const server = serverOf(revision, { 'tools/call': () => ({ content: [] }) })
    await using client = await openClient(server.dial, quiet)
    await Promise.all(Array.from({ length: 20 }, () => client.call('x')))
    const ids = server.received.filter(({ id }) => id !== undefined).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe.each(allRevisions)('giving up in %s', revision => {
  it('cancels on the server on a timeout', async () => {
    const clock = fakeClock()
    const server = serverOf(revision, { 'tools/call': never })
    await using client = await openClient(server.dial, { clock, timeoutMs: 1000, ...quiet })
    const call = client.call('slow').catch(e => e)
    await turns()
    const id = server.received.at(-1)?.id
    clock.advance(1100)
    expect(await call).toMatchObject({ name: 'ChannelError', code: 'timeout' })
    await turns()
    expect(server.sent('notifications/cancelled')).toEqual([{ requestId: id, reason: 'timeout' }])
  })

  it.each([false, true])(
    'cancels on the server when the caller aborts (waiting for progress: %s)',
    async hasProgress => {
      const server = serverOf(revision, { 'tools/call': never })
      await using client = await openClient(server.dial, quiet)
      const giveUp = new AbortController()
      const { signal } = giveUp
      const onProgress = hasProgress ? () => {} : undefined
      const call = client.call('slow', {}, { signal, onProgress }).catch(e => e)
      await turns()
      const id = server.received.at(-1)?.id
      giveUp.abort('enough')
      expect(await call).toBe('enough')
      await turns()
      expect(server.sent('notifications/cancelled')).toEqual([{ requestId: id, reason: 'enough' }])
    },
  )

  it('does not send the message of an error to the server', async () => {
    const server = serverOf(revision, { 'tools/call': never })
    await using client = await openClient(server.dial, quiet)
    const giveUp = new AbortController()
    const call = client.call('slow', {}, { signal: giveUp.signal }).catch(e => e)
    await turns()
    giveUp.abort(new Error('the password is 1234'))
    expect(await call).toMatchObject({ message: 'the password is 1234' })
    await turns()
    const [notification] = server.sent('notifications/cancelled')
    expect(JSON.stringify(notification)).not.toContain('1234')
  })

  it('sends nothing for a signal that was aborted before', async () => {
    const server = serverOf(revision, { 'tools/call': never })
    await using client = await openClient(server.dial, quiet)
    const before = server.received.length
    await expect(client.call('x', {}, { signal: AbortSignal.abort('no') })).rejects.toBe('no')
    await turns()
    expect(server.received).toHaveLength(before)
  })
})

describe.each(allRevisions)('progress in %s', revision => {
  async function slowCall(maxTotalMs?: number) {
    const clock = fakeClock()
    const server = serverOf(revision, { 'tools/call': never })
    const client = await openClient(server.dial, { clock, timeoutMs: 1000, ...quiet })
    const steps: unknown[] = []
    let outcome: unknown
    const onProgress = (step: unknown) => steps.push(step)
    client.call('slow', {}, { onProgress, maxTotalMs }).then(
      value => {
        outcome = value
      },
      error => {
        outcome = error
      },
    )
    await turns()
    const { progressToken } = server.sent('tools/call')[0]._meta
    const report = async (params: object) => {
      server.notify('notifications/progress', { progressToken, ...params })
      await turns()
    }
    const outcomeAfter = async (ms: number) => {
      clock.advance(ms)
      await turns()
      return outcome
    }
    return { client, steps, report, outcomeAfter, server, progressToken }
  }

  it('is reported, and restarts the timeout', async () => {
    const { client, steps, report, outcomeAfter } = await slowCall()
    for (const progress of [1, 2, 3]) {
      expect(await outcomeAfter(900)).toBeUndefined()
      await report({ progress, total: 3, message: 'on the way' })
    }
    expect(steps).toEqual(
      [1, 2, 3].map(progress => ({ progress, total: 3, message: 'on the way' })),
    )
    expect(await outcomeAfter(1100)).toMatchObject({ code: 'timeout' })
    await client.close()
  })

  it('does not keep a call alive for ever', async () => {
    proves('L8d')
    const { client, report, outcomeAfter } = await slowCall(2500)
    for (const progress of [1, 2]) {
      expect(await outcomeAfter(900)).toBeUndefined()
      await report({ progress })
    }
    expect(await outcomeAfter(900)).toMatchObject({ code: 'timeout' })
    await client.close()
  })

  it('that makes no progress is dropped', async () => {
    const { client, steps, report, outcomeAfter } = await slowCall()
    await report({ progress: 5 })
    await outcomeAfter(900)
    await report({ progress: 5 })
    await report({ progress: 4 })
    await report({ progress: 'six' })
    expect(steps).toHaveLength(1)
    expect(await outcomeAfter(300)).toMatchObject({ code: 'timeout' })
    await report({ progress: 9 })
    expect(steps).toHaveLength(1)
    await client.close()
  })

  it('of another call is ignored', async () => {
    const { client, steps, server, progressToken } = await slowCall()
    server.notify('notifications/progress', { progressToken: `${progressToken}0`, progress: 1 })
    server.notify('notifications/progress', { progress: 1 })
    server.notify('notifications/progress')
    await turns()
    expect(steps).toEqual([])
    await client.close()
  })
})

describe('lists', () => {
  it('fail if a cursor repeats', async () => {
    const server = sessionServer('2025-11-25', {
      'tools/list': ({ cursor }) => ({ tools: [], nextCursor: cursor === 'a' ? 'b' : 'a' }),
    })
    await using client = await openClient(server.dial, quiet)
    await expect(all(client.tools())).rejects.toThrow('cursor repeats')
    expect(server.sent('tools/list')).toHaveLength(3)
  })

  it('fail if there are too many pages', async () => {
    let page = 0
    const server = sessionServer('2025-11-25', {
      'tools/list': () => ({ tools: [], nextCursor: `${page++}` }),
    })
    await using client = await openClient(server.dial, quiet)
    await expect(all(client.tools({ maxPages: 7 }))).rejects.toMatchObject({ code: 'too-many' })
    expect(page).toBe(7)
  })

  it('pass on the _meta of pages', async () => {
    const server = sessionServer('2025-11-25', {
      'tools/list': ({ cursor }) =>
        cursor === undefined
          ? { tools: [], nextCursor: 'b', _meta: { first: 1 } }
          : { tools: [], _meta: { second: 2 } },
    })
    await using client = await openClient(server.dial, quiet)
    const metas: unknown[] = []
    await all(client.tools({ onMeta: meta => metas.push(meta) }))
    expect(metas).toEqual([{ first: 1 }, { second: 2 }])
  })

  it('fetch no page before it is reached', async () => {
    const server = sessionServer('2025-11-25', {
      'tools/list': () => ({ tools: [{ name: 'a' }, { name: 'b' }], nextCursor: 'more' }),
    })
    await using client = await openClient(server.dial, quiet)
    for await (const tool of client.tools()) if (tool.name === 'b') break
    expect(server.sent('tools/list')).toHaveLength(1)
  })

  it.each([
    ['2025-11-25', 1],
    ['2026-07-28', 2],
  ])('know what an empty cursor means in %s', async (revision, requests) => {
    proves('U6h')
    const server = serverOf(revision, {
      'tools/list': ({ cursor }) =>
        cursor === undefined ? { tools: [], nextCursor: '' } : { tools: [] },
    })
    await using client = await openClient(server.dial, quiet)
    await all(client.tools())
    expect(server.sent('tools/list')).toHaveLength(requests)
    if (requests === 2) expect(server.sent('tools/list')[1].cursor).toBe('')
  })

  it.each([
    ['no list', { tools: 'none' }],
    ['no object', 'tools'],
    ['an odd entry', { tools: ['a'] }],
    ['an odd cursor', { tools: [], nextCursor: 7 }],
  ])('that are %s reject', async (_, result) => {
    const server = sessionServer('2025-11-25', { 'tools/list': () => result })
    await using client = await openClient(server.dial, quiet)
    await expect(all(client.tools())).rejects.toMatchObject({ code: 'framing' })
  })
})

describe('log messages', () => {
  it('are requested once in a session, and again in a new one', async () => {
    const server = sessionServer('2025-11-25', { 'logging/setLevel': () => ({}) })
    const onLog = vi.fn()
    await using client = await openClient(server.dial, { onLog, ...quiet })
    await client.setLogLevel('warning')
    server.notify('notifications/message', { level: 'error', logger: 'db', data: { x: 1 } })
    server.notify('message', { level: 'alert', data: 'short name' })
    server.notify('notifications/message', { level: 'loud', data: 1 })
    await turns()
    expect(onLog.mock.calls.map(([message]) => [message.level, message.data])).toEqual([
      ['error', { x: 1 }],
      ['alert', 'short name'],
    ])
    await server.disconnect()
    await client.ping()
    await turns()
    expect(server.sent('logging/setLevel')).toEqual([{ level: 'warning' }, { level: 'warning' }])
  })

  it('are requested with every request of a stateless revision', async () => {
    const server = statelessServer({ 'tools/call': () => ({ content: [] }) })
    await using client = await openClient(server.dial)
    await client.call('x')
    await client.setLogLevel('debug')
    await client.call('x')
    const levels = server
      .sent('tools/call')
      .map(({ _meta }) => _meta['io.modelcontextprotocol/logLevel'])
    expect(levels).toEqual([undefined, 'debug'])
    expect(server.methods()).not.toContain('logging/setLevel')
  })

  it('have known levels', async () => {
    await using client = await openClient(statelessServer().dial)
    // @ts-expect-error there is no such level
    await expect(client.setLogLevel('loud')).rejects.toThrow(TypeError)
  })
})

describe('ping', () => {
  it('exists in sessions only', async () => {
    await using session = await openClient(sessionServer('2024-11-05').dial, quiet)
    await session.ping()
    const server = statelessServer()
    await using stateless = await openClient(server.dial)
    await expect(stateless.ping()).rejects.toMatchObject({ code: 'refused' })
    expect(server.methods()).not.toContain('ping')
  })
})

describe('notifications', () => {
  it('all reach the handler, under their canonical names', async () => {
    const onNotification = vi.fn()
    const server = sessionServer('2025-11-25')
    await using _ = await openClient(server.dial, { onNotification, ...quiet })
    server.notify('acme/news', { x: 1 })
    server.notify('tools/list_changed')
    await turns()
    expect(onNotification.mock.calls).toEqual([
      ['acme/news', { x: 1 }],
      ['notifications/tools/list_changed', undefined],
    ])
  })

  it('whose handler throws do no harm', async () => {
    const onError = vi.fn()
    const server = sessionServer('2025-11-25')
    const broken = () => {
      throw new Error('broken')
    }
    await using client = await openClient(server.dial, {
      onNotification: broken,
      onLog: broken,
      onError,
    })
    server.notify('notifications/message', { level: 'info', data: 1 })
    await turns()
    expect(onError).toHaveBeenCalledTimes(2)
    await client.ping()
  })
})

describe('closing', () => {
  it.each(allRevisions)('rejects calls in flight, and all later ones, in %s', async revision => {
    const server = serverOf(revision, { 'tools/call': never })
    const client = await openClient(server.dial, quiet)
    const call = client.call('slow').catch(e => e)
    await turns()
    await client.close()
    expect(await call).toMatchObject({ code: 'closed' })
    expect(await client.closed).toBeUndefined()
    await expect(client.call('x')).rejects.toMatchObject({ code: 'closed' })
    expect(() => client.notify('x')).toThrow('closed')
    await client.close()
    await turns()
    expect(server.connections).toHaveLength(1)
  })

  it('leaves no timer behind', async () => {
    const clock = fakeClock()
    const server = sessionServer('2025-11-25', { 'tools/call': never })
    const client = await openClient(server.dial, { clock, elicit: () => ({ action: 'cancel' }) })
    const call = client.call('slow', {}, { onProgress: () => {} }).catch(() => {})
    const changes = client.changes({ tools: true })
    await turns()
    await client.close()
    await call
    expect((await changes.next()).done).toBe(true)
    // The last tick of the deadlines stops without being closed.
    clock.advance(100)
    clock.advance(60_000 * 60)
    expect(clock.pending).toBe(0)
  })
})
