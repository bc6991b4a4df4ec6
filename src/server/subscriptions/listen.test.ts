import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  answeringClient,
  sessionRevisions,
  stateless,
} from '../../../test/support/answering-client.ts'
import { turn } from '../../../test/support/wire.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import { limits } from '../../util/limits/limits.ts'
import { Server } from '../server.ts'

function everything() {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  const tool = server.tool('t', {}, (_, ctx) => {
    ctx.progress(1)
    ctx.log('error', 'x')
    return ''
  })
  server.prompt('p', {}, () => '')
  server.resource('a', 'r:///a', {}, () => 'a')
  server.resourceTemplate('b', 'r:///b/{id}', {}, ({ id }) => id)
  return { server, tool }
}

type Client = Awaited<ReturnType<typeof answeringClient>>

const meta = {
  'io.modelcontextprotocol/protocolVersion': stateless,
  'io.modelcontextprotocol/clientCapabilities': {},
}
const idKey = 'io.modelcontextprotocol/subscriptionId'

function listen(client: Client, id: string | number, notifications: unknown) {
  client.send({ id, method: 'subscriptions/listen', params: { notifications, _meta: meta } })
}

/** What has come since the last look, by method, with the stream it belongs to. */
async function heard(client: Client) {
  await turn()
  return client
    .received()
    .splice(0)
    .map(({ method, params, id }) => {
      const said = (params?._meta ?? {}) as Record<string, unknown>
      return [method ?? `reply ${id}`, said[idKey], params?.uri ?? params?.notifications]
    })
}

describe('all subscriptions of a server', () => {
  it('have a limit, to which long addresses count more', async () => {
    const { server } = everything()
    const first = await answeringClient(server, '2025-11-25')
    // Each counts 51.
    const uri = (index: number) => `r:///b/${index}${'x'.repeat(50 * 1024)}`
    const count = Math.floor(limits.subscriptions.default / 51)
    const subscribe = (client: Client, index: number) =>
      client.request('resources/subscribe', { uri: uri(index) })
    for (let index = 0; index < count; index++) {
      expect((await subscribe(first, index)).result).toEqual({})
    }
    const second = await answeringClient(server, '2025-11-25')
    expect((await subscribe(second, 0)).error).toBeDefined()
    const third = await answeringClient(server, stateless)
    listen(third, 1, { resourceSubscriptions: [uri(0)] })
    await vi.waitFor(() => expect(third.received()[0]?.error?.code).toBe(-32602))
    expect((await first.request('resources/unsubscribe', { uri: uri(1) })).result).toEqual({})
    expect((await subscribe(second, 0)).result).toEqual({})
  })
})

describe.each(sessionRevisions)('a session of %s', revision => {
  it('is notified of the resources it has subscribed to until it unsubscribes', async () => {
    proves('S13', 'S13b')
    const { server } = everything()
    const client = await answeringClient(server, revision)
    const other = await answeringClient(server, revision)
    expect((await client.request('resources/subscribe', { uri: 'r:///a' })).result).toEqual({})
    expect((await client.request('resources/subscribe', { uri: 'r:///b/1' })).result).toEqual({})
    server.updated('r:///a')
    server.updated('r:///a')
    server.updated('r:///b/1')
    server.updated('r:///b/2')
    expect(await heard(client)).toEqual([
      ['notifications/resources/updated', undefined, 'r:///a'],
      ['notifications/resources/updated', undefined, 'r:///b/1'],
    ])
    expect((await client.request('resources/unsubscribe', { uri: 'r:///a' })).result).toEqual({})
    expect((await client.request('resources/unsubscribe', { uri: 'r:///never' })).result).toEqual(
      {},
    )
    server.updated('r:///a')
    expect(await heard(client)).toEqual([])
    expect(await heard(other)).toEqual([])
  })

  it('is notified of changes of every list, once for those that come together', async () => {
    proves('S2')
    const { server, tool } = everything()
    const client = await answeringClient(server, revision)
    await client.request('ping')
    tool.disable()
    tool.enable()
    tool.update({ description: 'new' })
    server.prompt('q', {}, () => '')
    server.resource('c', 'r:///c', {}, () => 'c')
    expect(await heard(client)).toEqual([
      ['notifications/tools/list_changed', undefined, undefined],
      ['notifications/prompts/list_changed', undefined, undefined],
      ['notifications/resources/list_changed', undefined, undefined],
    ])
    tool.remove()
    tool.remove()
    tool.enable()
    expect(await heard(client)).toEqual([
      ['notifications/tools/list_changed', undefined, undefined],
    ])
  })

  it('cannot subscribe to what does not exist, nor to more than the limit', async () => {
    proves('S15', 'S18')
    const { server } = everything()
    const client = await answeringClient(server, revision)
    expect((await client.request('resources/subscribe', { uri: 'no:///x' })).error).toMatchObject({
      code: -32002,
      data: { uri: 'no:///x' },
    })
    expect((await client.request('resources/subscribe', {})).error).toMatchObject({ code: -32602 })
    const { default: most } = limits.subscribedUris
    for (let n = 0; n < most; n++) {
      client.begin('resources/subscribe', { uri: `r:///b/${n}` })
    }
    expect((await client.request('resources/subscribe', { uri: 'r:///a' })).error).toMatchObject({
      code: -32006,
    })
    expect((await client.request('resources/subscribe', { uri: 'r:///b/0' })).result).toEqual({})
  })
})

