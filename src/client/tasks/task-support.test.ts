import { describe, expect, it } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { sessionServer, turns } from '../../../test/support/scripted-server.ts'
import { openClient } from '../client.ts'

const done = { content: [{ type: 'text', text: 'done' }] }
const times = { createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z' }
const task = (status: string) => ({ taskId: 't1', status, ttl: null, pollInterval: 1, ...times })

/** A server whose tools say how they run. */
function supporting(status = 'completed') {
  const inputSchema = { type: 'object' }
  return sessionServer('2025-11-25', {
    'tools/list': () => ({
      tools: [
        { name: 'silent', inputSchema },
        { name: 'never', inputSchema, execution: { taskSupport: 'forbidden' } },
        { name: 'maybe', inputSchema, execution: { taskSupport: 'optional' } },
        { name: 'always', inputSchema, execution: { taskSupport: 'required' } },
      ],
    }),
    'tools/call': ({ task: wish }) => (wish === undefined ? done : { task: task('working') }),
    'tasks/get': () => task(status),
    'tasks/result': () => done,
    'tasks/cancel': () => task('cancelled'),
  })
}

async function listed(server = supporting()) {
  const client = await openClient(server.dial, { onError: () => {} })
  for await (const _ of client.tools());
  return client
}

describe('a tool that was listed', () => {
  it.each(['silent', 'never'])('without task support is not started: %s', async name => {
    proves('S10c')
    const server = supporting()
    await using client = await listed(server)
    await expect(client.start(name)).rejects.toMatchObject({ code: 'refused' })
    expect((await client.call(name)).text).toBe('done')
    expect(server.sent('tools/call')).toEqual([{ name }])
  })

  it('with required task support is called as a task', async () => {
    proves('S10d')
    const server = supporting()
    await using client = await listed(server)
    expect((await client.call('always', { x: 1 })).text).toBe('done')
    expect(server.sent('tools/call')).toEqual([{ name: 'always', arguments: { x: 1 }, task: {} }])
    expect((await client.call('maybe')).text).toBe('done')
    expect(server.sent('tools/call')[1]).toEqual({ name: 'maybe' })
  })

  it('with required task support is cancelled as a task', async () => {
    const server = supporting('working')
    await using client = await listed(server)
    const giveUp = new AbortController()
    const call = client.call('always', {}, { signal: giveUp.signal })
    call.catch(() => {})
    await turns()
    giveUp.abort('enough')
    await expect(call).rejects.toBe('enough')
    await turns()
    expect(server.sent('tasks/cancel')).toEqual([{ taskId: 't1' }])
  })

  it('is forgotten when the tools change', async () => {
    const server = supporting()
    await using client = await listed(server)
    server.notify('notifications/tools/list_changed')
    await turns()
    expect((await client.start('never')).id).toBe('t1')
  })
})
