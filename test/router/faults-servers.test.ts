import { beforeAll, describe, expect, test } from 'vitest'
import { Router, type ServerStatus, type UpstreamOptions } from '../../src/router/index.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { descendants, isAlive, until } from '../support/processes.ts'
import { worker } from './ledger.ts'
import { caller, failureOf, pidsOf, routed } from './routed.ts'

/** Soon, and counted over a time in which any machine starts a program often enough. */
const quickly = { minMs: 1, maxMs: 5, windowMs: 3_600_000 }

/** A router before one server that misbehaves and one that does not. */
async function besideHealthy(role: string, options: UpstreamOptions = {}) {
  const router = await routed({
    bad: worker({ role }, { restart: quickly, ...options }),
    good: worker(),
  })
  const client = await caller(router)
  return {
    router,
    client,
    bad: (): ServerStatus => router.server('bad') as ServerStatus,
    /** Fails unless the other server answers and has never been restarted. */
    othersAreWell: async () => {
      expect((await client.call('good__work', { nonce: 'a' })).text).toBe('a')
      expect(router.server('good')).toMatchObject({ level: 'ok', instances: [{ restarts: 0 }] })
    },
  }
}

/** Stopping it is slow, so it starts before all other tests and is checked after them. */
let stubborn: Promise<{ readonly pid: number; readonly tookMs: number }>

beforeAll(() => {
  stubborn = (async () => {
    const router = new Router({ servers: { bad: worker({ role: 'stubborn' }) } })
    await router.ready()
    const [pid = 0] = pidsOf(router, 'bad')
    const before = performance.now()
    await router.close({ drainMs: 0 })
    return { pid, tookMs: performance.now() - before }
  })()
})

const briefly = { connectTimeoutMs: 400 }

describe('a server that does not start', () => {
  test.each([
    ['exits during initialize', 'exits-in-initialize', {}, 'exited with code 3: no licence found'],
    ['never answers initialize', 'never-initializes', briefly, 'not connected within 400 ms'],
    ['never says anything', 'says-nothing', briefly, 'not connected within 400 ms'],
  ])(
    'is quarantined with a reason because it %s, and other servers are not affected',
    async (_, role, options, why) => {
      const { router, client, bad, othersAreWell } = await besideHealthy(role, options)
      await othersAreWell()
      await until(() => bad().instances[0]?.state === 'quarantined')
      expect(bad()).toMatchObject({ level: 'down', tools: 0 })
      expect(bad().instances[0]).toMatchObject({ restarts: 5, pids: [] })
      expect(bad().reason).toContain('restarted 5 times within 3600 s and stopped each time')
      expect(bad().reason).toContain(why)
      const names = []
      for await (const { name } of client.tools()) names.push(name)
      expect(names).toContain('good__work')
      expect(names.filter(name => name.startsWith('bad'))).toEqual([])
      await othersAreWell()
      expect(descendants(process.pid)).toEqual(expect.arrayContaining([...pidsOf(router, 'good')]))
    },
  )

  test('is tried again on request', async () => {
    const { router, bad } = await besideHealthy('exits-in-initialize')
    await until(() => bad().instances[0]?.state === 'quarantined')
    // The error output of the last process is still available.
    expect(bad().instances[0]?.stderr).toBe('no licence found\n')
    expect(router.retry('bad')).toBe(true)
    expect(bad().instances[0]?.state).toBe('starting')
    await until(() => bad().instances[0]?.state === 'quarantined')
    expect(bad().instances[0]?.restarts).toBe(10)
    expect(router.retry('nobody')).toBe(false)
  })
})

describe('a server that breaks when it is called', () => {
  test.each([
    ['prints invalid JSON', 'garbage-on-stdout', 'lines that are not JSON'],
    ['closes its output', 'closes-stdout', 'closed its output'],
  ])('is restarted until it is quarantined because it %s', async (_, role, why) => {
    const { client, bad, othersAreWell } = await besideHealthy(role, {
      restart: { ...quickly, maxRestarts: 2 },
    })
    for (let kills = 0; kills < 3; kills++) {
      const error = await failureOf(client.call('bad__work', { nonce: 'x' }))
      expect(error).toMatchObject({ data: { server: 'bad', outcome: 'unknown' } })
      await othersAreWell()
      await until(() => bad().instances[0]?.state !== 'waiting')
    }
    expect(bad().instances[0]?.state).toBe('quarantined')
    expect(bad().reason).toContain(why)
    const refused = await failureOf(client.call('bad__work', { nonce: 'x' }))
    expect(refused).toMatchObject({ kind: 'custom_server_error', data: { server: 'bad' } })
    await othersAreWell()
  })

  test('recovers once it works again and a retry is requested', async () => {
    const router = await routed({ work: worker({}, { restart: { maxRestarts: 0 } }) })
    const client = await caller(router)
    const [pid] = pidsOf(router, 'work')
    process.kill(pid as number, 'SIGKILL')
    await until(() => router.server('work')?.instances[0]?.state === 'quarantined')
    expect(router.server('work')?.reason).toContain('was killed by SIGKILL')
    router.retry('work')
    await until(() => router.server('work')?.tools !== 0)
    expect(router.server('work')?.level).toBe('ok')
    expect((await client.call('work__work', { nonce: 'a' })).text).toBe('a')
  })
})

describe('a server that answers with unknown ids', () => {
  test('has its answers ignored: its calls time out, and its breaker opens', async () => {
    const { client, bad, othersAreWell } = await besideHealthy('foreign-ids', { timeoutMs: 3000 })
    const calls = Array.from({ length: 5 }, () =>
      failureOf(client.call('bad__work', { nonce: 'x' })),
    )
    for (const error of await Promise.all(calls)) {
      expect(error).toMatchObject({ kind: 'timeout', data: { outcome: 'unknown' } })
    }
    expect(bad().instances[0]).toMatchObject({ state: 'ready', breaker: 'open' })
    expect(bad().reason).toContain('5 failures in a row')
    const refused = await failureOf(client.call('bad__work', { nonce: 'x' }))
    expect(refused).toMatchObject({ data: { server: 'bad' } })
    await othersAreWell()
  })
})

describe('a server that floods its error output', () => {
  test('still answers, and only the end of the output is kept', async () => {
    const { client, bad, othersAreWell } = await besideHealthy('floods-stderr')
    for (let turn = 0; turn < 20; turn++) {
      expect((await client.call('bad__work', { nonce: `${turn}` })).text).toBe(`${turn}`)
      await othersAreWell()
    }
    const kept = limits.stderrBytes.default
    await until(() => bad().instances[0]?.stderr.length === kept)
    expect(bad()).toMatchObject({ level: 'ok' })
  })
})

describe('a server that ignores every request to stop', () => {
  test('is killed', async () => {
    const { pid, tookMs } = await stubborn
    expect(pid).toBeGreaterThan(0)
    expect(isAlive(pid)).toBe(false)
    expect(tookMs).toBeGreaterThanOrEqual(
      limits.childEndMs.default + limits.childTermMs.default - 50,
    )
  })
})
