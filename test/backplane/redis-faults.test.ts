import { describe, expect, onTestFinished, test } from 'vitest'
import type { EngineServer } from '../../scripts/engine-server.js'
import { redisProgram, redisServer } from '../../scripts/redis-server.js'
import type { Backplane, BackplaneState } from '../../src/backplane/backplane.ts'
import { BackplaneError } from '../../src/backplane/backplane-error.ts'
import { redis } from '../../src/backplane/redis/redis.ts'
import { expectCode, retried } from '../../src/testing/backplane/expectations.ts'
import { faultProxy } from '../support/fault-proxy.ts'
import { redisCommand as command } from '../support/redis-command.ts'
import { slowClock } from '../support/slow-clock.ts'

const ttlMs = 600_000
const owner = { node: 'a', epoch: 5 }

/** Starts an engine for one test. */
async function engine(settings: readonly string[] = []): Promise<EngineServer> {
  const server = await redisServer(settings)
  onTestFinished(() => server.close())
  return server
}

/** Opens a backplane for one test, with the deadlines of production. */
async function opened(port: number): Promise<Backplane> {
  const backplane = redis(`redis://127.0.0.1:${port}`)
  onTestFinished(() => backplane.close())
  // On a busy machine it may take more than one attempt.
  await retried(() => backplane.open())
  return backplane
}

/** Returns the states that a backplane reports from now on. */
function statesOf(backplane: Backplane): BackplaneState[] {
  const states: BackplaneState[] = []
  backplane.onStateChange(state => void states.push(state))
  return states
}

test.runIf(redisProgram !== undefined)('redis-server or valkey-server is installed', () => {})

