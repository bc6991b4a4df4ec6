import { afterEach, describe, expect, test } from 'vitest'
import { LinkNodes, Recorded } from '../../../test/support/links.ts'
import { limits } from '../../util/limits/limits.ts'
import { deferred } from '../../util/promises.ts'

const nodes = new LinkNodes()
afterEach(() => nodes.close())

const credit = limits.linkCreditBytes.default

describe('a slow receiver', () => {
  test('stops its stream at the credit; other streams of the link continue', async () => {
    const slow = deferred<void>()
    let received = 0
    const far = await nodes.start({
      onStream: (stream, head) => ({
        data: bytes => {
          if (head === 'quick') return stream.send(bytes)
          received += bytes.length
          return slow.promise
        },
        end: () => stream.end(),
        failed: () => {},
      }),
    })
    const near = await nodes.start()
    const stopped = new Recorded()
    const stream = near.links.open(far, 'slow', stopped)
    let isSent = false
    const sent = Promise.resolve(stream.send(Buffer.alloc(3 * credit))).then(() => {
      isSent = true
    })
    stream.end()
    await expect.poll(() => received).toBe(credit)
    const quick = new Recorded()
    const other = near.links.open(far, 'quick', quick)
    void other.send(Buffer.alloc(2 * credit))
    other.end()
    await quick.over
    expect(quick.received).toHaveLength(2 * credit)
    expect([received, isSent, stopped.events]).toEqual([credit, false, []])
    slow.resolve()
    await Promise.all([sent, stopped.over])
    expect(received).toBe(3 * credit)
  })

  test('lets the promise of a sender settle when the stream ends', async () => {
    const far = await nodes.start({
      onStream: stream => ({
        data: () => {
          stream.reset('enough')
        },
        end: () => {},
        failed: () => {},
      }),
    })
    const near = await nodes.start()
    const seen = new Recorded()
    const sent = near.links.open(far, '', seen).send(Buffer.alloc(3 * credit))
    expect(sent).toBeInstanceOf(Promise)
    await sent
    expect(seen.events).toEqual(['failed reset: enough'])
  })

  test('small data within the credit needs no promise', async () => {
    const far = await nodes.start()
    const near = await nodes.start()
    await near.links.request(far, '', 60_000)
    const stream = near.links.open(far, '', new Recorded())
    expect(stream.send(Buffer.alloc(1000))).toBeUndefined()
    stream.reset('')
    expect(stream.send(Buffer.alloc(1000))).toBeUndefined()
  })

  test('many streams share a slow connection, and all arrive', async () => {
    const far = await nodes.start({
      onStream: stream => ({
        data: bytes => stream.send(bytes),
        end: () => stream.end(),
        failed: () => {},
      }),
    })
    const near = await nodes.start()
    const all = Array.from({ length: 40 }, () => {
      const seen = new Recorded()
      const stream = near.links.open(far, '', seen)
      void stream.send(Buffer.alloc(credit))
      stream.end()
      return seen
    })
    await Promise.all(all.map(each => each.over))
    expect(all.map(each => each.received.length)).toEqual(all.map(() => credit))
  })
})

describe('limits', () => {
  test('a stream or request over the limit of either node is too many; one that ends makes room', async () => {
    const far = await nodes.start({
      limits: { streams: 2 },
      onRequest: text => (text === 'wait' ? new Promise(() => {}) : Promise.resolve(text)),
    })
    const near = await nodes.start()
    await near.links.request(far, 'first', 60_000)
    const stream = near.links.open(far, '', new Recorded())
    const waiting = near.links.request(far, 'wait', 60_000)
    const seen = new Recorded()
    near.links.open(far, '', seen)
    await seen.over
    expect(seen.events).toEqual([
      `failed too-many: 2 streams to node ${far.node} are in flight already`,
    ])
    await expect(near.links.request(far, '', 1)).rejects.toMatchObject({ code: 'too-many' })
    stream.reset('')
    expect(await near.links.request(far, 'last', 60_000)).toBe('last')
    far.links.forget(near.node)
    await expect(waiting).rejects.toMatchObject({ code: 'lost' })
  })

  test('a request without a reply in time is lost if it was sent', async () => {
    const asked = deferred<void>()
    const far = await nodes.start({
      onRequest: () => {
        asked.resolve()
        return new Promise(() => {})
      },
    })
    const near = await nodes.start()
    const request = near.links.request(far, '', 300)
    const outcome = expect(request).rejects.toMatchObject({
      code: 'lost',
      message: 'no reply within 300 ms',
    })
    await asked.promise
    near.clock.advance(300)
    await outcome
  })

  test('a reply that is too long becomes an error', async () => {
    const far = await nodes.start({ onRequest: async () => 'x'.repeat(2001) })
    const near = await nodes.start({ limits: { frameBytes: 2000 } })
    await expect(near.links.request(far, '', 60_000)).rejects.toMatchObject({
      code: 'reset',
      message: 'the reply has more than 2000 bytes',
    })
  })

  test('a head that is too long resets its stream', async () => {
    const far = await nodes.start()
    const near = await nodes.start({ limits: { frameBytes: 2000 } })
    await far.links.request(near, '', 60_000)
    const seen = new Recorded()
    far.links.open(near, '', seen).sendHead('x'.repeat(2001))
    await seen.over
    expect(seen.events).toEqual(['failed reset: a head has more than 2000 bytes'])
  })
})

describe('silence', () => {
  test('a link on which nothing arrives ends after linkSilentMs, and pings keep it', async () => {
    const far = await nodes.start()
    const near = await nodes.start()
    await near.links.request(far, '', 60_000)
    const seen = new Recorded()
    near.links.open(far, '', seen)
    // One interval after the other, with the answer in between: the link stays.
    for (let at = 0; at < 15; at++) {
      near.clock.advance(limits.linkPingMs.default)
      far.clock.advance(limits.linkPingMs.default)
      await near.links.request(far, '', 60_000)
    }
    expect(seen.events).toEqual([])
    // Without a turn of the event loop in between, nothing can arrive.
    near.clock.advance(limits.linkSilentMs.default + limits.linkPingMs.default)
    await seen.over
    expect(seen.events).toEqual([
      `failed lost: the link to node ${far.node} at ${far.address} ended: nothing arrived for 10000 ms`,
    ])
  })
})
