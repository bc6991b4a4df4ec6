import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { LogMessageParams } from '../../src/mcp/types/logging.ts'
import { proves } from '../requirements.ts'
import {
  type Connected,
  connectCell,
  named,
  type Recorder,
  type Served,
  until,
} from './mcp-cells.ts'

describe.each(named)('over %s', (_, cell) => {
  const { isStateless, cancelsByLeaving } = cell
  const logs: LogMessageParams[] = []
  let connected: Connected
  let client: Client
  let served: Served
  let recorder: Recorder

  beforeEach(async () => {
    logs.length = 0
    connected = await connectCell(cell, {
      onLog: message => logs.push(message),
      reconnect: { attempts: 500, baseMs: 1, maxMs: 10 },
    })
    client = connected.client
    served = connected.served
    recorder = connected.recorder
  })

  afterEach(async () => {
    await connected.close()
    expect(recorder.problems()).toEqual([])
  })

  test('changes are reported to subscribers until they unsubscribe', async () => {
    proves('Q4', 'T6')
    const changes = client.changes({ tools: true, resources: ['test://watched-resource'] })
    const others = client.changes({ prompts: true, resources: true })
    expect(await changes.ready).toMatchObject({ toolsListChanged: true })
    await others.ready
    await client.call('test_trigger_tool_change')
    await client.call('test_trigger_prompt_change')
    await client.call('test_trigger_resource_update')
    await client.call('test_trigger_resource_change')
    // A router reads a list again before it reports a change.
    expect((await nextChanges(changes, 2)).sort()).toEqual(['test://watched-resource', 'tools'])
    expect((await nextChanges(others, 2)).sort()).toEqual(['prompts', 'resources'])
    await changes.return()
    await client.call('test_trigger_tool_change')
    await client.call('test_trigger_prompt_change')
    expect(await nextChanges(others, 1)).toEqual(['prompts'])
    expect(await changes.next()).toEqual({ done: true, value: undefined })
    const ends = isStateless ? 'notifications/cancelled' : 'resources/unsubscribe'
    expect(recorder.of(ends)).toHaveLength(cancelsByLeaving ? 0 : 1)
  })

  test('a client reconnects after a server is lost during a call, and does not retry the call', async () => {
    proves('T7b', 'L10')
    const call = client.call('test_wait', { name: 'lost' })
    call.catch(() => {})
    await until(client, async () => {
      const { text } = await client.call('test_is_waiting', { name: 'lost' })
      return text === 'yes'
    })
    await served.cut()
    await expect(call).rejects.toMatchObject({
      name: 'ChannelError',
      code: 'outcome-unknown',
      message: expect.stringContaining('tools/call'),
    })
    expect((await client.call('test_simple_text')).isError).toBe(false)
    // Where each request has its own connection, a lost connection affects only that request.
    expect(recorder.connections).toBe(cancelsByLeaving ? 1 : 2)
    expect(waits(recorder)).toHaveLength(1)
    expect(recorder.of('initialize')).toHaveLength(isStateless ? 0 : 2)
  })

  test('subscriptions are renewed on a new connection', async () => {
    proves('T7c')
    await client.setLogLevel('alert')
    const changes = client.changes({ tools: true, resources: ['test://watched-resource'] })
    await changes.ready
    await served.cut()
    expect(await nextChanges(changes, 1)).toEqual(['reconnected'])
    await client.call('test_trigger_resource_update')
    await client.call('test_trigger_tool_change')
    expect(await nextChanges(changes, 2)).toEqual(['test://watched-resource', 'tools'])
    await client.call('test_logging_tool')
    expect(logs.map(({ level }) => level)).toEqual(['alert', 'emergency'])
    expect(recorder.of(isStateless ? 'subscriptions/listen' : 'resources/subscribe')).toHaveLength(
      2,
    )
    await changes.return()
  })

  test('read-only requests are retried transparently', async () => {
    const gone = served.cut()
    const texts = await Promise.all([
      client.read('test://static-text'),
      client.prompt('test_simple_prompt'),
      client.request('tools/list', {}, { fresh: true }),
    ])
    await gone
    expect(texts[0].text).toContain('static text')
    expect(texts[1].messages).toHaveLength(1)
    expect(texts[2].tools.length).toBeGreaterThan(10)
  })
})

/** The calls of the tool that waits. */
function waits(recorder: Recorder): readonly unknown[] {
  return recorder.of('tools/call').filter(({ params }) => params.name === 'test_wait')
}

async function nextChanges(
  changes: ReturnType<Client['changes']>,
  count: number,
): Promise<string[]> {
  const found: string[] = []
  while (found.length < count) {
    const { value } = await changes.next()
    if (value === undefined) throw new Error(`over after ${found.join(', ')}`)
    found.push(value.type === 'resource' ? value.uri : value.type)
  }
  return found
}
