import { describe, expect, test } from 'vitest'
import { FrameQueue } from './frame-queue.ts'

function taken(queue: FrameQueue): string[] {
  const texts: string[] = []
  for (let piece = queue.take(); piece !== undefined; piece = queue.take()) {
    texts.push(piece.isLast ? `${piece.bytes}|` : `${piece.bytes}`)
  }
  return texts
}

describe('frames that wait', () => {
  test('are taken in pieces, texts and bytes in their order', () => {
    const queue = new FrameQueue()
    queue.add('abcde', 2)
    queue.add(Buffer.from('fghij'), 3)
    queue.add('k', 2)
    expect(taken(queue)).toEqual(['ab', 'cd', 'e|', 'fgh', 'ij|', 'k|'])
    expect([queue.isEmpty, queue.unsent, queue.retained]).toEqual([true, 0, 0])
  })

  test('are not divided within a character', () => {
    const queue = new FrameQueue()
    queue.add('a😀b😀😀', 2)
    expect(taken(queue).join('')).toBe('a😀b😀😀|')
  })

  test('count as retained until their last piece is taken', () => {
    const queue = new FrameQueue()
    queue.add('x'.repeat(100), 40)
    queue.take()
    queue.take()
    expect([queue.unsent, queue.retained]).toEqual([20, 100])
    queue.take()
    expect([queue.unsent, queue.retained]).toEqual([0, 0])
  })

  test('count as much as they take in memory', () => {
    const queue = new FrameQueue()
    queue.add(`${'x'.repeat(99)}漢`, 1000)
    expect(queue.retained).toBe(200)
    queue.clear()
    queue.add('漢'.repeat(100), 1000)
    expect(queue.retained).toBe(300)
  })

  test('are not kept alive by their last piece', () => {
    const queue = new FrameQueue()
    queue.add(Buffer.alloc(1_000_000), 600_000)
    queue.take()
    expect(queue.take()?.bytes.buffer.byteLength).toBe(400_000)
  })
})
