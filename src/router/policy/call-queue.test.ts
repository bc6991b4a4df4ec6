import { expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import type { Priority } from '../options.ts'
import { CallQueue } from './call-queue.ts'

function queueOf(...calls: readonly (readonly [caller: string, priority: Priority])[]) {
  const queue = new CallQueue()
  for (const [caller, priority] of calls) queue.add({ caller, priority, enter: () => {} })
  const drain = (): string[] => {
    const order: string[] = []
    for (let next = queue.next(); next !== undefined; next = queue.next()) {
      order.push(`${next.caller} ${next.priority}`)
    }
    return order
  }
  return { queue, drain }
}

test('urgent calls come first, whenever they came', () => {
  const { drain } = queueOf(['a', 'low'], ['a', 'normal'], ['b', 'high'], ['a', 'high'])
  expect(drain()).toEqual(['b high', 'a high', 'a normal', 'a low'])
})

test('calls of one priority come round-robin by caller', () => {
  const { drain } = queueOf(['a', 'low'], ['a', 'low'], ['a', 'low'], ['b', 'low'], ['c', 'low'])
  expect(drain()).toEqual(['a low', 'b low', 'c low', 'a low', 'a low'])
})

test('no call waits for more than a few urgent ones', () => {
  const { queue } = queueOf(['n', 'normal'], ['l', 'low'])
  const order: string[] = []
  for (let turn = 0; turn < 3 * limits.priorityPasses.default; turn++) {
    queue.add({ caller: 'h', priority: 'high', enter: () => {} })
    order.push(queue.next()?.caller ?? '')
  }
  const passes = limits.priorityPasses.default
  expect([...order.slice(0, passes)]).toEqual(Array(passes).fill('h'))
  expect(order.indexOf('n')).toBeGreaterThanOrEqual(passes)
  expect(order.indexOf('l')).toBeGreaterThanOrEqual(passes)
  expect(Math.max(order.indexOf('n'), order.indexOf('l'))).toBeLessThanOrEqual(passes + 1)
})

test('a call that is removed does not get a turn', () => {
  const { queue, drain } = queueOf(['a', 'normal'])
  const call = { caller: 'b', priority: 'high' as const, enter: () => {} }
  queue.add(call)
  queue.remove(call)
  queue.remove(call)
  expect(queue.size).toBe(1)
  expect(drain()).toEqual(['a normal'])
})
