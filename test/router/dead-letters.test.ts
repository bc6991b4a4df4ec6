import { expect, test } from 'vitest'
import { Server } from '../../src/server/server.ts'
import { until } from '../support/processes.ts'
import { worker } from './ledger.ts'
import { caller, failureOf, pidsOf, routed } from './routed.ts'

function silent(): Server {
  const server = new Server({ name: 'it', version: '1' })
  server.tool('wait', { input: { type: 'object' } }, () => new Promise<never>(() => {}))
  server.tool('fail', {}, () => {
    throw new Error('failed')
  })
  return server
}

test('calls that limits refuse, that no instance takes, and that were lost are kept', async () => {
  const router = await routed({
    limited: { server: silent(), limits: { concurrent: 1, queue: 0 }, timeoutMs: 200 },
    work: worker({}, { restart: { maxRestarts: 0 } }),
  })
  const client = await caller(router)
  const late = failureOf(client.call('limited__wait', { secret: 1 }))
  expect(await failureOf(client.call('limited__wait'))).toMatchObject({ code: -32010 })
  expect(await late).toMatchObject({ code: -32009 })
  const [pid] = pidsOf(router, 'work')
  const lost = failureOf(client.call('work__hold', { nonce: 'a' }))
  await until(() => router.server('work')?.instances[0]?.inFlight === 1)
  process.kill(pid as number, 'SIGKILL')
  expect(await lost).toMatchObject({ code: -32008 })
  await until(() => router.server('work')?.instances[0]?.state === 'quarantined')
  expect(await failureOf(client.call('work__work'))).toMatchObject({ code: -32000 })
  expect(router.deadLetters()).toMatchObject([
    { server: 'limited', name: 'wait', code: -32010, outcome: 'not-executed', limit: 'server' },
    { server: 'limited', name: 'wait', code: -32009, outcome: 'unknown' },
    { server: 'work', name: 'hold', code: -32008, outcome: 'unknown' },
    { server: 'work', name: 'work__work', code: -32000, outcome: 'not-executed' },
  ])
  expect(JSON.stringify(router.deadLetters())).not.toContain('secret')
  expect(router.health().undelivered).toBe(4)
})

test('calls that were answered or cancelled are not kept', async () => {
  const router = await routed({ it: { server: silent(), prefix: false } })
  const client = await caller(router)
  expect((await client.call('fail')).isError).toBe(true)
  await failureOf(client.call('unknown'))
  const stop = new AbortController()
  const call = failureOf(client.call('wait', {}, { signal: stop.signal }))
  await until(() => router.server('it')?.instances[0]?.inFlight === 1)
  stop.abort()
  await call
  await until(() => router.server('it')?.instances[0]?.inFlight === 0)
  expect(router.deadLetters()).toEqual([])
})
