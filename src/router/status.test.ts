import { expect, test } from 'vitest'
import { connect } from '../connect.ts'
import { Server } from '../server/server.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { deferred } from '../util/deferred.ts'
import { Router } from './router.ts'

test('a server that may be tried again after its breaker was open counts as one that can be called', async () => {
  const clock = fakeClock()
  const server = new Server({ name: 'work', version: '1' })
  const called = deferred<void>()
  server.tool('hang', {}, () => {
    called.resolve()
    return new Promise<string>(() => {})
  })
  server.tool('say', {}, () => 'here')
  const breaker = { failures: 1, openMs: 10_000, successes: 2 }
  await using router = new Router({ clock, servers: { work: { server, timeoutMs: 100, breaker } } })
  await using client = await connect(router)
  const hanging = client.call('work__hang').catch(error => error)
  await called.promise
  clock.advance(1000)
  await hanging
  expect(router.health()).toMatchObject({ level: 'down' })
  expect(router.server('work')).toMatchObject({
    level: 'down',
    reason: 'its breaker is open, after 1 failure',
    retryInMs: expect.any(Number),
  })
  // Whoever sends no calls while it says that it is down would otherwise never find out.
  clock.advance(10_000)
  expect(router.server('work')).toMatchObject({
    level: 'degraded',
    reason: 'on trial after 1 failure',
  })
  expect(router.health()).toMatchObject({ level: 'degraded' })
  await client.call('work__say')
  expect(router.server('work')).toMatchObject({ level: 'degraded' })
  await client.call('work__say')
  expect(router.server('work')).toMatchObject({ level: 'ok' })
})

test('a server that was put away says that somebody has to do something', async () => {
  const lost = {
    command: process.execPath,
    args: ['-e', 'process.exit(3)'],
    restart: false,
  } as const
  await using router = new Router({ servers: { lost }, onError: () => {} })
  await router.ready()
  expect(router.server('lost')).toMatchObject({
    level: 'down',
    instances: [{ state: 'quarantined' }],
    action: expect.stringContaining('find out why it ended'),
  })
})
