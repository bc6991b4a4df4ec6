import { describe, expect, test } from 'vitest'
import { TokenBucket } from './token-bucket.ts'

function bucketOf(burst: number, perSecond: number) {
  const time = { now: 0 }
  return { time, bucket: new TokenBucket(burst, perSecond, () => time.now) }
}

describe('a token bucket', () => {
  test('gives a burst at once, then tokens at its rate', () => {
    const { time, bucket } = bucketOf(2, 4)
    expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([true, true, false])
    time.now += 500
    expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([true, true, false])
    time.now += 60_000
    expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([true, true, false])
  })

  test('reports how long until there is a token, and takes none', () => {
    const { time, bucket } = bucketOf(1, 4)
    expect([bucket.waitMs(), bucket.waitMs()]).toEqual([0, 0])
    expect(bucket.take()).toBe(true)
    expect(bucket.waitMs()).toBe(250)
    time.now += 125
    expect(bucket.waitMs()).toBe(125)
    time.now += 125
    expect(bucket.waitMs()).toBe(0)
    expect(bucket.take()).toBe(true)
  })
})
