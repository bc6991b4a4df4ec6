import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { EngineServer } from '../../scripts/engine-server.js'
import { natsProgram, natsServer } from '../../scripts/nats-server.js'
import type { Backplane, BackplaneState } from '../../src/backplane/backplane.ts'
import { type NatsOptions, nats } from '../../src/backplane/nats/nats.ts'
import { expectCode, retried } from '../../src/testing/backplane/expectations.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { type Clock, systemClock } from '../../src/util/time/clock.ts'
import { faultProxy } from '../support/fault-proxy.ts'
import { natsRequest as request } from '../support/nats-streams.ts'
import { slowClock } from '../support/slow-clock.ts'

const ttlMs = 600_000
const owner = { node: 'a', epoch: 5 }
const documents = 'tl-documents-trunkline'

/** Starts an engine for one test. */
async function engine(settings?: string): Promise<EngineServer> {
  const server = await natsServer(settings)
  onTestFinished(() => server.close())
  return server
}

/** Opens a backplane for one test, with the deadlines of production. */
async function opened(port: number, options: NatsOptions = {}): Promise<Backplane> {
  const backplane = nats(`nats://127.0.0.1:${port}`, options)
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

/** Returns whether the engine answers. */
function isAnswered({ store }: Backplane): Promise<boolean> {
  return store.get('a').then(
    () => true,
    () => false,
  )
}

/** Returns the number of messages in a stream. */
async function messages(port: number, stream = documents): Promise<unknown> {
  const { state } = await request(port, `STREAM.INFO.${stream}`)
  return (state as { readonly messages: number }).messages
}

test.runIf(natsProgram !== undefined)('nats-server is installed', () => {})

test('an attempt to connect leaves no socket, even if the engine accepts it and says nothing', async () => {
  const sockets: Socket[] = []
  const server = createServer(socket => void sockets.push(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  // The check: a server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo
  const backplane = nats(`nats://127.0.0.1:${port}`)
  const opening = backplane.open()
  await expect.poll(() => sockets.length).toBeGreaterThan(3)
  await Promise.all([backplane.close(), expectCode(opening, 'closed')])
  for (const socket of sockets) socket.resume()
  await expect.poll(() => sockets.every(socket => socket.destroyed)).toBe(true)
})

if (natsProgram !== undefined) {
  describe('an engine that is killed', () => {
    test('and restarted with its data has all that it acknowledged, and was not emptied', async () => {
      const server = await engine()
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

  test('an engine whose streams are emptied is reported with the next heartbeat', async () => {
    const server = await engine()
    const backplane = await opened(server.port)
    const states = statesOf(backplane)
    await retried(() => backplane.membership.heartbeat('a', '', ttlMs, 0))
    await request(server.port, `STREAM.PURGE.${documents}`)
    await retried(() => backplane.membership.heartbeat('a', '', ttlMs, 0))
    await expect.poll(() => states.some(state => state.isUp && state.wasEmptied)).toBe(true)
  })

  describe('an engine that is stopped', () => {
    test('keeps no call waiting: all settle while it is still stopped', async () => {
      const server = await engine()
      const backplane = await opened(server.port)
      server.pause()
      // It takes a moment until all threads of the engine have stopped.
      await expect.poll(() => isAnswered(backplane)).toBe(false)
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

  test('a write whose reply got lost is reported as unknown, because it was executed', async () => {
    const server = await engine()
    await using proxy = await faultProxy(server.port)
    const sender = await opened(proxy.port)
    const other = await opened(server.port)
    proxy.faults.silentAfter = 'Nats-Expected-Last-Subject-Sequence'
    await expectCode(sender.store.put('a', { value: 'v', ttlMs }, owner), 'unknown')
    expect((await retried(() => other.store.get('a')))?.value).toBe('v')
    proxy.faults.silentAfter = ''
    await retried(() => sender.store.put('a', { value: 'v', ttlMs }, owner))
  })

  test('a claim that failed before it fenced the log does so when it is repeated', async () => {
    const server = await engine()
    await using proxy = await faultProxy(server.port)
    const claimer = await opened(proxy.port)
    const former = await opened(server.port)
    const write = { value: 'v', ttlMs }
    const first = await retried(() => former.store.claim('a', undefined, 'former', write))
    const epoch = first.isOwner ? first.epoch : 0
    const entry = (n: number) => ({ epoch, n, fields: { a: 'b' } })
    const append = (n: number) => former.log.append('a', [entry(n)], { ttlMs, max: 10 })
    await retried(() => append(1))
    // The record is written, and then the claimer hears nothing any more.
    proxy.faults.silentAfter = 'Nats-Expected-Last-Subject-Sequence'
    await expectCode(claimer.store.claim('a', 'former', 'claimer'), 'unknown')
    await retried(() => append(2))
    proxy.faults.silentAfter = ''
    const again = await retried(() => claimer.store.claim('a', 'former', 'claimer'))
    expect(again).toMatchObject({ isOwner: false, owner: { node: 'claimer' } })
    await expectCode(
      retried(() => append(3)),
      'fenced',
    )
  })

  test('an engine without room refuses writes as full, and goes on reading', async () => {
    const server = await engine()
    const backplane = await opened(server.port)
    await retried(() => backplane.store.put('a', { value: 'v', ttlMs }, owner))
    const { config, state } = await request(server.port, `STREAM.INFO.${documents}`)
    const limit = (maxBytes: number) =>
      request(server.port, `STREAM.UPDATE.${documents}`, {
        ...(config as object),
        max_bytes: maxBytes,
      })
    await limit((state as { readonly bytes: number }).bytes)
    const put = () => retried(() => backplane.store.put('b', { value: 'v', ttlMs }, owner))
    await expectCode(put(), 'full')
    expect((await retried(() => backplane.store.get('a')))?.value).toBe('v')
    expect(backplane.isUp).toBe(true)
    await limit(-1)
    await put()
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
    await expect.poll(() => received, { timeout: 20_000 }).toContain('gap')
    expect(received).not.toContain('lost')
  })

  test('a slow engine works', async () => {
    const server = await engine()
    await using proxy = await faultProxy(server.port)
    const backplane = await opened(proxy.port)
    proxy.faults.delayMs = 20
    await retried(() => backplane.store.put('a', { value: 'v', ttlMs }, owner))
    expect((await retried(() => backplane.store.get('a')))?.value).toBe('v')
  })

  test('a value that is over the limit of the engine is refused, and the setting is named', async () => {
    const server = await engine()
    const warnings: string[] = []
    const onWarning = ({ message }: Error) => void warnings.push(message)
    const backplane = await opened(server.port, { onWarning, clock: slowClock(10) })
    expect(warnings).toEqual([
      'the engine accepts messages of 1048576 bytes only; set "max_payload: 9MB" for larger values',
    ])
    const value = 'x'.repeat(2 ** 20)
    const error = await expectCode(backplane.store.put('a', { value, ttlMs }, owner), 'too-large')
    expect(error.message).toContain('set "max_payload: 9MB"')
    await expectCode(
      Promise.resolve().then(() => backplane.bus.publish('c', value)),
      'too-large',
    )
  })

  test('an engine that cannot be reached is named, with the reason and without the password', async () => {
    const server = await engine('authorization { user: a, password: right }')
    const wrong = nats(`nats://a:wrong@127.0.0.1:${server.port}`, { clock: slowClock(10) })
    onTestFinished(() => wrong.close())
    const error = await expectCode(wrong.open(), 'down')
    expect(error.message).toContain(`cannot connect to nats://127.0.0.1:${server.port}`)
    expect(error.message).toMatch(/authorization/i)
    expect(error.message).not.toContain('wrong@')
    const right = nats(`nats://a:right@127.0.0.1:${server.port}`)
    onTestFinished(() => right.close())
    await retried(() => right.open())
  })

  test('a token is sent', async () => {
    const server = await engine('authorization { token: secret }')
    const backplane = nats(`nats://secret@127.0.0.1:${server.port}`)
    onTestFinished(() => backplane.close())
    await retried(() => backplane.open())
  })

  test('an engine without JetStream is refused, with the next step', async () => {
    const server = await engine('jetstream: false')
    const backplane = nats(`nats://127.0.0.1:${server.port}`, { clock: slowClock(10) })
    onTestFinished(() => backplane.close())
    const error = await expectCode(backplane.open(), 'down')
    expect(error.message).toContain('start nats-server with --jetstream')
  })

  test('what has ended is removed from the engine', async () => {
    const server = await engine()
    let sweep: (() => void) | undefined
    // The test says when to sweep; everything else happens in time.
    const clock: Clock = {
      ...slowClock(10),
      start: (callback, delayMs) => {
        if (delayMs === limits.natsSweepMs.default) sweep = callback
        return systemClock.start(callback, delayMs * 10)
      },
    }
    const backplane = await opened(server.port, { clock })
    const before = await messages(server.port)
    const { store, log } = backplane
    await store.swap('a', undefined, { value: 'v', ttlMs: 1 })
    await store.swap('b', undefined, { value: 'v', ttlMs })
    await store.delete('b')
    await log.append('a', [{ epoch: 1, n: 1, fields: { a: 'b' } }], { ttlMs: 1, max: 10 })
    await store.swap('kept', undefined, { value: 'v', ttlMs })
    await expect.poll(() => store.get('a')).toBeUndefined()
    expect(await messages(server.port)).toBe(Number(before) + 3)
    sweep?.()
    // The record that is kept, and the lease of the node that swept.
    await expect.poll(() => messages(server.port)).toBe(Number(before) + 2)
    await expect.poll(() => messages(server.port, 'tl-logs-trunkline')).toBe(0)
    expect((await store.get('kept'))?.value).toBe('v')
  })
}
