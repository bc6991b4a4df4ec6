import { describe, expect, onTestFinished, test } from 'vitest'
import { redisProgram, redisServer } from '../../scripts/redis-server.js'
import { redis } from '../../src/backplane/redis/redis.ts'
import { expectCode, retried } from '../../src/testing/backplane/expectations.ts'
import { redisCommand } from '../support/redis-command.ts'
import { redisSentinels } from '../support/redis-sentinels.ts'
import { slowClock } from '../support/slow-clock.ts'

test.runIf(redisProgram !== undefined)('redis-server or valkey-server is installed', () => {})

const ttlMs = 600_000
const owner = { node: 'a', epoch: 5 }
const clock = slowClock(10)

/** Starts a primary, a replica and sentinels that know both, for one test. */
async function setUp() {
  const primary = await redisServer()
  onTestFinished(() => primary.close())
  const replica = await redisServer(['--replicaof', `127.0.0.1 ${primary.port}`])
  onTestFinished(() => replica.close())
  const sentinels = await redisSentinels(primary.port)
  onTestFinished(() => sentinels.close())
  for (const port of sentinels.ports) {
    const facts = async () => String(await redisCommand(port, 'SENTINEL', 'MASTER', 'main'))
    await expect.poll(facts).toMatch(/num-slaves,1,num-other-sentinels,2,/)
  }
  const backplane = redis(sentinels.url, { clock })
  onTestFinished(() => backplane.close())
  await retried(() => backplane.open())
  return { primary, replica, sentinels, backplane }
}

describe.runIf(redisProgram !== undefined)('a primary that sentinels name', () => {
  test('is used, and after its death the replica that they promote', async () => {
    const { primary, backplane } = await setUp()
    await retried(() => backplane.store.put('a', { value: 'v', ttlMs }, owner))
    await redisCommand(primary.port, 'WAIT', '1', '0')
    await primary.kill()
    await expectCode(backplane.store.get('a'), 'down', 'unknown')
    await expect.poll(() => backplane.isUp).toBe(true)
    const record = await retried(() => backplane.store.get('a'))
    expect(record?.value).toBe('v')
    await retried(() => backplane.store.put('a', { value: 'w', ttlMs }, owner))
  })

  test('is found as long as one sentinel answers', async () => {
    const { sentinels } = await setUp()
    const [port] = sentinels.ports
    // Nothing listens on port 1.
    const url = `redis-sentinel://127.0.0.1:1,127.0.0.1:${port},127.0.0.1:1/main`
    await using backplane = redis(url, { clock })
    await retried(() => backplane.open())
    await backplane.store.put('a', { value: 'v', ttlMs }, owner)
  })

  test('needs the right name, and an address that says that it is a sentinel', async () => {
    const { sentinels } = await setUp()
    await using wrong = redis(sentinels.url.replace('/main', '/other'), { clock })
    const error = await expectCode(wrong.open(), 'down')
    expect(error.message).toContain('the sentinels know no primary "other"')
    await using direct = redis(`redis://127.0.0.1:${sentinels.ports[0]}`, { clock })
    const refused = await expectCode(direct.open(), 'down')
    expect(refused.message).toContain('use an address such as redis-sentinel://')
  })
})
