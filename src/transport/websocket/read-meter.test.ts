import { expect, test } from 'vitest'
import { HeldBytes } from '../../util/sockets/held-bytes.ts'
import { ReadMeter } from './read-meter.ts'

function setup() {
  const held = new HeldBytes({ maxHeldBytes: 100_000 })
  const calls: string[] = []
  const meter = new ReadMeter(held, 80_000, {
    rest: () => void calls.push('rest'),
    pause: () => void calls.push('pause'),
    proceed: () => void calls.push('proceed'),
    refuse: () => void calls.push('refuse'),
  })
  const read = (bytes: number): void => {
    meter.chunk(Buffer.alloc(bytes))
    meter.parsed()
  }
  return { held, calls, meter, read }
}

test('an incomplete message is held until it is complete', () => {
  const { held, calls, meter, read } = setup()
  read(50_000)
  expect(held.total).toBe(0)
  read(20_000)
  expect(held.total).toBe(100_000 - 64 * 1024)
  meter.complete()
  expect(held.total).toBe(0)
  const other = held.hold()
  other.set(150_000)
  for (let i = 0; i < 4; i++) read(50_000)
  expect(calls).toContain('pause')
  meter.complete()
  expect(calls.at(-1)).toBe('proceed')
})

test('a message that is complete with its chunk is not held', () => {
  const { held, calls, meter } = setup()
  held.hold().set(200_000)
  meter.chunk(Buffer.alloc(65_000))
  meter.complete()
  meter.parsed()
  expect(calls).toEqual([])
})

test('small chunks cost more than their bytes', () => {
  const { calls, read } = setup()
  for (let i = 0; i < 1000; i++) read(1)
  expect(calls).toContain('refuse')
})

test('pings are not held', () => {
  const { held, meter } = setup()
  const ping = Buffer.alloc(125)
  for (let i = 0; i < 1000; i++) {
    meter.chunk(Buffer.alloc(131 * 500))
    for (let j = 0; j < 500; j++) meter.control(ping)
  }
  expect(held.total).toBe(0)
})

test('reading rests after each 64 KiB', () => {
  const { calls, meter } = setup()
  for (let i = 0; i < 4; i++) {
    meter.chunk(Buffer.alloc(40_000))
    meter.complete()
  }
  expect(calls).toEqual(['rest', 'rest'])
})
