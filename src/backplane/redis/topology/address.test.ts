import { describe, expect, test } from 'vitest'
import { engineAddress } from './address.ts'

describe('an address', () => {
  test('of one engine is used as it is, and shows no credentials', () => {
    const url = 'rediss://user:secret@example.com:6380/0'
    const address = engineAddress(url)
    expect(address).toMatchObject({
      kind: 'single',
      name: 'rediss://example.com:6380',
      urls: [url],
    })
  })

  test('of sentinels has their hosts, the name of the primary, and credentials for both', () => {
    const address = engineAddress('rediss-sentinel://me:p%40ss@a,b:1,[::1]:2/main')
    expect(address).toMatchObject({
      kind: 'sentinel',
      name: 'rediss-sentinel://a,b:1,[::1]:2/main',
      urls: ['rediss://a:26379', 'rediss://b:1', 'rediss://[::1]:2'],
      primary: 'main',
      credentials: ['me', 'p@ss'],
    })
    expect(address.urlOf('::1', '7')).toBe('rediss://me:p%40ss@[::1]:7')
  })

  test('of a Redis Cluster has its hosts with the credentials', () => {
    const address = engineAddress('redis-cluster://:secret@a,b:7000')
    expect(address).toMatchObject({
      kind: 'cluster',
      name: 'redis-cluster://a,b:7000',
      urls: ['redis://:secret@a:6379', 'redis://:secret@b:7000'],
      credentials: ['secret'],
    })
    expect(address.urlOf('c', '7')).toBe('redis://:secret@c:7')
  })

  test.each([
    ['redis-sentinel://a,b', 'a slash and the name of the primary'],
    ['redis-sentinel:///main', 'must list hosts, separated by commas'],
    ['redis-sentinel://a/main/more', 'must list hosts'],
    ['redis-cluster://', 'must list hosts, separated by commas (for example redis-cluster://'],
    ['redis-cluster://a,,b', 'must list hosts'],
    ['redis-cluster://a:99999', 'must list hosts'],
    ['redis-cluster://a/0', 'must list hosts'],
    ['redis-cluster://a b', 'must list hosts'],
    ['nats://a', 'must start with redis://'],
  ])('%s is refused', (url, message) => {
    expect(() => engineAddress(url)).toThrow(message)
    expect(() => engineAddress(url)).toThrow(TypeError)
  })
})
