import { describe, expect, test } from 'vitest'
import { hashSeed, hashShare, shortHash } from './hash.ts'

describe('the hash of a text', () => {
  // What stands in the configuration of clients must not change with a release.
  test.each([
    ['', 'o2x8esc23x'],
    ['a', 'kioqdi395e'],
    ['files__read', 'y9xt7rfhu7'],
    ['日本語', 'l3tcn5jysf'],
  ])('of %j is the same everywhere and for ever', (text, hash) => {
    expect(shortHash(text)).toBe(hash)
  })

  test('has ten digits and lowercase letters, and differs for every name', () => {
    const seen = new Set<string>()
    for (let index = 0; index < 50_000; index++) {
      const hash = shortHash(`server-${index % 200}__tool_${index}`)
      seen.add(hash)
      if (index % 1000 === 0) expect(hash).toMatch(/^[0-9a-z]{10}$/)
    }
    expect(seen.size).toBe(50_000)
  })

  test('is distributed evenly, however similar the texts are', () => {
    const boxes = new Array<number>(16).fill(0)
    const each = 1000
    for (let index = 0; index < boxes.length * each; index++) {
      const box = Math.floor(hashShare(hashSeed(`user-${index}`), 'instance-1') * boxes.length)
      boxes[box] = (boxes[box] ?? 0) + 1
    }
    // Chi-squared with 15 degrees of freedom: 37.7 is passed once in a thousand by chance, and here
    // there is no chance, the texts being fixed.
    const chi = boxes.reduce((sum, count) => sum + (count - each) ** 2 / each, 0)
    expect(chi).toBeLessThan(37.7)
  })

  test('depends on both texts and on their order', () => {
    const share = (one: string, other: string) => hashShare(hashSeed(one), other)
    const shares = [share('a', 'b'), share('b', 'a'), share('a', 'c'), share('c', 'b')]
    expect(new Set(shares).size).toBe(4)
  })
})
