import { expect, test } from 'vitest'
import { clientAddress } from './client-address.ts'

const isProxy = (address: string) => address.startsWith('10.')

test.each([
  ['the peer itself', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['what a proxy names', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['the last that is no proxy', '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
  ['nobody, where a proxy names none', '10.0.0.1', undefined, undefined],
  ['nobody, for a Unix socket', undefined, '198.51.100.1', undefined],
])('the client is %s', (_, remote, forwarded, name) => {
  expect(clientAddress(remote, forwarded, { isProxy })).toBe(name)
})
