import { describe, expect, test } from 'vitest'
import { expectCode } from '../../testing/backplane/expectations.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { settingWarnings } from './engine-settings.ts'
import { EngineReplyError } from './raw-connection.ts'
import { redis, redisBackplane } from './redis.ts'

describe('a mistake is refused with a clear error:', () => {
  test.each([
    [
      'http://127.0.0.1',
      'must start with redis://, rediss://, redis-sentinel:// or redis-cluster://',
    ],
    ['', 'must start with redis://, rediss://, redis-sentinel:// or redis-cluster://'],
    ['nonsense', 'must start with redis://, rediss://, redis-sentinel:// or redis-cluster://'],
  ])('the address %j', (url, message) => {
    expect(() => redis(url)).toThrow(message)
  })

  test.each([
    [{ cluster: 'a b' }, 'option "cluster" must be 1 to 64 letters, digits or "_.-" (got "a b")'],
    [{ cluster: '' }, 'option "cluster" must be'],
    [{ clusters: 'a' }, 'unknown option "clusters"; did you mean "cluster"?'],
  ])('the options %j', (options, message) => {
    // @ts-expect-error: wrong on purpose
    expect(() => redis('redis://127.0.0.1', options)).toThrow(message)
  })

  test('a package that is not installed', async () => {
    const missing = () => Promise.reject(new TypeError('npm install @redis/client'))
    const backplane = redisBackplane('redis://127.0.0.1', {}, missing)
    await expect(backplane.open()).rejects.toThrow('npm install @redis/client')
    await backplane.close()
  })
})

test('the name shows neither user nor password', () => {
  const { name } = redis('rediss://user:secret@example.com:6380/0')
  expect(name).toBe('rediss://example.com:6380')
})

describe('opening', () => {
  const open = (connect: () => Promise<void>) => async () => () => (): never => {
    const raw = {
      connect,
      send: async () => 'PONG',
      subscribe: async () => {},
      unsubscribe: async () => {},
      destroy: () => {},
    }
    // The check: all members of a RawConnection are there; `never` keeps the type of this test short.
    return raw as never
  }

  test('fails after its time, with the last reason', async () => {
    const clock = fakeClock()
    const refused = open(() => Promise.reject(new Error('ECONNREFUSED')))
    await using backplane = redisBackplane('redis://engine:1', { clock }, refused)
    const opening = expectCode(backplane.open(), 'down')
    await new Promise(resolve => setImmediate(resolve))
    clock.advance(5000)
    const error = await opening
    expect(error.message).toBe('cannot connect to redis://engine:1: ECONNREFUSED')
    await backplane.close()
    await new Promise(resolve => setImmediate(resolve))
    expect(clock.pending).toBe(0)
  })

  test('fails at once if the engine refuses the password', async () => {
    const clock = fakeClock()
    const refused = open(() => Promise.reject(new EngineReplyError('WRONGPASS invalid password')))
    await using backplane = redisBackplane('redis://engine:1', { clock }, refused)
    const error = await expectCode(backplane.open(), 'down')
    expect(error.message).toContain('WRONGPASS')
  })
})

test('settings that endanger the data lead to warnings', () => {
  const texts = (info: string) => settingWarnings(info).map(({ message }) => message)
  const good = 'redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n'
  expect(texts(good)).toEqual([])
  expect(texts(`server_name:valkey\r\nredis_version:7.2.4\r\n`)).toEqual([])
  expect(texts(good.replace('7.0.15', '6.2.1'))).toEqual([
    'the engine is Redis 6.2.1; a cluster needs Redis 7.0 or newer, or Valkey',
  ])
  expect(texts(good.replace('aof_enabled:1', 'aof_enabled:0'))[0]).toContain('set "appendonly yes"')
  expect(texts(good.replace('noeviction', 'volatile-lru'))[0]).toContain(
    'maxmemory-policy noeviction',
  )
})
