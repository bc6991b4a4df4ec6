import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LinkNodes, Recorded } from '../../../test/support/links.ts'
import { LinkFrameBatch, linkFrameKinds } from '../../wire/link-frames.ts'
import { Links } from './links.ts'

let folder: string
const nodes = new LinkNodes()
const servers: Server[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tl-'))
})
afterEach(async () => {
  await nodes.close()
  for (const server of servers.splice(0)) server.close()
  rmSync(folder, { recursive: true })
})

const other = 'f'.repeat(16)

/** Opens a stream, and returns what becomes of it. */
async function outcome(peer: { node: string; address: string }, options = {}): Promise<string> {
  const near = await nodes.start({ node: 'a'.repeat(16), ...options })
  const seen = new Recorded()
  near.links.open(peer, 'head', seen)
  await seen.over
  expect(seen.events).toHaveLength(1)
  return seen.events.join()
}

/** Starts a server of another kind. */
async function foreign(serve: (socket: Socket) => void): Promise<string> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    serve(socket)
  })
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  // The check: a server that listens on a port has such an address.
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a stream is refused', () => {
  test('if nothing listens', async () => {
    const gone = await nodes.start()
    await gone.links.close()
    expect(await outcome(gone)).toBe(
      `failed refused: connecting to node ${gone.node} at ${gone.address}: nothing listens there`,
    )
  })

  test('if there is no socket file', async () => {
    const address = `unix:${join(folder, 'none')}`
    expect(await outcome({ node: other, address })).toBe(
      `failed refused: connecting to node ${other} at ${address}: no such file`,
    )
  })

  test('if the address cannot be read', async () => {
    expect(await outcome({ node: other, address: 'http://x' })).toBe(
      `failed refused: connecting to node ${other}: cannot read the address "http://x"; the forms are tcp://host:port and unix:path`,
    )
  })

  test('if the secret differs; both nodes say so', async () => {
    const far = await nodes.start({ secret: 'other'.repeat(8) })
    expect(await outcome(far)).toBe(
      `failed refused: connecting to node ${far.node} at ${far.address}: its secret is not the same as the secret here`,
    )
    await expect
      .poll(() => far.errors)
      .toEqual([
        'refused a connection from 127.0.0.1: its secret is not the same as the secret here',
      ])
  })

  test('by a node of another cluster; both nodes say so', async () => {
    const far = await nodes.start({ cluster: 'other' })
    const reason = `the cluster is "other" on node ${far.node} and "test" on node ${'a'.repeat(16)}`
    expect(await outcome(far)).toBe(
      `failed refused: node ${far.node} at ${far.address} refused the link: ${reason}`,
    )
    expect(far.errors).toEqual([`refused a connection: ${reason}`])
  })

  test('if another node answers at the address', async () => {
    const { node, address } = await nodes.start()
    expect(await outcome({ node: other, address })).toBe(
      `failed refused: node ${other} at ${address} refused the link: node ${other} was expected here, this is node ${node}`,
    )
  })

  test('if the server there does not speak TLS', async () => {
    const address = await foreign(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await outcome({ node: other, address })).toBe(
      `failed refused: connecting to node ${other} at ${address}: it does not speak TLS`,
    )
  })

  test('if the server there closes the connection', async () => {
    const address = await foreign(socket => socket.destroy())
    expect(await outcome({ node: other, address })).toMatch(
      /^failed refused: .*it closed the connection$/,
    )
  })

  test('if no HELLO comes in time', async () => {
    const address = await foreign(() => {})
    const near = await nodes.start()
    const seen = new Recorded()
    near.links.open({ node: other, address }, '', seen)
    const request = near.links.request({ node: other, address }, '', 100_000)
    const rejected = expect(request).rejects.toMatchObject({ code: 'refused' })
    near.clock.advance(60_000)
    await Promise.all([seen.over, rejected])
    expect(seen.events).toEqual([
      `failed refused: connecting to node ${other} at ${address}: no HELLO within 60000 ms`,
    ])
  })

  test('if its head is too long; the link stays', async () => {
    const far = await nodes.start({ limits: { frameBytes: 2000 } })
    const near = await nodes.start()
    const seen = new Recorded()
    near.links.open(far, 'é'.repeat(1001), seen)
    await seen.over
    expect(seen.events).toEqual(['failed refused: the head has more than 2000 bytes'])
    const long = near.links.request(far, 'x'.repeat(2001), 1)
    await expect(long).rejects.toThrow('the request has more than 2000 bytes')
    expect(await near.links.request(far, 'x'.repeat(2000), 60_000)).toBe('x'.repeat(2000))
  })
})

