import { describe, expect, it } from 'vitest'
import { proves } from '../../test/requirements.ts'
import {
  allRevisions,
  type Loose,
  never,
  serverOf,
  sessionServer,
  statelessServer,
  turns,
} from '../../test/support/scripted-server.ts'
import { openClient } from './client.ts'

const quiet = { onError: () => {} }

describe.each(allRevisions)('strict mode in %s', revision => {
  const calls: readonly [string, (client: Loose) => Promise<unknown>][] = [
    ['tools/list', client => client.request('tools/list')],
    ['tools/call', client => client.call('x')],
    ['resources/list', client => client.request('resources/list')],
    ['resources/read', client => client.read('x')],
    ['resources/subscribe', client => client.request('resources/subscribe', { uri: 'x' })],
    ['prompts/list', client => client.request('prompts/list')],
    ['prompts/get', client => client.prompt('x')],
    ['logging/setLevel', client => client.request('logging/setLevel', { level: 'info' })],
    ['tasks/get', client => client.request('tasks/get', { taskId: 'x' })],
  ]
  it.each(calls)('refuses %s of a server that has not declared it', async (method, call) => {
    const server = serverOf(revision, {}, { capabilities: {} })
    await using client = await openClient(server.dial, { strict: true, ...quiet })
    await expect(call(client)).rejects.toMatchObject({ code: 'refused' })
    expect(server.methods()).not.toContain(method)
  })

  it('refuses completion in revisions with a capability for it', async () => {
    const server = serverOf(
      revision,
      { 'completion/complete': () => ({ completion: { values: [] } }) },
      { capabilities: {} },
    )
    await using client = await openClient(server.dial, { strict: true, ...quiet })
    const completion = client.complete({ prompt: 'x' }, 'a', '')
    if (revision === '2024-11-05') expect(await completion).toEqual({ values: [] })
    else await expect(completion).rejects.toMatchObject({ code: 'refused' })
  })

  it('allows declared methods, and methods outside the protocol', async () => {
    const server = serverOf(revision, {
      'tools/list': () => ({ tools: [] }),
      'acme/do': () => ({}),
    })
    await using client = await openClient(server.dial, { strict: true, ...quiet })
    await client.request('tools/list')
    await client.request('acme/do')
  })

  it('is off by default', async () => {
    const server = serverOf(revision, { 'tools/list': () => ({ tools: [] }) }, { capabilities: {} })
    await using client = await openClient(server.dial, quiet)
    await client.request('tools/list')
  })
})

describe('batches', () => {
  const answers = {
    'tools/list': () => ({ tools: [{ name: 'a' }] }),
    'prompts/list': () => ({ prompts: [] }),
    'acme/note': () => {},
  }

  it('exist in one revision', async () => {
    const server = sessionServer('2025-03-26', answers)
    await using client = await openClient(server.dial, quiet)
    const [tools, prompts] = await client.batch(b => {
      b.notify('acme/note')
      return [b.request('tools/list'), b.request('prompts/list')]
    })
    expect(tools.tools[0]?.name).toBe('a')
    expect(prompts.prompts).toEqual([])
    expect(server.methods()).toContain('acme/note')
  })

  it.each(allRevisions.filter(name => name !== '2025-03-26'))('do not exist in %s', async name => {
    const server = serverOf(name, answers)
    await using client = await openClient(server.dial, quiet)
    const batch = client.batch(b => [b.request('tools/list')])
    await expect(batch).rejects.toMatchObject({ code: 'refused' })
    expect(server.methods()).not.toContain('tools/list')
  })

  it('exist everywhere if the profile says so', async () => {
    for (const name of ['2025-11-25', '2024-11-05']) {
      const server = sessionServer(name, answers)
      await using client = await openClient(server.dial, { profile: 'erlmcp', ...quiet })
      const [tools] = await client.batch(b => [b.request('tools/list')])
      expect(tools.tools).toHaveLength(1)
    }
  })

  it('are settled one by one', async () => {
    const server = sessionServer('2025-03-26', answers)
    await using client = await openClient(server.dial, quiet)
    const outcomes = await client.batch(b => [
      b.request('tools/list').then(() => 'fine'),
      b.request('acme/unknown').catch(error => error.code),
    ])
    expect(outcomes).toEqual(['fine', -32601])
    await expect(client.batch(b => [b.request('acme/unknown')])).rejects.toMatchObject({
      code: -32601,
    })
  })

  it('with an unknown outcome reject', async () => {
    const server = sessionServer('2025-03-26', { 'acme/do': never })
    await using client = await openClient(server.dial, quiet)
    const batch = client.batch(b => [b.request('acme/do')]).catch(e => e)
    await turns()
    await server.disconnect()
    expect(await batch).toMatchObject({ code: 'outcome-unknown' })
  })

  it('are processed in the revision that has them, and refused in others', async () => {
    proves('B8', 'B8c')
    for (const [name, isTaken] of [
      ['2025-03-26', true],
      ['2025-11-25', false],
    ] as const) {
      const server = sessionServer(name)
      await using _ = await openClient(server.dial, quiet)
      const batch = server.peer.batch(b => [b.call('ping'), b.call('ping')])
      if (isTaken) expect(await batch).toEqual([{}, {}])
      else await expect(batch).rejects.toMatchObject({ code: -32600 })
    }
  })

  it('obey strict mode', async () => {
    const server = sessionServer('2025-03-26', answers, { capabilities: {} })
    await using client = await openClient(server.dial, { strict: true, ...quiet })
    await expect(client.batch(b => [b.request('tools/list')])).rejects.toMatchObject({
      code: 'refused',
    })
  })
})

describe('positional params', () => {
  it('cannot be sent to a stateless server', async () => {
    await using client = await openClient(statelessServer().dial)
    await expect(client.request('acme/do', [1, 2])).rejects.toThrow(TypeError)
  })
})
