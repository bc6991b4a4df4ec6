import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../connect.ts'
import { events } from '../observe/events.ts'
import { Server } from '../server/server.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { deferred } from '../util/promises.ts'
import { Router } from './router.ts'

test('a server with a half-open breaker counts as callable', async () => {
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
    reason: 'its circuit breaker is open after 1 failure',
    retryInMs: expect.any(Number),
  })
  // A load balancer that sends no calls while the level is down would otherwise never learn of the recovery.
  clock.advance(10_000)
  expect(router.server('work')).toMatchObject({
    level: 'degraded',
    reason: 'probing after 1 failure',
  })
  expect(router.health()).toMatchObject({ level: 'degraded' })
  await client.call('work__say')
  expect(router.server('work')).toMatchObject({
    level: 'degraded',
    reason: 'probing after 1 failure',
  })
  await client.call('work__say')
  expect(router.server('work')).toMatchObject({ level: 'ok' })
})

test('a quarantined server names the action that the operator has to take', async () => {
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
    action: expect.stringContaining('find out why it exited'),
  })
})

test('a program that cannot be started is quarantined at once, and the details are published', async () => {
  const details: (string | undefined)[] = []
  onTestFinished(events.instanceExited.subscribe(event => details.push(event.details)))
  const servers = { typo: { command: 'no-such-program-here' } }
  await using router = new Router({ servers, onError: () => {} })
  await router.ready()
  await expect.poll(() => router.server('typo')?.instances[0]?.state).toBe('quarantined')
  expect(router.server('typo')).toMatchObject({
    reason: expect.stringContaining('no such program in PATH'),
    instances: [{ restarts: 0 }],
  })
  expect(details).toEqual([expect.stringContaining('PATH is "')])
})

test('the reason of a crash is one line, and the details are the whole error output', async () => {
  const details: (string | undefined)[] = []
  onTestFinished(events.instanceExited.subscribe(event => details.push(event.details)))
  const args = ['-e', 'throw new Error("API_KEY is not set")']
  const servers = { nokey: { command: process.execPath, args, restart: false as const } }
  await using router = new Router({ servers, onError: () => {} })
  await router.ready()
  await expect
    .poll(() => router.server('nokey')?.reason)
    .toMatch(/exited with code 1: Error: API_KEY is not set$/)
  expect(details[0]).toContain('    at ')
})
