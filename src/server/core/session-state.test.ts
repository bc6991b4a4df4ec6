import { describe, expect, test } from 'vitest'
import { sessionRevisions } from '../../../test/support/answering-client.ts'
import { turn, wire } from '../../../test/support/wire.ts'
import type { SessionAttachment, SessionState } from '../../mcp/endpoint.ts'
import { limits } from '../../util/limits/limits.ts'
import { Server } from '../server.ts'

function serve() {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  server.tool('log', {}, (_, ctx) => {
    ctx.log('info', 'quiet')
    ctx.log('error', 'loud')
    return ''
  })
  server.tool('ask', {}, async (_, ctx) => `${(await ctx.roots()).length} roots`)
  server.resource('a', 'r:///a', {}, () => 'a')
  const events: string[] = []
  for (const name of ['ready', 'subscribe', 'unsubscribe', 'closed'] as const) {
    server.on(name, () => void events.push(name))
  }
  return { server, events }
}

/** A connection of a session whose state is followed. */
function attach(server: Server, state?: SessionState) {
  const end = wire()
  const states: (SessionState | undefined)[] = []
  let attachment: SessionAttachment | undefined
  attachment = server.attachSession(
    end.channel,
    {},
    { ...(state && { state }), onChange: () => void states.push(attachment?.state()) },
  )
  let lastId = 0
  const sent = () => end.sent.splice(0).map(text => JSON.parse(text))
  return {
    attachment,
    states,
    sent,
    disconnect: () => end.disconnect(),
    send: (message: object) => end.deliver(JSON.stringify({ jsonrpc: '2.0', ...message })),
    request: async (method: string, params: object = {}) => {
      end.deliver(JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params }))
      await turn()
      return sent()
    },
  }
}

async function open(server: Server, protocolVersion: string) {
  const client = attach(server)
  const clientInfo = { name: 'client', version: '1' }
  const capabilities = { roots: {} }
  expect(client.attachment.state()).toBeUndefined()
  await client.request('initialize', { protocolVersion, capabilities, clientInfo })
  client.send({ method: 'notifications/initialized' })
  await turn()
  return client
}

/** As a store would return it. */
const stored = (client: ReturnType<typeof attach>): SessionState =>
  JSON.parse(JSON.stringify(client.attachment.state()))

describe.each(sessionRevisions)('a session of %s', revision => {
  test('reports its state, and each change of it', async () => {
    const client = await open(serve().server, revision)
    const { capabilities, client: info, isReady, taskKey } = stored(client)
    expect([capabilities, info, isReady]).toEqual([
      { roots: {} },
      { name: 'client', version: '1' },
      true,
    ])
    await client.request('logging/setLevel', { level: 'error' })
    await client.request('resources/subscribe', { uri: 'r:///a' })
    await client.request('resources/subscribe', { uri: 'r:///a' })
    await client.request('resources/unsubscribe', { uri: 'r:///a' })
    const told = client.states.map(state => [state?.logLevel, state?.subscriptions])
    expect(told).toEqual([
      [undefined, []],
      ['error', []],
      ['error', ['r:///a']],
      ['error', []],
    ])
    expect(stored(client)).toMatchObject({ revision, taskKey })
  })

  test('continues in another process with its state', async () => {
    const client = await open(serve().server, revision)
    await client.request('logging/setLevel', { level: 'error' })
    await client.request('resources/subscribe', { uri: 'r:///a' })
    const state = stored(client)
    const { server, events } = serve()
    const heir = attach(server, state)
    expect([stored(heir), events]).toEqual([state, ['ready', 'subscribe']])
    const [first, second] = await heir.request('tools/call', { name: 'log' })
    expect([first.params.data, second.id]).toEqual(['loud', 1])
    server.updated('r:///a')
    await turn()
    expect(heir.sent()).toMatchObject([{ method: 'notifications/resources/updated' }])
    heir.attachment.notifyAll()
    expect(heir.sent().map(({ method }) => method)).toEqual([
      'notifications/tools/list_changed',
      'notifications/resources/list_changed',
      'notifications/resources/updated',
    ])
    await heir.attachment.close()
    expect(events).toEqual(['ready', 'subscribe', 'unsubscribe', 'closed'])
  })

  test('asks its client under ids that the process before cannot have used', async () => {
    const before = await open(serve().server, revision)
    const [asked] = await before.request('tools/call', { name: 'ask' })
    expect([asked.method, before.attachment.pendingCalls]).toEqual(['roots/list', 1])
    const heir = attach(serve().server, stored(before))
    const [again] = await heir.request('tools/call', { name: 'ask' })
    expect([again.method, again.id === asked.id]).toEqual(['roots/list', false])
    // The answer to the question of the process before is ignored.
    heir.send({ id: asked.id, result: { roots: [{ uri: 'file:///old' }] } })
    heir.send({ id: again.id, result: { roots: [] } })
    await turn()
    expect(heir.sent()).toMatchObject([{ result: { content: [{ text: '0 roots' }] } }])
  })
})

test('a session that has not been initialized continues without notifications', async () => {
  const { server, events } = serve()
  const client = await open(server, '2025-11-25')
  const heir = attach(server, { ...stored(client), isReady: false })
  heir.attachment.notifyAll()
  expect([heir.sent(), events]).toEqual([[], ['ready']])
  heir.send({ method: 'notifications/initialized' })
  await turn()
  expect([stored(heir).isReady, events]).toEqual([true, ['ready', 'ready']])
})

test('a session cannot continue in a revision that is not served, nor beyond the limit', async () => {
  const { server } = serve()
  const state = stored(await open(server, '2025-11-25'))
  expect(() => attach(server, { ...state, revision: '2026-07-28' })).toThrow(/protocol version/)
  const uri = `r:///${'x'.repeat(1024 * limits.subscriptions.default)}`
  expect(() => attach(server, { ...state, subscriptions: [uri] })).toThrow(/Subscription failed/)
})
