import { expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { listen } from '../../src/listen.ts'
import type { Router } from '../../src/router/index.ts'
import type { UpstreamOptions } from '../../src/router/options.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { until } from '../support/processes.ts'
import { turn } from '../support/wire.ts'
import { cutProxy } from './cut-proxy.ts'
import { caller, failureOf, routed } from './routed.ts'

/** A server that can be restarted at its address. */
interface Web {
  readonly address: string
  stop(): Promise<void>
  start(): Promise<void>
}

async function web(
  tool: () => unknown = () => 'done',
  anywhere = 'http://127.0.0.1:0/mcp',
): Promise<Web> {
  const begin = (address: string) => {
    const server = new Server({ name: 'web', version: '1' }, { onError: () => {} })
    server.tool('work', {}, async () => `${await tool()}`)
    return listen(server, address)
  }
  let listener = await begin(anywhere)
  const { address } = listener
  onTestFinished(() => listener.close())
  return {
    address,
    stop: () => listener.close(),
    start: async () => {
      listener = await begin(address)
    },
  }
}

/**
 * A server that stops closes its idle HTTP connections. A call that is sent on one of them at that very moment
 * may have been carried out, so it is repeated only where that is declared to be harmless. Over the other
 * transports a server refuses such a call, so it may be sent elsewhere.
 */
const retry = { tools: ['work'] }

const stateOf = (router: Router, at = 0): string | undefined =>
  router.server('web')?.instances[at]?.state

/** Makes calls one after the other until it is stopped. */
function calling(clients: readonly Client[]) {
  const failures: unknown[] = []
  let made = 0
  let isOver = false
  const loops = clients.map(async client => {
    while (!isOver) {
      await client.call('work').catch(error => failures.push(error))
      made++
    }
  })
  const made_ = () => made
  const stop = async (): Promise<readonly unknown[]> => {
    isOver = true
    await Promise.all(loops)
    return failures
  }
  return { made: made_, stop }
}

test.each<[string, string, UpstreamOptions]>([
  ['HTTP with WebSockets', 'http://127.0.0.1:0/mcp', {}],
  ['HTTP alone', 'http://127.0.0.1:0/mcp', { websocket: false, retry }],
  ['WebSockets', 'ws://127.0.0.1:0', {}],
  ['TCP', 'tcp://127.0.0.1:0', {}],
])(
  'no call fails while two servers over %s are restarted in turn',
  async (_, anywhere, options) => {
    const webs = [await web(undefined, anywhere), await web(undefined, anywhere)]
    const urls = webs.map(({ address }) => address)
    const router = await routed({ web: { urls, prefix: false, ...options } })
    const load = calling(
      await Promise.all([
        caller(router, { era: 'session' }),
        caller(router, { era: 'stateless' }),
        caller(router),
        caller(router),
      ]),
    )
    for (let roll = 0; roll < 2; roll++) {
      for (const [at, one] of webs.entries()) {
        const before = load.made()
        await one.stop()
        await until(() => load.made() > before + 20)
        await one.start()
        await until(() => stateOf(router, at) === 'ready' && load.made() > before + 40)
      }
    }
    expect(await load.stop()).toEqual([])
    expect(router.server('web')).toMatchObject({ level: 'ok' })
  },
)

test('a server that is not there is waiting, not failing, and takes calls as soon as it is back', async () => {
  const one = await web()
  const router = await routed({ web: { url: one.address, prefix: false, websocket: false, retry } })
  const client = await caller(router)
  expect((await client.call('work')).text).toBe('done')
  await one.stop()
  // Its kept connections have closed, once the router gets to read that.
  for (let count = 0; count < 20; count++) await turn()
  // The call finds no server, and waits for it.
  const waiting = client.call('work')
  await until(() => stateOf(router) === 'waiting')
  expect(router.server('web')).toMatchObject({
    level: 'down',
    instances: [{ breaker: 'closed', lastFailure: 'ECONNREFUSED' }],
  })
  await one.start()
  expect((await waiting).text).toBe('done')
  expect(router.server('web')).toMatchObject({ level: 'ok', instances: [{ breaker: 'closed' }] })
})

test.each(['http://127.0.0.1:0/mcp', 'ws://127.0.0.1:0', 'tcp://127.0.0.1:0'])(
  'a server at %s that is closing answers the calls it has, and others wait',
  async anywhere => {
    let release: (word: string) => void = () => {}
    const held = new Promise<string>(resolve => {
      release = resolve
    })
    let calls = 0
    const one = await web(() => (calls++ === 0 ? held : 'next'), anywhere)
    const isHttp = anywhere.startsWith('http')
    const options = isHttp ? { websocket: false, retry } : {}
    const router = await routed({ web: { url: one.address, prefix: false, ...options } })
    const client = await caller(router)
    const first = client.call('work')
    await until(() => calls === 1)
    const stopped = one.stop()
    const second = client.call('work')
    await until(() => stateOf(router) !== 'ready')
    release('kept')
    expect((await first).text).toBe('kept')
    await stopped
    await one.start()
    expect((await second).text).toBe('next')
  },
)

test('a server that is gone when its breaker opens is away, and calls wait for it', async () => {
  let calls = 0
  const one = await web(() => (calls++ === 0 ? new Promise(() => {}) : 'done'))
  const { host, port } = new URL(one.address)
  const proxy = await cutProxy(Number(port))
  const url = `http://127.0.0.1:${proxy.port}/mcp`
  const breaker = { failures: 1, openMs: 3_600_000 }
  const headers = { host }
  const router = await routed({ web: { url, headers, prefix: false, websocket: false, breaker } })
  const client = await caller(router)
  const lost = failureOf(client.call('work'))
  await until(() => calls === 1)
  proxy.stop()
  expect(await lost).toMatchObject({ code: -32008, data: { outcome: 'unknown' } })
  const next = client.call('work')
  await until(() => stateOf(router) === 'waiting')
  await proxy.start()
  expect((await next).text).toBe('done')
  expect(router.server('web')).toMatchObject({ level: 'ok', instances: [{ breaker: 'closed' }] })
})

test('calls that wait for the same instance on trial go through one after the other', async () => {
  const clock = fakeClock()
  let isBroken = true
  const server = new Server({ name: 'it', version: '1' }, { onError: () => {} })
  server.tool('work', {}, () => (isBroken ? new Promise<never>(() => {}) : 'done'))
  const breaker = { failures: 1, openMs: 3_600_000 }
  const router = await routed({ it: { server, prefix: false, timeoutMs: 20, breaker } }, { clock })
  const client = await caller(router)
  const failing = failureOf(client.call('work'))
  await until(() => {
    clock.advance(20)
    return router.server('it')?.instances[0]?.breaker === 'open'
  })
  expect(await failing).toMatchObject({ code: -32009 })
  isBroken = false
  clock.advance(limits.breakerPanicMs.default)
  const calls = await Promise.all(Array.from({ length: 8 }, () => client.call('work')))
  expect(calls.map(({ text }) => text)).toEqual(Array(8).fill('done'))
})

test('while no instance takes calls, an open breaker lets a probe through soon', async () => {
  let isBroken = true
  const server = new Server({ name: 'it', version: '1' }, { onError: () => {} })
  server.tool('work', {}, () => (isBroken ? new Promise<never>(() => {}) : 'done'))
  const router = await routed({
    it: { server, prefix: false, timeoutMs: 20, breaker: { failures: 1, openMs: 3_600_000 } },
  })
  const client = await caller(router)
  expect(await failureOf(client.call('work'))).toMatchObject({ code: -32009 })
  const refused = (await failureOf(client.call('work'))) as { data: { retryAfterMs: number } }
  expect(refused).toMatchObject({ code: -32000 })
  expect(refused.data.retryAfterMs).toBeLessThanOrEqual(1000)
  isBroken = false
  await expect
    .poll(
      () =>
        client.call('work').then(
          ({ text }) => text,
          () => 'refused',
        ),
      { timeout: 60_000 },
    )
    .toBe('done')
})
