import { afterEach, describe, expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { Backplane } from '../backplane.ts'
import type { RawConnection } from './raw-connection.ts'
import { redisBackplane } from './redis.ts'

/** Lets promises that can settle do so. */
const settled = () => new Promise(resolve => setImmediate(resolve))

const opened: Backplane[] = []
afterEach(async () => {
  for (const backplane of opened.splice(0)) await backplane.close()
})

/** Opens a backplane on an engine that only delivers messages, and does that as the test says. */
async function setUp() {
  const clock = fakeClock()
  const engine = { isDeaf: false, isRefusing: false, made: 0, published: [] as string[] }
  const subscriptions = new Map<RawConnection, Map<string, (text: string) => void>>()
  const deliver = (channel: string, text: string) => {
    engine.published.push(channel)
    if (engine.isDeaf) return
    for (const channels of subscriptions.values()) channels.get(channel)?.(text)
  }
  const open = () => {
    engine.made++
    const raw: RawConnection = {
      connect: async () => {},
      send: async ([name, channel = '', text = '']) => {
        if (name !== 'PUBLISH') return name === 'HGET' ? 'born' : 'PONG'
        if (engine.isRefusing) throw new Error('refused')
        deliver(channel, text)
        return 1
      },
      subscribe: async (channel, listener) => {
        const channels = subscriptions.get(raw) ?? new Map<string, (text: string) => void>()
        subscriptions.set(raw, channels.set(channel, listener))
      },
      unsubscribe: async channel => void subscriptions.get(raw)?.delete(channel),
      destroy: () => void subscriptions.delete(raw),
    }
    return raw
  }
  const backplane = redisBackplane('redis://engine', { clock }, async () => () => open)
  opened.push(backplane)
  await backplane.open()
  const received: string[] = []
  const record = (what: string) => void received.push(what)
  await backplane.bus.subscribe('c', { message: record, gap: () => record('gap') })
  const pass = async (ms: number) => {
    clock.advance(ms)
    await settled()
  }
  return { backplane, engine, received, pass }
}

describe('a subscriber', () => {
  test('keeps its connection while its messages to itself arrive', async () => {
    const { engine, received, pass } = await setUp()
    for (let second = 0; second < 10; second++) await pass(1000)
    expect([engine.made, received]).toEqual([3, []])
    expect(engine.published).toHaveLength(10)
  })

  test('gets a new connection after two that did not arrive, and reports a gap', async () => {
    const { backplane, engine, received, pass } = await setUp()
    engine.isDeaf = true
    await pass(1000)
    await pass(1000)
    expect([engine.made, received]).toEqual([3, []])
    await pass(1000)
    expect([engine.made, received]).toEqual([4, ['gap']])
    engine.isDeaf = false
    backplane.bus.publish('c', 'after')
    await settled()
    expect(received).toEqual(['gap', 'after'])
  })
})

describe('messages that could not be sent', () => {
  test('are reported to the subscribers of their channel', async () => {
    const { backplane, engine, received, pass } = await setUp()
    engine.isRefusing = true
    backplane.bus.publish('c', 'lost')
    backplane.bus.publish('d', 'lost')
    await settled()
    engine.isRefusing = false
    await pass(1000)
    expect(received).toEqual(['gap'])
    expect(engine.published.slice(0, 2)).toEqual(['tl:trunkline:{c}:c', 'tl:trunkline:{c}:d'])
  })

  test('are reported to all subscribers if they are in too many channels', async () => {
    const { backplane, engine, received, pass } = await setUp()
    engine.isRefusing = true
    for (let at = 0; at < 1001; at++) {
      backplane.bus.publish(`other-${at}`, 'lost')
      // Not all at once: so many commands could not be in flight.
      if (at % 500 === 0) await settled()
    }
    await settled()
    engine.isRefusing = false
    await pass(1000)
    expect(received).toEqual(['gap'])
    expect(engine.published[0]).toBe('tl:trunkline:{c}:\0')
  })
})

test('closing leaves no timer', async () => {
  const { backplane, received, engine, pass } = await setUp()
  await backplane.close()
  const { made } = engine
  await pass(60_000)
  expect([engine.made - made, received]).toEqual([0, []])
})
