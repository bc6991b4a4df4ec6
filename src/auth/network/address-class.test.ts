import { describe, expect, test } from 'vitest'
import { addressClass } from './address-class.ts'

const rows = {
  public: [
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ],
  private: [
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    'fd12::1',
    '::ffff:10.0.0.1',
    '2002:0a00:0001::',
  ],
  loopback: [
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:0.0.0.0',
    '64:ff9b::7f00:1',
    '2002:7f00:0001::',
  ],
  forbidden: [
    '169.254.169.254',
    '169.254.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '0.1.2.3',
    '192.0.2.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'fd00:ec2::254',
    '2001::1',
    '2001:db8::1',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::',
    '::2',
    'fec0::1',
  ],
} as const

describe.each(Object.entries(rows))('%s', (is, addresses) => {
  test.each(addresses)('%s', address => {
    expect(addressClass(address)).toBe(is)
  })
})

test.each([
  'example.com',
  '',
  '1.2.3',
  '1.2.3.4.5',
  '256.1.1.1',
  '::1::',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '12345::',
  'g::',
  ':',
])('%j is no IP address', text => {
  expect(addressClass(text)).toBeUndefined()
})