describe('a listen stream', () => {
  it('is acknowledged first, with the part that the server supports', async () => {
    proves('Q2', 'Q3', 'Q5')
    const server = new Server({ name: 'test', version: '1' })
    server.tool('t', {}, () => '')
    const client = await answeringClient(server, stateless)
    listen(client, 'l', {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['r:///a'],
      somethingElse: true,
    })
    server.tool('u', {}, () => '')
    expect(await heard(client)).toEqual([
      ['notifications/subscriptions/acknowledged', 'l', { toolsListChanged: true }],
      ['notifications/tools/list_changed', 'l', undefined],
    ])
  })

  it('receives the changes it requested and nothing else', async () => {
    proves('Q1', 'Q13', 'Q11', 'S2')
    const { server, tool } = everything()
    const client = await answeringClient(server, stateless)
    listen(client, 99, {
      promptsListChanged: true,
      toolsListChanged: false,
      resourceSubscriptions: ['r:///a'],
    })
    await heard(client)
    tool.update({ description: 'new' })
    server.updated('r:///a')
    server.updated('r:///b/1')
    server.prompt('q', {}, () => '')
    await client.request('tools/call', { name: 't', _meta: { progressToken: 'x' } })
    expect(await heard(client)).toEqual([
      ['notifications/progress', undefined, undefined],
      ['notifications/resources/updated', 99, 'r:///a'],
      ['notifications/prompts/list_changed', 99, undefined],
    ])
  })

  it('shares a connection with others and with a session, distinguished by id and type', async () => {
    proves('Q8', 'Q5', 'V13', 'V13b')
    const { server, tool } = everything()
    const client = await answeringClient(server, stateless)
    client.send({
      id: 'open',
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      },
    })
    client.send({ method: 'notifications/initialized' })
    for (const id of [1, '1', 0, '']) listen(client, id, { toolsListChanged: true })
    await heard(client)
    tool.disable()
    const sent = (await heard(client)).map(([, stream]) => stream)
    expect(sent).toEqual([undefined, 1, '1', 0, ''])
  })

  it('sends nothing more once it is cancelled, and gets no response', async () => {
    proves('Q12', 'U2e')
    const { server, tool } = everything()
    const client = await answeringClient(server, stateless)
    listen(client, 'a', { toolsListChanged: true })
    listen(client, 'b', { toolsListChanged: true })
    await heard(client)
    client.send({ method: 'notifications/cancelled', params: { requestId: 'a' } })
    tool.disable()
    expect(await heard(client)).toEqual([['notifications/tools/list_changed', 'b', undefined]])
    // Its place is free again.
    listen(client, 'a', {})
    expect(await heard(client)).toEqual([['notifications/subscriptions/acknowledged', 'a', {}]])
  })

  it('that the server ends is answered, and then cancelled if the channel stays open', async () => {
    proves('Q7', 'Q7b', 'U4', 'U4b', 'Q9')
    const { server, tool } = everything()
    const client = await answeringClient(server, stateless)
    listen(client, 'l', { toolsListChanged: true })
    await heard(client)
    await server.close()
    const _meta = { [idKey]: 'l' }
    expect(client.received().splice(0)).toMatchObject([
      { id: 'l', result: { resultType: 'complete', _meta } },
      { method: 'notifications/cancelled', params: { requestId: 'l', _meta } },
    ])
    tool.disable()
    expect(await heard(client)).toEqual([])
  })

  it('that came without a connection ends with the server, by its response alone', async () => {
    proves('Q7', 'Q7b')
    const { server } = everything()
    const sent: string[] = []
    const exchange: Exchange = {
      signal: new AbortController().signal,
      envelope: {},
      notify: method => void sent.push(method),
    }
    const params = { notifications: { toolsListChanged: true }, _meta: meta }
    const answer = server.handle(
      { type: 'request', id: 'l', method: 'subscriptions/listen', params },
      exchange,
    )
    await server.close()
    expect(await answer).toMatchObject({ resultType: 'complete', _meta: { [idKey]: 'l' } })
    expect(sent).toEqual(['notifications/subscriptions/acknowledged'])
  })

  it('does not outlive its connection', async () => {
    proves('Q9')
    const { server, tool } = everything()
    const client = await answeringClient(server, stateless)
    listen(client, 'l', { toolsListChanged: true })
    await heard(client)
    client.disconnect()
    tool.disable()
    expect(
      (await heard(client)).filter(([method]) => String(method).endsWith('list_changed')),
    ).toEqual([])
  })

  it.each([
    ['nothing', undefined],
    ['no object', 'all'],
    ['resources that are not a list', { resourceSubscriptions: 'r:///a' }],
    ['resources that are no texts', { resourceSubscriptions: [1] }],
    [
      'too many resources',
      { resourceSubscriptions: Array(limits.subscribedUris.default + 1).fill('r:///a') },
    ],
  ])('for %s is refused', async (_, notifications) => {
    const { server } = everything()
    const client = await answeringClient(server, stateless)
    const { error } = await client.request('subscriptions/listen', { notifications })
    expect(error).toMatchObject({ code: -32602 })
  })

  it('beyond the limit of its connection is refused', async () => {
    const { server } = everything()
    const client = await answeringClient(server, stateless)
    const { default: most } = limits.listenStreams
    for (let n = 0; n < most; n++) listen(client, `l${n}`, {})
    const refused = await client.request('subscriptions/listen', { notifications: {} })
    expect(refused.error).toMatchObject({
      code: -32602,
      data: { details: `the limit of ${most} listen streams per connection is reached` },
    })
    client.send({ method: 'notifications/cancelled', params: { requestId: 'l0' } })
    await heard(client)
    listen(client, 'again', {})
    expect(await heard(client)).toEqual([['notifications/subscriptions/acknowledged', 'again', {}]])
  })
})
