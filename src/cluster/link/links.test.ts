import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { faultProxy } from '../../../test/support/fault-proxy.ts'
import { type LinkNode, LinkNodes, Recorded } from '../../../test/support/links.ts'
import type { LinkStream } from './link-stream.ts'

let folder: string
const nodes = new LinkNodes()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tl-'))
})
afterEach(async () => {
  await nodes.close()
  rmSync(folder, { recursive: true })
})

const bytes = (text: string): Uint8Array => Buffer.from(text)

describe.each([
  ['TCP', () => 'tcp://127.0.0.1:0'],
  ['a Unix socket', () => `unix:${join(folder, 's')}`],
])('over %s', (_, listen) => {
  test('a stream carries heads and data both ways, in order', async () => {
    const far = await nodes.start({
      listen: listen(),
      onStream: (stream, head, from) => {
        stream.sendHead(`${head} from ${from}`)
        return {
          head: text => stream.sendHead(text),
          data: data => stream.send(data),
          end: () => stream.end(),
          failed: () => {},
        }
      },
    })
    const near = await nodes.start()
    const seen = new Recorded()
    const stream = near.links.open(far, 'hé', seen)
    void stream.send(bytes('one'))
    stream.sendHead('two')
    void stream.send(bytes('three'))
    stream.end()
    await seen.over
    expect(seen.events).toEqual([
      `head hé from ${near.node}`,
      'data one',
      'head two',
      'data three',
      'end',
    ])
  })

  test('a megabyte comes back as it was sent', async () => {
    const far = await nodes.start({ listen: listen(), onStream: echo })
    const near = await nodes.start()
    const sent = Buffer.alloc(1024 * 1024, 'abcdefg')
    const seen = new Recorded()
    const stream = near.links.open(far, '', seen)
    void stream.send(sent)
    stream.end()
    await seen.over
    expect(seen.received.equals(sent)).toBe(true)
  })

  test('1000 streams at the same time, each with its own data', async () => {
    const far = await nodes.start({ listen: listen(), onStream: echo })
    const near = await nodes.start()
    const all = Array.from({ length: 1000 }, (_each, at) => {
      const seen = new Recorded()
      const stream = near.links.open(far, '', seen)
      void stream.send(bytes(`stream ${at}`))
      stream.end()
      return seen
    })
    await Promise.all(all.map(each => each.over))
    expect(all.map(each => each.received.toString())).toEqual(
      all.map((_each, at) => `stream ${at}`),
    )
  })

  test('a request gets its reply, or the message of the error', async () => {
    const far = await nodes.start({
      listen: listen(),
      onRequest: async (text, from) => {
        if (text === 'fail') throw new Error('not today')
        return `${text} ${from}`
      },
    })
    const near = await nodes.start()
    expect(await near.links.request(far, 'hello', 60_000)).toBe(`hello ${near.node}`)
    await expect(near.links.request(far, 'fail', 60_000)).rejects.toMatchObject({
      name: 'LinkError',
      code: 'reset',
      message: 'not today',
    })
  })

  test('two nodes use each other at the same time', async () => {
    const options = { onRequest: async (text: string, from: string) => `${text} ${from}` }
    const far = await nodes.start({ listen: listen(), ...options })
    const near = await nodes.start(options)
    const replies = [near.links.request(far, 'a', 60_000), far.links.request(near, 'b', 60_000)]
    expect(await Promise.all(replies)).toEqual([`a ${near.node}`, `b ${far.node}`])
  })
})

describe('a stream that is reset', () => {
  test('fails on the other side with the reason', async () => {
    const far = await nodes.start({
      onStream: (stream, head) => {
        stream.reset(`no ${head} here`)
        return new Recorded()
      },
    })
    const near = await nodes.start()
    const seen = new Recorded()
    near.links.open(far, 'cake', seen)
    await seen.over
    expect(seen.events).toEqual(['failed reset: no cake here'])
  })

  test('by the opener fails at the receiver; the opener hears nothing more', async () => {
    const inner = new Recorded()
    const far = await nodes.start({
      onStream: stream => {
        stream.sendHead('ready')
        return inner
      },
    })
    const near = await nodes.start()
    const seen = new Recorded()
    const stream = near.links.open(far, '', seen)
    await seen.next()
    stream.reset('changed my mind')
    await inner.over
    expect(inner.events).toEqual(['failed reset: changed my mind'])
    expect(seen.events).toEqual(['head ready'])
  })

  test('before the link is open is never opened', async () => {
    const heads: string[] = []
    const far = await nodes.start({
      onStream: (stream, head) => {
        heads.push(head)
        stream.end()
        return new Recorded()
      },
    })
    const near = await nodes.start()
    near.links.open(far, 'first', new Recorded()).reset('too late')
    const seen = new Recorded()
    near.links.open(far, 'second', seen).end()
    await seen.over
    expect(heads).toEqual(['second'])
  })

  test.each([
    ['onStream', 'throws', () => Promise.reject(new Error('unused')), true],
    [
      'data',
      'throws',
      () => {
        throw new Error('broken')
      },
      false,
    ],
    ['data', 'rejects', () => Promise.reject(new Error('broken')), false],
  ] as const)('because %s %s has the message as its reason', async (_, __, data, inOpen) => {
    const far = await nodes.start({
      onStream: () => {
        if (inOpen) throw new Error('broken')
        return { data, end: () => {}, failed: () => {} }
      },
    })
    const near = await nodes.start()
    const seen = new Recorded()
    void near.links.open(far, '', seen).send(bytes('x'))
    await seen.over
    expect(seen.events).toEqual(['failed reset: broken'])
  })
})

