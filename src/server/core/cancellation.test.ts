import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { proves } from '../../../test/requirements.ts'
import { allRevisions, answeringClient, stateless } from '../../../test/support/answering-client.ts'
import { manualDeadlines, turn } from '../../../test/support/wire.ts'
import { limits } from '../../util/limits/limits.ts'
import { Server } from '../server.ts'

function waiting() {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  const seen: string[] = []
  let finish: () => void = () => {}
  server.tool('wait', {}, (_, ctx) => {
    seen.push('begun')
    ctx.signal.addEventListener('abort', () => seen.push(String(ctx.signal.reason)))
    return new Promise(resolve => {
      finish = () => {
        ctx.progress(1)
        ctx.log('error', 'late')
        resolve('late')
      }
    })
  })
  server.tool('ask', {}, async (_, ctx) => {
    try {
      const schema = z.object({ ok: z.boolean() })
      await ctx.elicit({ message: 'Sure?', schema })
      return 'yes'
    } catch (error) {
      seen.push(String(error))
      throw error
    }
  })
  return { server, seen, finish: () => finish() }
}

type Client = Awaited<ReturnType<typeof answeringClient>>

const envelope = {
  'io.modelcontextprotocol/protocolVersion': stateless,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/logLevel': 'debug',
  progressToken: 0,
}

function call(client: Client, revision: string, id: string | number, name: string) {
  const _meta = revision === stateless ? envelope : { progressToken: 0 }
  client.send({ id, method: 'tools/call', params: { name, _meta } })
}

function cancel(client: Client, params: object) {
  client.send({ method: 'notifications/cancelled', params })
}

describe.each(allRevisions)('in %s', revision => {
  it.each([0, '', 7, 'seven'])(
    'cancelling %j stops the work, and no response is sent',
    async id => {
      proves('U2c', 'U2e', 'U2h', 'U5e', 'T5b')
      const { server, seen, finish } = waiting()
      const client = await answeringClient(server, revision)
      call(client, revision, id, 'wait')
      cancel(client, { requestId: id, reason: 'enough' })
      await turn()
      expect(seen).toEqual(['begun', expect.stringContaining('cancelled: enough')])
      finish()
      await turn()
      // A session may receive notifications at any time; without one there is only the request.
      const isLog = (said: { method?: string }) => said.method === 'notifications/message'
      const more = client.received().filter(said => revision === stateless || !isLog(said))
      expect(more).toEqual([])
    },
  )

  it('cancelling an unknown, finished or malformed id is ignored', async () => {
    proves('U2g', 'U2j')
    const { server, seen, finish } = waiting()
    const client = await answeringClient(server, revision)
    call(client, revision, 'a', 'wait')
    for (const params of [
      { requestId: 'b' },
      { requestId: 1 },
      { requestId: null },
      { requestId: {} },
      {},
      [],
    ]) {
      cancel(client, params)
    }
    finish()
    const isReply = (said: { id?: unknown; method?: string }) => said.id === 'a' && !said.method
    expect((await client.next(isReply)).result).toMatchObject({ content: [{ text: 'late' }] })
    cancel(client, { requestId: 'a' })
    await turn()
    expect(seen).toEqual(['begun'])
    // An id that is over may be used again.
    call(client, revision, 'a', 'wait')
    finish()
    await client.next(isReply)
  })
})

it('initialize is not cancelled, however long it takes', async () => {
  proves('L6')
  const server = new Server({ name: 'test', version: '1' })
  let pass: () => void = () => {}
  const gate = new Promise<void>(resolve => {
    pass = resolve
  })
  server.use(next => async (message, exchange) => {
    await gate
    return next(message, exchange)
  })
  const client = await answeringClient(server, stateless)
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  }
  client.send({ id: 'open', method: 'initialize', params })
  cancel(client, { requestId: 'open' })
  pass()
  expect((await client.next(said => said.id === 'open')).result).toMatchObject({
    protocolVersion: '2025-11-25',
  })
})

it('a server request is cancelled with the request that it belongs to', async () => {
  proves('U2', 'U2f', 'U3b')
  const { server, seen } = waiting()
  const client = await answeringClient(server, '2025-11-25', { answer: () => undefined })
  call(client, '2025-11-25', 'a', 'ask')
  const sent = await client.next(said => said.method === 'elicitation/create')
  cancel(client, { requestId: 'a', reason: 'changed my mind' })
  const notified = await client.next(said => said.method === 'notifications/cancelled')
  expect(notified.params).toMatchObject({ requestId: sent.id })
  await turn()
  expect(seen).toEqual([expect.stringContaining('changed my mind')])
  // A response that was already on its way is ignored, and does no harm.
  client.send({ id: sent.id, result: { action: 'accept', content: { ok: true } } })
  await turn()
  expect(client.received()).toEqual([])
})

it('a server request that is not answered in time is cancelled', async () => {
  proves('L8', 'L8b')
  const { deadlines, advance } = manualDeadlines()
  const seen: unknown[] = []
  const server = new Server({ name: 'test', version: '1' }, { peer: { deadlines } })
  server.tool('ask', {}, async (_, ctx) => {
    await ctx.roots().catch(error => seen.push(error.code))
    return 'gave up'
  })
  const client = await answeringClient(server, '2025-11-25', { answer: () => undefined })
  call(client, '2025-11-25', 'a', 'ask')
  const sent = await client.next(said => said.method === 'roots/list')
  advance(limits.serverRequestMs.default - 1)
  await turn()
  expect(seen).toEqual([])
  advance(2)
  const notified = await client.next(said => said.method === 'notifications/cancelled')
  expect(notified.params).toEqual({ requestId: sent.id, reason: 'timeout' })
  expect((await client.next(said => said.id === 'a')).result).toMatchObject({
    content: [{ text: 'gave up' }],
  })
  expect(seen).toEqual(['timeout'])
})

it('a stateless server cancels nothing', async () => {
  proves('U4b', 'B14')
  const { server } = waiting()
  const client = await answeringClient(server, stateless)
  call(client, stateless, 'a', 'wait')
  cancel(client, { requestId: 'a' })
  await client.request('tools/call', { name: 'ask' })
  await turn()
  expect(client.received().map(({ method }) => method)).not.toContain('notifications/cancelled')
})

it('the end of the connection aborts running handlers', async () => {
  proves('U2c')
  const { server, seen } = waiting()
  const client = await answeringClient(server, '2025-11-25')
  call(client, '2025-11-25', 'a', 'wait')
  await client.session.close({ drainMs: 0 })
  await turn()
  expect(seen).toHaveLength(2)
})
