import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Deadlines } from '../time/deadline.ts'
import { RequestBudget } from './request-budget.ts'

function setup(max = 1_000_000) {
  const clock = fakeClock()
  const budget = new RequestBudget(max, new Deadlines(clock, 1))
  const take = (cost: number) => {
    const request = { cost: 0 }
    return budget.take(request, cost) ? request : undefined
  }
  return { clock, budget, take }
}

test('requests take memory until they are finished', () => {
  const { budget, take } = setup()
  const [first, second] = [take(600_000), take(500_000)]
  expect(second).toBeUndefined()
  if (first !== undefined) budget.release(first)
  expect(take(500_000)).toEqual({ cost: 500_000 })
})

test('one request alone may take more than all of it', () => {
  const { budget, take } = setup()
  expect(take(2_000_000)).toBeDefined()
  expect(take(1)).toBeUndefined()
  expect(budget.used).toBe(2_000_000)
})

test('a cancelled request gives its memory back once, even if its handler never finishes', () => {
  const { clock, budget, take } = setup()
  const [small, large, other] = [take(1000), take(300_000), take(200_000)]
  for (const request of [small, large, other]) if (request !== undefined) budget.abandon(request)
  expect(budget.used).toBe(500_000)
  if (other !== undefined) budget.release(other)
  expect(budget.used).toBe(300_000)
  clock.advance(60_001)
  expect(budget.used).toBe(0)
})
