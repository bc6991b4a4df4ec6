import { expect, test } from 'vitest'
import { OutputTail } from './tail.ts'

test('a tail is everything as long as it is little', () => {
  const tail = new OutputTail(10)
  expect(tail.text).toBe('')
  for (const piece of ['one', ' ', 'two']) tail.push(Buffer.from(piece))
  expect(tail.text).toBe('one two')
})

test('a tail is the last bytes of what is much, however it came', () => {
  const text = Array.from({ length: 1000 }, (_, i) => `${i},`).join('')
  for (const step of [1, 7, 64, 5000]) {
    const tail = new OutputTail(20)
    for (let at = 0; at < text.length; at += step) tail.push(Buffer.from(text.slice(at, at + step)))
    expect(tail.text).toBe(text.slice(-20))
  }
})

test('a tail begins with a whole character', () => {
  const tail = new OutputTail(10)
  tail.push(Buffer.from('🙂🙂🙂🙂'))
  expect(tail.text).toBe('🙂🙂')
})
