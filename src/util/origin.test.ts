import { describe, expect, test } from 'vitest'
import { headerValues, isLoopback, type OriginPolicy, originRefusal } from './origin.ts'

const local: OriginPolicy = { port: 4000, loopback: true }
const open: OriginPolicy = { port: 4000, loopback: false }

interface Row {
  readonly name: string
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  readonly target?: string
  readonly policy?: OriginPolicy
}

const refusal = ({
  hosts = ['localhost:4000'],
  origins = [],
  target = '/mcp',
  policy = local,
}: Row) => originRefusal({ hosts, origins, target }, policy)

const passing: Row[] = [
  { name: 'a program without an origin' },
  { name: 'the name in capitals', hosts: ['LOCALHOST:4000'] },
  { name: 'the IPv4 address', hosts: ['127.0.0.1:4000'] },
  { name: 'another IPv4 loopback address', hosts: ['127.0.0.9:4000'] },
  { name: 'the IPv6 address', hosts: ['[::1]:4000'] },
  { name: 'no port where it is 80', hosts: ['localhost'], policy: { port: 80, loopback: true } },
  { name: 'an origin on this machine and port', origins: ['http://127.0.0.1:4000'] },
  {
    name: 'a listed origin',
    origins: ['https://app.test'],
    policy: { ...local, allowedOrigins: ['https://app.test'] },
  },
  {
    name: 'a listed host in front of loopback',
    hosts: ['api.test'],
    policy: { ...local, allowedHosts: ['API.test'] },
  },
  { name: 'any host when bound to the network', hosts: ['10.1.2.3:4000'], policy: open },
]

const refused: Row[] = [
  { name: 'another name', hosts: ['evil.test'] },
  { name: 'another name with our port', hosts: ['evil.test:4000'] },
  { name: 'our address as a label of another name', hosts: ['127.0.0.1.evil.test:4000'] },
  { name: 'our name as a label of another name', hosts: ['localhost.evil.test:4000'] },
  { name: 'our name at the end of another one', hosts: ['evil-localhost:4000'] },
  { name: 'the IPv6 address with a tail', hosts: ['[::1].x:4000'] },
  { name: 'the IPv6 address without brackets', hosts: ['::1:4000'] },
  { name: 'a mapped IPv4 address', hosts: ['[::ffff:127.0.0.1]:4000'] },
  { name: 'user information', hosts: ['me@localhost:4000'] },
  { name: 'user information that looks like our host', hosts: ['localhost:4000@evil.test'] },
  { name: 'a trailing dot', hosts: ['localhost.:4000'] },
  { name: 'a trailing dot after an address', hosts: ['127.0.0.1.:4000'] },
  { name: 'another port', hosts: ['localhost:4001'] },
  { name: 'no port where it is not 80', hosts: ['localhost'] },
  { name: 'an empty port', hosts: ['localhost:'] },
  { name: 'a port with a leading zero', hosts: ['localhost:04000'] },
  { name: 'a space', hosts: ['localhost:4000 evil.test'] },
  { name: 'an empty host', hosts: [''] },
  { name: 'no host', hosts: [] },
  { name: 'two hosts', hosts: ['localhost:4000', 'localhost:4000'] },
  { name: 'two hosts joined', hosts: ['localhost:4000, evil.test'] },
  { name: 'a network address of another machine', hosts: ['10.0.0.1:4000'] },
  { name: 'the unspecified address', hosts: ['0.0.0.0:4000'] },
  { name: 'a foreign origin', origins: ['http://evil.test'] },
  { name: 'a foreign origin with our port', origins: ['http://evil.test:4000'] },
  { name: 'our name as a label of the origin', origins: ['http://localhost.evil.test:4000'] },
  { name: 'user information in the origin', origins: ['http://localhost:4000@evil.test'] },
  { name: 'the null origin', origins: ['null'] },
  { name: 'an empty origin', origins: [''] },
  { name: 'an origin on another port', origins: ['http://localhost:3000'] },
  { name: 'an origin of another scheme', origins: ['https://localhost:4000'] },
  { name: 'an extension as origin', origins: ['chrome-extension://abcdef'] },
  { name: 'two origins', origins: ['http://localhost:4000', 'http://localhost:4000'] },
  { name: 'an absolute target', target: 'http://evil.test/mcp' },
  { name: 'an absolute target with our name', target: 'http://localhost:4000/mcp' },
  { name: 'a target that is no path', target: '*' },
  {
    name: 'a part of a listed origin',
    origins: ['https://app.test.evil'],
    policy: { ...local, allowedOrigins: ['https://app.test'] },
  },
  {
    name: 'a host that is not listed, when bound to the network',
    hosts: ['evil.test'],
    policy: { ...open, allowedHosts: ['api.test'] },
  },
  {
    name: 'an origin equal to the host, when bound to the network',
    hosts: ['evil.test:4000'],
    origins: ['http://evil.test:4000'],
    policy: open,
  },
]

describe('where a request comes from', () => {
  test.each(passing)('$name passes', row => {
    expect(refusal(row)).toBeUndefined()
  })

  test.each(refused)('$name is refused', row => {
    expect(refusal(row)).toEqual(expect.any(String))
  })

  test('each occurrence of a header is found, in any case', () => {
    const raw = ['Host', 'a', 'X', 'host', 'hOST', 'b']
    expect(headerValues(raw, 'host')).toEqual(['a', 'b'])
  })

  test.each([
    ['127.0.0.1', true],
    ['127.8.8.8', true],
    ['::1', true],
    ['localhost', true],
    ['::ffff:127.0.0.1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.0.1', false],
    ['127.0.0.1.evil.test', false],
  ])('%s is loopback: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected)
  })
})
