import { expect, test } from 'vitest'
import { natsAddress } from './address.ts'

test.each([
  ['nats://host', { name: 'nats://host', servers: ['host'], isTls: false }],
  ['tls://a:1,b:2/', { name: 'tls://a:1,b:2', servers: ['a:1', 'b:2'], isTls: true }],
  ['nats://[::1]:4222', { name: 'nats://[::1]:4222', servers: ['[::1]:4222'], isTls: false }],
  ['nats://t%2Fn@h', { name: 'nats://h', servers: ['h'], isTls: false, token: 't/n' }],
  [
    'nats://me:p%40ss@h:1',
    { name: 'nats://h:1', servers: ['h:1'], isTls: false, user: 'me', password: 'p@ss' },
  ],
])('%s is an address of NATS', (url, address) => {
  expect(natsAddress(url)).toEqual(address)
})

test.each(['', 'redis://h', 'nats://', 'nats://u:p@', 'nats://a/b', 'nats://a, b', 'nats://h:x'])(
  '"%s" is none, and the message names the form of one',
  url => {
    expect(() => natsAddress(url)).toThrow(/nats:\/\/HOST/)
  },
)

test('a message about an unusable address contains no password', () => {
  expect(() => natsAddress('nats://me:secret@h/x')).toThrow(/^(?!.*secret)/)
})
