import { expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { HeldBytes } from '../../util/sockets/held-bytes.ts'
import { ReadMeter } from './read-meter.ts'

function setup() {
  const held = new HeldBytes(100_000)
  const calls: string[] = []
  const meter = new ReadMeter(held, {
    rest: () => void calls.push('rest'),
    noRoom: () => void calls.push('no room'),
  })
  return { held, calls, meter }
}

test('an incomplete message is held until it is complete', () => {
  const { held, calls, meter } = setup()
  for (let i = 0; i < 3; i++) meter.chunk(Buffer.alloc(50_000))
  expect(held.total).toBe(150_000 - limits.uncountedBytes.default)
  meter.complete()
  expect(held.total).toBe(0)
  for (let i = 0; i < 4; i++) meter.chunk(Buffer.alloc(50_000))
  expect(calls.at(-1)).toBe('no room')
})

test('small chunks cost more than their bytes', () => {
  const { calls, meter } = setup()
  for (let i = 0; i < 1000; i++) meter.chunk(Buffer.alloc(1))
  expect(calls).toContain('no room')
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
