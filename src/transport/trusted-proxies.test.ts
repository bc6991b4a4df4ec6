import { expect, test } from 'vitest'
import { trustedProxies } from './trusted-proxies.ts'

test('a trusted proxy is an address or in a network', () => {
  const isProxy = trustedProxies(['203.0.113.9', '10.0.0.0/8', '2001:db8::/32'])
  expect(['203.0.113.9', '10.200.3.4', '2001:db8:7::1'].map(isProxy)).toEqual([true, true, true])
  expect(['203.0.113.8', '11.0.0.1', '2001:db9::1', 'x', ''].map(isProxy)).not.toContain(true)
})

test.each([
  'proxy.example',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/9',
  '',
  '::/129',
  '10.0.0.0/a',
])('%j is refused', proxy => {
  expect(() => trustedProxies([proxy])).toThrow(TypeError)
})
