import { expect, test } from 'vitest'
import { connect } from '../connect.ts'
import { deferred } from '../util/promises.ts'
import { Server } from './server.ts'
import type { Session } from './session.ts'

const info = { name: 'a', version: '1' }

test('a session reports that it is ready, has other roots, and has closed', async () => {
  await using server = new Server(info)
  server.tool('id', {}, (_, ctx) => `${ctx.session?.id}`)
  const events: string[] = []
  const closed = deferred<void>()
  const sessions: Session[] = []
  server.on('ready', session => {
    sessions.push(session)
    events.push(`ready ${session.caller?.client?.name !== undefined}`)
  })
  const changed = deferred<void>()
  server.on('roots', () => {
    events.push('roots')
    changed.resolve()
  })
  const end = server.on('closed', () => {
    events.push('closed')
    closed.resolve()
  })
  const client = await connect(server, { roots: [], revisions: ['2025-11-25'] })
  expect((await client.call('id')).text).toBe(sessions[0]?.id)
  client.setRoots([{ uri: 'file:///a' }])
  await changed.promise
  await client.close()
  await closed.promise
  expect(events).toEqual(['ready true', 'roots', 'closed'])
  end()
  await (await connect(server, { revisions: ['2025-11-25'] })).close()
  expect(events.filter(event => event === 'closed')).toHaveLength(1)
})

test.each(['2025-11-25', '2026-07-28'] as const)(
  'subscriptions are reported in %s',
  async revision => {
    await using server = new Server(info)
    server.resource('r', 'a://r', {}, () => '')
    const events: string[] = []
    const ended = deferred<void>()
    server.on('subscribe', ({ uri, caller, session }) => {
      events.push(`subscribe ${uri} ${caller.principal?.id} ${session !== undefined}`)
    })
    server.on('unsubscribe', ({ uri }) => {
      events.push(`unsubscribe ${uri}`)
      ended.resolve()
    })
    await using client = await connect(server, { principal: { id: 'ada' }, revisions: [revision] })
    const changes = client.changes({ resources: ['a://r'] })
    await changes.ready
    expect(events).toEqual([`subscribe a://r ada ${revision < '2026'}`])
    await changes.return()
    await ended.promise
    expect(events.at(-1)).toBe('unsubscribe a://r')
  },
)

test('a session logs, notifies, and says what it has subscribed to', async () => {
  await using server = new Server(info)
  server.resource('r', 'a://r', {}, () => '')
  const ready = deferred<Session>()
  server.on('ready', session => ready.resolve(session))
  const logged: unknown[] = []
  const notified: string[] = []
  const done = deferred<void>()
  await using client = await connect(server, {
    revisions: ['2025-11-25'],
    onLog: message => void logged.push(message),
    onNotification: method => {
      notified.push(method)
      if (method === 'x/done') done.resolve()
    },
  })
  const session = await ready.promise
  await client.request('resources/subscribe', { uri: 'a://r' })
  expect([...session.subscriptions]).toEqual(['a://r'])
  session.log('debug', 'not wanted')
  session.log('error', 'wanted', 'test')
  session.notify('x/done')
  await done.promise
  expect(logged).toMatchObject([{ level: 'error', data: 'wanted', logger: 'test' }])
  expect(() => session.log('loud' as never, '')).toThrow('unknown log level "loud"')
  expect(Object.keys(session)).not.toContain('peer')
})

test('a session requests the roots of its client', async () => {
  await using server = new Server(info)
  const roots = [{ uri: 'file:///a', name: 'a' }]
  const read: unknown[] = []
  const keep = async (session: Session) => void read.push(await session.roots())
  server.on('ready', keep)
  server.on('roots', keep)
  await using client = await connect(server, { roots, revisions: ['2025-11-25'] })
  await expect.poll(() => read).toEqual([roots])
  client.setRoots([])
  await expect.poll(() => read).toEqual([roots, []])

  const refused = deferred<unknown>()
  await using other = new Server(info)
  other.on('ready', session => session.roots().catch(refused.resolve))
  await using without = await connect(other, { revisions: ['2025-11-25'] })
  await without.ping()
  expect(await refused.promise).toMatchObject({
    kind: 'capability_not_supported',
    message: 'The client has not declared the capability roots',
  })
})

test('the signal of a server is aborted when it closes', async () => {
  const server = new Server(info)
  const { signal } = server
  expect(signal.aborted).toBe(false)
  await server.close()
  expect(signal.aborted).toBe(true)
  const late = new Server(info)
  await late.close()
  expect(late.signal.aborted).toBe(true)
})

test('what a listener throws is reported', async () => {
  const reported: unknown[] = []
  await using server = new Server(info, { onError: error => void reported.push(error) })
  server.on('ready', async () => {
    throw new Error('listener')
  })
  await using client = await connect(server, { revisions: ['2025-11-25'] })
  await client.ping()
  await expect.poll(() => reported).toMatchObject([{ message: 'listener' }])
  expect(() => server.on('redy' as never, () => {})).toThrow(
    'unknown event "redy"; the events are ready',
  )
  expect(() => server.on('ready', undefined as never)).toThrow('must be a function')
})
