import { expect, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { Router } from '../../src/router/router.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { deferred } from '../../src/util/promises.ts'

test('a server with a short call timeout has all of connectTimeoutMs to start', async () => {
  const clock = fakeClock()
  const server = new Server({ name: 'slow', version: '1' }, { revisions: ['2025-11-25'] })
  server.tool('say', {}, () => 'here')
  const begun = deferred<void>()
  const go = deferred<void>()
  server.use(next => async (message, exchange) => {
    if (message.method === 'initialize') {
      begun.resolve()
      await go.promise
    }
    return next(message, exchange)
  })
  await using router = new Router({
    clock,
    servers: { slow: { server, timeoutMs: 300, connectTimeoutMs: 5000, restart: false } },
  })
  await begun.promise
  clock.advance(2000)
  go.resolve()
  await router.ready()
  expect(router.server('slow')).toMatchObject({ level: 'ok', tools: 1 })
  await using client = await connect(router)
  expect((await client.call('slow__say')).text).toBe('here')
})
