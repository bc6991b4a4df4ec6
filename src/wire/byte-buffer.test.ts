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

test('what was added stays as it was when its chunk changes', () => {
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
