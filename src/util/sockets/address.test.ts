import { expect, test } from 'vitest'
import { countedAddress } from './address.ts'

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['127.0.0.1', undefined],
  ['::1', undefined],
  ['::ffff:127.0.0.1', undefined],
  ['10.1.2.3', undefined],
  ['172.16.0.1', undefined],
  ['172.32.0.1', '172.32.0.1'],
  ['192.168.1.1', undefined],
  ['fd00::1', undefined],
  ['fe80::1%eth0', undefined],
  [undefined, undefined],
])('the address %s is counted as %s', (address, name) => {
  expect(countedAddress(address, {})).toBe(name)
})

test('local addresses are counted on request, proxies never', () => {
  expect(countedAddress('127.0.0.1', { includesLocal: true })).toBe('127.0.0.1')
  const isProxy = (address: string) => address === '203.0.113.9'
  expect(countedAddress('::ffff:203.0.113.9', { isProxy })).toBe(undefined)
})
