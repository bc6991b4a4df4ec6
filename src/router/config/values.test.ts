import { expect, test } from 'vitest'
import { parseAddress } from '../../address.ts'
import type { AddressUse } from './field.ts'
import { addressProblem, isLocalAddress } from './values.ts'

const good: readonly [use: AddressUse, address: string][] = [
  ['listen', 'http://127.0.0.1:3000/mcp'],
  ['listen', 'http://:3000'],
  ['listen', 'ws://localhost:1/a'],
  ['listen', 'tcp://:4000'],
  ['listen', 'tcp://[::1]:80'],
  ['listen', 'unix:a.sock'],
  ['listen', 'unix:/run/a.sock'],
  ['listen', 'unix:///run/a.sock'],
  ['listen', 'pipe:name'],
  ['listen', 'stdio:'],
  ['connect', 'HTTPS://example.com/mcp?a=b'],
  ['connect', 'wss://example.com'],
  ['metrics', 'http://127.0.0.1:9090/metrics'],
]

test.each(good)('valid for %s: %s', (use, address) => {
  expect(addressProblem(address, use)).toBeUndefined()
})

const bad: readonly [use: AddressUse, address: string, problem: RegExp][] = [
  ['listen', '', /starts with stdio:, tcp:\/\/, .*, https:\/\/$/],
  ['listen', '3000', /starts with/],
  ['listen', 'localhost:3000', /starts with/],
  ['listen', 'ftp://localhost:3000', /not an address to listen at/],
  ['listen', 'http:///mcp', /a host is needed\); the form is http:/],
  ['listen', 'http:/localhost', /a host is needed/],
  ['listen', 'http://a b/', /not a valid URL/],
  ['listen', 'http://localhost:99999', /not a valid URL/],
  ['listen', 'http://localhost/#a', /fragment/],
  ['listen', 'stdio:x', /nothing may follow/],
  ['listen', 'tcp://localhost', /a port/],
  ['listen', 'tcp://localhost:70000', /the port is above 65535/],
  ['listen', 'tcp://localhost:1/path', /a port/],
  ['listen', 'unix:', /a path is needed\); the form is unix:path/],
  ['listen', 'unix:/', /a path is needed/],
  ['listen', 'unix://host/a', /no host/],
  ['listen', 'pipe:a/b', /no slashes/],
  ['connect', 'stdio:', /not an address to connect to/],
  ['connect', 'ftp://example.com', /not an address to connect to/],
  ['metrics', 'tcp://localhost:1', /not an address to serve metrics at/],
]

test.each(bad)('invalid for %s: %s', (use, address, problem) => {
  expect(addressProblem(address, use)).toMatch(problem)
})

const places: readonly [address: string, isLocal: boolean][] = [
  ['http://127.0.0.1:1', true],
  ['http://127.1:1', true],
  ['http://[::1]:1', true],
  ['ws://localhost:1', true],
  ['tcp://:4000', true],
  ['unix:a', true],
  ['pipe:a', true],
  ['stdio:', true],
  ['http://0.0.0.0:1', false],
  ['http://0:1', false],
  ['http://[::]:1', false],
  ['tcp://192.168.0.1:1', false],
  ['http://localhost.example.com', false],
  ['http://127.0.0.1.example.com', false],
]

test.each(places)('only this machine reaches %s: %s', (address, isLocal) => {
  const platform = address.startsWith('pipe:') ? 'win32' : 'linux'
  expect(isLocalAddress(parseAddress(address, platform))).toBe(isLocal)
})
