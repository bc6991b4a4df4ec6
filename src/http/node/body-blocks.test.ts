import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodyBlocks } from './body-blocks.ts'

test('the bytes of a body are those of its chunks, however it is split', () => {
  const sizes = fc.array(fc.oneof(fc.nat(10), fc.nat(40_000)), { maxLength: 50 })
  fc.assert(
    fc.property(sizes, lengths => {
      const blocks = new BodyBlocks()
      const chunks = lengths.map((length, at) => Buffer.alloc(length, at))
      for (const chunk of chunks) blocks.add(chunk)
      const all = Buffer.concat(chunks)
      expect(blocks.size).toBe(all.length)
      expect(all.equals(blocks.take())).toBe(true)
      expect(blocks.size).toBe(0)
    }),
  )
})

test('a large chunk that comes alone is not copied', () => {
  const blocks = new BodyBlocks()
  const chunk = Buffer.alloc(20_000)
  blocks.add(chunk)
  expect(blocks.take()).toBe(chunk)
})
