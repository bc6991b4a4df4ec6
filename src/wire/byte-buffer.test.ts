import fc from 'fast-check'
import { expect, test } from 'vitest'
import { held } from '../../test/fuzz/cost.ts'
import { latin1 } from '../../test/fuzz/reading.ts'
import { ByteBuffer } from './byte-buffer.ts'

const MiB = 1024 * 1024

test('what was added is taken in one piece, and then there is nothing', () => {
  const gather = new ByteBuffer(100)
  gather.add(latin1('abc'), 0, 3)
  gather.add(latin1('xdex'), 1, 3)
  gather.add(latin1('x'), 1, 1)
  expect(gather.size).toBe(5)
  expect(Buffer.from(gather.take()).toString()).toBe('abcde')
  expect(gather.size).toBe(0)
  expect(gather.take()).toHaveLength(0)
})

test('a small chunk is copied', () => {
  const gather = new ByteBuffer(100)
  const chunk = latin1('abc')
  gather.add(chunk, 0, 3)
  chunk.fill(0)
  expect(Buffer.from(gather.take()).toString()).toBe('abc')
})

test.each<[how: string, empty: (gather: ByteBuffer) => unknown]>([
  ['taken', gather => gather.take()],
  ['cleared', gather => gather.clear()],
])('no room is kept once a large piece was %s', (_, empty) => {
  const gathers = Array.from({ length: 16 }, () => new ByteBuffer(MiB))
  const most = held(1, () => {
    for (const gather of gathers) {
      gather.add(new Uint8Array(MiB), 0, MiB)
      empty(gather)
    }
  })
  expect(most).toBeLessThan(4 * MiB)
})

test('no room is made beyond what can come', () => {
  const gathers = Array.from({ length: 16 }, () => new ByteBuffer(MiB))
  const most = held(1, () => {
    for (const gather of gathers) {
      gather.add(new Uint8Array(MiB - 1), 0, MiB - 1)
      gather.add(Uint8Array.of(1), 0, 1)
    }
  })
  expect(most).toBeLessThan(20 * MiB)
})

test('what was added is taken as it came, however it is split', () => {
  const sizes = fc.array(fc.oneof(fc.nat(10), fc.nat(20_000), fc.nat(90_000)), { maxLength: 30 })
  fc.assert(
    fc.property(sizes, lengths => {
      const gather = new ByteBuffer(10 * MiB)
      const chunks = lengths.map((length, at) => new Uint8Array(length).fill(at))
      for (const chunk of chunks) gather.add(chunk, 0, chunk.length)
      const all = Buffer.concat(chunks)
      expect(gather.size).toBe(all.length)
      expect(all.equals(gather.take())).toBe(true)
      expect(gather.size).toBe(0)
    }),
  )
})

test.each([[1], [1000], [16_384], [65_536]])(
  'a long frame in chunks of %d bytes takes hardly more memory than it has bytes',
  size => {
    const gather = new ByteBuffer(4 * MiB)
    for (let at = 0; at < MiB; at += size) gather.add(new Uint8Array(size), 0, size)
    expect(gather.capacity).toBeGreaterThanOrEqual(gather.size)
    expect(gather.capacity).toBeLessThan(1.1 * MiB)
  },
)

test('the memory of a chunk that is kept for a part of it counts', () => {
  const gather = new ByteBuffer(4 * MiB)
  const chunk = new Uint8Array(60_000)
  gather.add(chunk, 20_000, 60_000)
  expect([gather.size, gather.capacity]).toEqual([40_000, 60_000])
})
