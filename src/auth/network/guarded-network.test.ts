import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { GuardedNetwork } from './guarded-network.ts'
import type { NetworkOptions } from './guarded-request.ts'

let server: Server
let port = 0
let requests: string[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    if (request.url === '/hang') return
    const [, to] = request.url?.split('?to=') ?? []
    if (to !== undefined) response.writeHead(302, { location: decodeURIComponent(to) })
    response.end(request.url === '/large' ? 'x'.repeat(limits.metadataBytes.default + 1) : 'hello')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The check: a TCP server that listens has an address with a port.
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

/** A network of a client whose server is at an address. */
function networkAt(address: string, options: NetworkOptions = {}): GuardedNetwork {
  const network = new GuardedNetwork(options)
  network.reachAs(new URL('https://mcp.example/mcp'), address)
  return network
}

const get = (network: GuardedNetwork, url: string) => network.get(new URL(url), undefined)

describe('a server on the internet cannot make this program connect to', () => {
  test.each([
    'https://127.0.0.1/',
    'https://localhost/',
    'https://anything.localhost/',
    'https://localhost./',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://0/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://10.0.0.1/',
    'https://192.168.0.1/',
    'https://172.16.5.4/',
    'https://[fd12::1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::254]/',
    'http://as.example/',
    'ftp://as.example/',
    'file:///etc/passwd',
    'data:application/json,{}',
    'javascript:alert(1)',
    'https://user:password@as.example/',
  ])('%s', async url => {
    const asked: string[] = []
    const lookup = async (host: string) => {
      asked.push(host)
      return ['8.8.8.8']
    }
    const network = networkAt('8.8.8.8', { lookup })
    await expect(get(network, url)).rejects.toMatchObject({ code: 'insecure' })
    expect(asked).toEqual([])
  })

  test.each([
    ['this machine', ['127.0.0.1']],
    ['a local network', ['192.168.0.1']],
    ['a cloud', ['169.254.169.254']],
    ['a public address and this machine', ['8.8.8.8', '::1']],
    ['no address at all', ['not-an-address']],
  ])('a name that stands for %s', async (_, addresses) => {
    requests = []
    const network = networkAt('8.8.8.8', { lookup: async () => addresses })
    const failed = get(network, `https://as.example:${port}/`)
    await expect(failed).rejects.toMatchObject({ name: 'AuthError', code: 'insecure' })
    expect(requests).toEqual([])
  })
})

test('a name is resolved once, and the connection goes to the address that was checked', async () => {
  let asked = 0
  // The second answer would be the attack.
  const lookup = async () => [asked++ === 0 ? '127.0.0.1' : '169.254.169.254']
  const network = networkAt('127.0.0.1', { lookup })
  const { text } = await get(network, `http://as.localhost:${port}/`)
  expect([text, asked]).toEqual(['hello', 1])
})

describe('how far a request may reach', () => {
  test.each([
    ['8.8.8.8', 'public'],
    ['10.1.2.3', 'private'],
    ['127.0.0.1', 'loopback'],
    ['169.254.1.1', 'public'],
  ])('a server at %s allows %s', (address, reach) => {
    expect(networkAt(address).reach).toBe(reach)
  })

  test('the option decides against the address', () => {
    expect(networkAt('127.0.0.1', { reach: 'public' }).reach).toBe('public')
  })

  test.each(['loopback', 'private', 'public'] as const)('%s never allows a cloud', async reach => {
    const failed = get(new GuardedNetwork({ reach }), 'https://169.254.169.254/')
    await expect(failed).rejects.toMatchObject({ code: 'insecure' })
  })
})

describe('a redirect', () => {
  const at = (to: string) => `http://127.0.0.1:${port}/a?to=${encodeURIComponent(to)}`

  test('within the origin is followed', async () => {
    expect(await get(networkAt('127.0.0.1'), at('/document'))).toMatchObject({ status: 200 })
  })

  test.each([
    'https://evil.example/',
    'http://localhost:1/',
    '//169.254.169.254/',
    'http://[',
    'file:///etc/passwd',
  ])('to %s is not followed', async to => {
    requests = []
    expect(await get(networkAt('127.0.0.1'), at(to))).toMatchObject({ status: 302 })
    expect(requests).toHaveLength(1)
  })

  test('to itself ends', async () => {
    requests = []
    expect(await get(networkAt('127.0.0.1'), at(''))).toMatchObject({ status: 302 })
    expect(requests).toHaveLength(1 + limits.metadataRedirects.default)
  })

  test('of a post is not followed', async () => {
    requests = []
    const body = new URLSearchParams({ secret: 's' })
    const posted = networkAt('127.0.0.1').post(new URL(at('/document')), body, {}, undefined)
    expect(await posted).toMatchObject({ status: 302 })
    expect(requests).toHaveLength(1)
  })
})

describe.each([
  ['own connections', {}],
  ['fetch', { fetch: (url: URL, init: RequestInit) => fetch(url, init) }],
])('over %s', (_, options) => {
  test('an oversized document fails', async () => {
    const failed = get(networkAt('127.0.0.1', options), `http://127.0.0.1:${port}/large`)
    await expect(failed).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(`${limits.metadataBytes.default} bytes`),
    })
  })

  test('a request can be aborted', async () => {
    const controller = new AbortController()
    const url = new URL(`http://127.0.0.1:${port}/hang`)
    const asked = networkAt('127.0.0.1', options).get(url, controller.signal)
    controller.abort(new Error('enough'))
    await expect(asked).rejects.toThrow('enough')
  })

  test('the head of a response is read alone', async () => {
    const url = new URL(`http://127.0.0.1:${port}/large`)
    const response = await networkAt('127.0.0.1', options).probe(url, {}, undefined)
    expect(response).toMatchObject({ status: 200, text: '' })
  })
})