describe('a listening node', () => {
  const hello = (members: object): Uint8Array => {
    const batch = new LinkFrameBatch()
    const all = {
      version: 1,
      oldest: 1,
      cluster: 'test',
      node: other,
      credit: 9,
      frame: 5000,
      streams: 9,
    }
    batch.text(linkFrameKinds.hello, 0, JSON.stringify({ ...all, ...members }), 4096)
    return batch.take()
  }
  const ping = (): Uint8Array => {
    const batch = new LinkFrameBatch()
    batch.signal(linkFrameKinds.ping, 0)
    return batch.take()
  }

  test.each<[what: string, bytes: (node: string) => Uint8Array | string, reason: string]>([
    [
      'another protocol',
      () => 'GET / HTTP/1.1\r\n\r\n',
      'it speaks another protocol: a frame has the unknown kind 47',
    ],
    [
      'a long HELLO',
      () => Buffer.from([0, 0, 0x10, 1, 1, 0, 0, 0, 0]),
      'it speaks another protocol: a frame has 4097 bytes, the limit is 4096',
    ],
    ['a frame before HELLO', ping, 'another frame came before HELLO'],
    [
      'a HELLO without a node',
      to => hello({ to, node: 7 }),
      'the first frame is not a valid HELLO',
    ],
    [
      'a newer version',
      to => hello({ to, version: 3, oldest: 2 }),
      'version 3 of the link protocol is not supported, node 1111111111111111 speaks version 1: update Trunkline on node 1111111111111111',
    ],
    [
      'a HELLO to another node',
      () => hello({ to: other }),
      'node ffffffffffffffff was expected here, this is node 1111111111111111',
    ],
  ])('refuses %s, and says why', async (_, bytes, reason) => {
    const far = await nodes.start({ node: '1'.repeat(16), listen: `unix:${join(folder, 's')}` })
    const socket = connect(join(folder, 's'))
    socket.end(bytes(far.node))
    let answer = ''
    for await (const chunk of socket) answer += chunk
    expect(answer.slice(9)).toBe(reason)
    expect(far.errors).toEqual([`refused a connection: ${reason}`])
    expect(far.clock.pending).toBe(0)
  })

  test('accepts a newer version that still understands this one', async () => {
    const far = await nodes.start({ listen: `unix:${join(folder, 's')}` })
    const socket = connect(join(folder, 's'))
    socket.write(hello({ to: far.node, version: 3, added: true }))
    const [answer] = await once(socket, 'data')
    expect(JSON.parse(String(answer).slice(9))).toMatchObject({
      version: 1,
      node: far.node,
      to: other,
    })
    socket.destroy()
  })

  test.each([
    ['a Unix socket', () => `unix:${join(folder, 's')}`, 60_000],
    // The time for the TLS handshake passes on the clock of the system.
    ['TCP', () => 'tcp://127.0.0.1:0', 20],
  ])('closes a connection over %s that sends nothing', async (_, listen, connectMs) => {
    const far = await nodes.start({ listen: listen(), limits: { connectMs } })
    const port = Number(/\d+$/.exec(far.address)?.[0])
    const socket = far.address.startsWith('unix:') ? connect(join(folder, 's')) : connect(port)
    socket.on('error', () => {})
    await once(socket, 'connect')
    const closed = once(socket.resume(), 'close')
    if (far.address.startsWith('unix:')) {
      await expect.poll(() => far.clock.pending).toBe(1)
      far.clock.advance(connectMs)
    }
    await closed
    await expect.poll(() => far.errors).toHaveLength(1)
    expect(far.clock.pending).toBe(0)
  })

  test('is probed without effect', async () => {
    const far = await nodes.start()
    expect(await far.links.probe(far.address, 60_000)).toBe('accepts')
    const file = await nodes.start({ listen: `unix:${join(folder, 's')}` })
    expect(await far.links.probe(file.address, 60_000)).toBe('accepts')
    expect(await far.links.probe(`unix:${join(folder, 'none')}`, 60_000)).toBe('refuses')
  })
})

test('a probe without an answer in time says so', async () => {
  const near = await nodes.start()
  const probe = near.links.probe(near.address, 500)
  near.clock.advance(500)
  expect(await probe).toBe('silent')
})

test.each([
  ['a node id', { node: 'web-1' }, 'the node id "web-1" must have 16 hexadecimal digits'],
  [
    'a short secret',
    { secret: 'short' },
    'the secret has 5 bytes; at least 32 are needed, for example from "openssl rand -hex 32"',
  ],
  [
    'an address',
    { listen: 'udp://x:1' },
    'cannot read the address "udp://x:1"; the forms are tcp://host:port and unix:path',
  ],
  ['a name', { cluster: '' }, 'the name of a cluster needs 1 to 100 characters'],
])('%s that cannot be used is refused at once', (_, wrong, message) => {
  const options = {
    node: other,
    cluster: 'c',
    secret: 's'.repeat(32),
    listen: 'tcp://127.0.0.1:0',
    onStream: () => new Recorded(),
    onRequest: async (text: string) => text,
  }
  expect(() => new Links({ ...options, ...wrong })).toThrow(message)
})