if (redisProgram !== undefined) {
  describe('an engine that is killed', () => {
    test('and restarted with its data has all that it acknowledged, and was not emptied', async () => {
      const server = await engine(['--appendfsync', 'always'])
      const backplane = await opened(server.port)
      await retried(() => backplane.store.put('a', { value: 'v', ttlMs }, owner))
      const states = statesOf(backplane)
      await server.kill()
      await expect.poll(() => backplane.isUp).toBe(false)
      await expectCode(backplane.store.get('a'), 'down', 'unknown')
      await server.restart()
      expect((await retried(() => backplane.store.get('a')))?.value).toBe('v')
      expect(states.some(state => state.wasEmptied)).toBe(false)
      expect(states.at(-1)).toEqual({ isUp: true, wasEmptied: false })
    })

    test('and restarted empty is reported as emptied, and epochs grow', async () => {
      const server = await engine()
      const backplane = await opened(server.port)
      const write = { value: 'v', ttlMs }
      const first = await retried(() => backplane.store.claim('a', undefined, 'a', write))
      const states = statesOf(backplane)
      await server.restart({ isEmpty: true })
      await expect.poll(() => states.some(state => state.isUp && state.wasEmptied)).toBe(true)
      expect(await retried(() => backplane.store.get('a'))).toBeUndefined()
      const second = await retried(() => backplane.store.claim('a', undefined, 'b', write))
      const epochs = [first, second].map(claim =>
        claim.isOwner ? claim.epoch : claim.owner?.epoch,
      )
      expect(epochs[1]).toBeGreaterThan(epochs[0] ?? Number.POSITIVE_INFINITY)
    })
  })

  describe('an engine that is stopped', () => {
    test('keeps no call waiting: all settle while it is still stopped', async () => {
      const server = await engine()
      const backplane = await opened(server.port)
      server.pause()
      const calls = Array.from({ length: 50 }, (_, at) =>
        at % 2 === 0
          ? backplane.store.get('a')
          : backplane.store.put('a', { value: `${at}`, ttlMs }, owner),
      )
      await Promise.all(calls.map(call => expectCode(call, 'down', 'unknown')))
      await expect.poll(() => backplane.isUp).toBe(false)
      await expectCode(backplane.store.get('a'), 'down')
      server.resume()
      await retried(() => backplane.store.put('a', { value: 'v', ttlMs }, owner))
      expect((await retried(() => backplane.store.get('a')))?.value).toBe('v')
    })

    test('may have executed what it did not answer', async () => {
      const server = await engine()
      const backplane = await opened(server.port)
      // From now on the engine knows the script.
      await retried(() => backplane.store.put('b', { value: 'v', ttlMs }, owner))
      server.pause()
      const error = await expectCode(
        backplane.store.put('a', { value: 'v', ttlMs }, owner),
        'unknown',
        'down',
      )
      server.resume()
      if (error.code === 'unknown') {
        // Its bytes are in the socket of the engine, which executes them now.
        await expect.poll(() => command(server.port, 'EXISTS', 'tl:trunkline:{k:a}')).toBe(1)
      }
    })

    test('does not keep a backplane from closing', async () => {
      const server = await engine()
      const backplane = await opened(server.port)
      server.pause()
      const call = expectCode(backplane.store.get('a'), 'unknown', 'down')
      await backplane.close()
      await call
      await expectCode(backplane.store.get('a'), 'closed')
    })
  })

  test('an engine that is busy for a while is used again afterwards', async () => {
    const server = await engine()
    const backplane = await opened(server.port)
    await retried(() => backplane.store.put('a', { value: 'v', ttlMs }, owner))
    const busy = command(server.port, 'DEBUG', 'SLEEP', '1')
    const calls = Array.from({ length: 20 }, () => backplane.store.get('a'))
    for (const outcome of await Promise.allSettled(calls)) {
      if (outcome.status === 'rejected') expect(['down', 'unknown']).toContain(outcome.reason.code)
    }
    await busy
    expect((await retried(() => backplane.store.get('a')))?.value).toBe('v')
  })

  test('an engine without memory refuses writes as full, and goes on reading', async () => {
    const server = await engine(['--maxmemory-policy', 'noeviction'])
    const backplane = await opened(server.port)
    await retried(() => backplane.store.put('a', { value: 'v', ttlMs }, owner))
    await command(server.port, 'CONFIG', 'SET', 'maxmemory', '1')
    const put = () => retried(() => backplane.store.put('b', { value: 'v', ttlMs }, owner))
    await expectCode(put(), 'full')
    const entries = [{ epoch: 1, n: 1, fields: { a: 'b' } }]
    await expectCode(
      retried(() => backplane.log.append('b', entries, { ttlMs, max: 10 })),
      'full',
    )
    expect((await retried(() => backplane.store.get('a')))?.value).toBe('v')
    expect(backplane.isUp).toBe(true)
    await command(server.port, 'CONFIG', 'SET', 'maxmemory', '0')
    await put()
  })

  test('a replica is not used for writes, and its promotion is noticed', async () => {
    const server = await engine()
    const backplane = await opened(server.port)
    await retried(() => backplane.store.put('a', { value: 'v', ttlMs }, owner))
    // Nothing listens there, so it stays a replica that refuses writes.
    await command(server.port, 'CONFIG', 'SET', 'replica-serve-stale-data', 'yes')
    await command(server.port, 'REPLICAOF', '127.0.0.1', '1')
    await expectCode(backplane.store.put('a', { value: 'w', ttlMs }, owner), 'down', 'unknown')
    await expect.poll(() => backplane.isUp).toBe(false)
    await command(server.port, 'REPLICAOF', 'NO', 'ONE')
    await retried(() => backplane.store.put('a', { value: 'w', ttlMs }, owner))
  })

  test('an engine that forgot the scripts gets them again', async () => {
    const server = await engine()
    const backplane = await opened(server.port)
    await retried(() => backplane.store.put('a', { value: 'v', ttlMs }, owner))
    await command(server.port, 'SCRIPT', 'FLUSH')
    await retried(() => backplane.store.put('a', { value: 'w', ttlMs }, owner))
    expect((await retried(() => backplane.store.get('a')))?.value).toBe('w')
  })

  test('a message that could not be sent is reported to the subscribers of other nodes', async () => {
    const server = await engine()
    await using proxy = await faultProxy(server.port)
    const sender = await opened(proxy.port)
    const receiver = await opened(server.port)
    const received: string[] = []
    const record = (what: string) => void received.push(what)
    const subscriber = { message: record, gap: () => record('gap') }
    await retried(() => receiver.bus.subscribe('c', subscriber))
    proxy.faults.isSwallowing = true
    sender.bus.publish('c', 'lost')
    await expectCode(sender.store.get('a'), 'unknown', 'down')
    await expectCode(sender.store.get('a'), 'unknown', 'down')
    proxy.faults.isSwallowing = false
    await expect.poll(() => received).toContain('gap')
    expect(received).not.toContain('lost')
  })

  test('a subscriber whose connection the engine closes gets a new one, and reports a gap', async () => {
    const server = await engine()
    const backplane = await opened(server.port)
    const received: string[] = []
    const record = (what: string) => void received.push(what)
    await retried(() => backplane.bus.subscribe('c', { message: record, gap: () => record('gap') }))
    // The engine closes the connection of the subscriber, and only that one.
    await command(server.port, 'CLIENT', 'KILL', 'TYPE', 'pubsub')
    await expect.poll(() => received).toContain('gap')
    await expect
      .poll(() => {
        backplane.bus.publish('c', 'after')
        return received
      })
      .toContain('after')
  })

  test('a slow engine works', async () => {
    const server = await engine()
    await using proxy = await faultProxy(server.port)
    const backplane = await opened(proxy.port)
    proxy.faults.delayMs = 20
    await retried(() => backplane.store.put('a', { value: 'v', ttlMs }, owner))
    expect((await retried(() => backplane.store.get('a')))?.value).toBe('v')
  })

  test('an engine that cannot be reached is named, with the reason and without the password', async () => {
    const server = await engine(['--requirepass', 'right'])
    const wrong = redis(`redis://:wrong@127.0.0.1:${server.port}`, { clock: slowClock(10) })
    onTestFinished(() => wrong.close())
    const error = await expectCode(wrong.open(), 'down')
    expect(error.message).toContain(`cannot connect to redis://127.0.0.1:${server.port}`)
    expect(error.message).toContain('WRONGPASS')
    expect(error.message).not.toContain('wrong@')
    expect(error).toBeInstanceOf(BackplaneError)
  })

  test('settings that endanger the data are reported', async () => {
    const server = await engine(['--maxmemory-policy', 'allkeys-lru'])
    const warnings: string[] = []
    const onWarning = ({ message }: Error) => void warnings.push(message)
    const backplane = redis(`redis://127.0.0.1:${server.port}`, { onWarning })
    onTestFinished(() => backplane.close())
    await retried(() => backplane.open())
    expect(warnings).toEqual([
      'the engine deletes data when its memory is full (maxmemory-policy allkeys-lru); set "maxmemory-policy noeviction"',
    ])
  })
}