describe('the end of a link', () => {
  test('a node that closes ends the streams on both sides as lost', async () => {
    const inner = new Recorded()
    const far = await nodes.start({
      onStream: stream => {
        stream.sendHead('ready')
        return inner
      },
      onRequest: () => new Promise(() => {}),
    })
    const near = await nodes.start()
    const seen = new Recorded()
    near.links.open(far, '', seen)
    const request = near.links.request(far, '', 60_000)
    const outcome = expect(request).rejects.toMatchObject({ code: 'lost' })
    await seen.next()
    await far.links.close()
    await Promise.all([seen.over, inner.over, outcome])
    expect(seen.events[1]).toBe(
      `failed lost: the link to node ${far.node} at ${far.address} ended: node ${far.node} closes its links`,
    )
    expect(inner.events[0]).toMatch(/^failed lost: /)
  })

  test('streams share one link; after its end the next stream opens a new one', async () => {
    const far = await nodes.start({ onStream: echo })
    const near = await nodes.start()
    await using proxy = await faultProxy(portOf(far))
    const peer = { node: far.node, address: `tcp://127.0.0.1:${proxy.port}` }
    await Promise.all([roundTrip(near, peer), roundTrip(near, peer)])
    await roundTrip(near, peer)
    expect(proxy.accepted).toBe(1)
    near.links.forget(far.node)
    await roundTrip(near, peer)
    expect(proxy.accepted).toBe(2)
  })

  test('a stream that was written is lost when the connection is cut', async () => {
    const inner = new Recorded()
    const far = await nodes.start({
      onStream: () => {
        proxy.cut()
        return inner
      },
    })
    const near = await nodes.start()
    await using proxy = await faultProxy(portOf(far))
    const seen = new Recorded()
    near.links.open({ node: far.node, address: `tcp://127.0.0.1:${proxy.port}` }, '', seen)
    await Promise.all([seen.over, inner.over])
    expect(seen.events).toEqual([expect.stringMatching(/^failed lost: the link to node /)])
    expect(inner.events).toEqual([expect.stringMatching(/^failed lost: the link of node /)])
  })

  test('forgetting a node ends links of both directions', async () => {
    const inner = new Recorded()
    const far = await nodes.start({
      onStream: stream => {
        stream.sendHead('ready')
        return inner
      },
    })
    const near = await nodes.start()
    const seen = new Recorded()
    near.links.open(far, '', seen)
    await seen.next()
    far.links.forget(near.node)
    await Promise.all([seen.over, inner.over])
    expect(seen.events[1]).toMatch(/^failed lost: .*has left the cluster$/)
  })

  test('closing leaves nothing: no timer, no socket, and no further stream', async () => {
    const far = await nodes.start({ onStream: echo })
    const near = await nodes.start()
    await roundTrip(near, far)
    await Promise.all([near.links.close(), near.links.close(), far.links.close()])
    expect(near.clock.pending + far.clock.pending).toBe(0)
    expect(await near.links.probe(far.address, 60_000)).toBe('refuses')
    const seen = new Recorded()
    near.links.open(far, '', seen)
    await seen.over
    expect(seen.events).toEqual([`failed closed: node ${near.node} has closed its links`])
    await expect(near.links.request(far, '', 1)).rejects.toMatchObject({ code: 'closed' })
    await expect(near.links.listen()).rejects.toMatchObject({ code: 'closed' })
  })

  test('closing while it connects fails what waits as closed', async () => {
    const far = await nodes.start()
    const near = await nodes.start()
    const seen = new Recorded()
    near.links.open(far, '', seen)
    await Promise.all([near.links.close(), seen.over])
    expect(seen.events).toEqual([expect.stringMatching(/^failed closed: /)])
    expect(near.clock.pending).toBe(0)
  })
})

const echo = (stream: LinkStream) => ({
  data: (data: Uint8Array) => stream.send(data),
  end: () => stream.end(),
  failed: () => {},
})

async function roundTrip(near: LinkNode, peer: { node: string; address: string }): Promise<void> {
  const seen = new Recorded()
  near.links.open(peer, '', seen).end()
  await seen.over
  expect(seen.events).toEqual(['end'])
}

const portOf = ({ address }: LinkNode): number => Number(/\d+$/.exec(address)?.[0])
