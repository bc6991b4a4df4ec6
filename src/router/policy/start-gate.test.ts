import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import { defaultStarts, StartGate } from './start-gate.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))
const never = new AbortController().signal

/** Enters a gate, and collects who is inside. */
function entering(gate: StartGate) {
  const inside = new Map<string, () => void>()
  const enter = (name: string, signal = never): Promise<void> =>
    gate.enter(signal).then(leave => void inside.set(name, leave))
  return { inside, enter }
}

test('lets only so many in at the same time, and the others in their order', async () => {
  const { inside, enter } = entering(new StartGate(2))
  for (const name of ['a', 'b', 'c', 'd']) void enter(name)
  await turn()
  expect([...inside.keys()]).toEqual(['a', 'b'])
  inside.get('b')?.()
  inside.get('b')?.()
  await turn()
  expect([...inside.keys()]).toEqual(['a', 'b', 'c'])
  inside.get('a')?.()
  await turn()
  expect([...inside.keys()]).toEqual(['a', 'b', 'c', 'd'])
})

test('a start that takes long does not keep the next one from starting', async () => {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  const { inside, enter } = entering(new StartGate(1, deadlines))
  for (const name of ['a', 'b', 'c']) void enter(name)
  await turn()
  clock.advance(limits.startTurnMs.default + 100)
  await turn()
  expect([...inside.keys()]).toEqual(['a', 'b'])
  inside.get('a')?.()
  await turn()
  expect([...inside.keys()]).toEqual(['a', 'b'])
  inside.get('b')?.()
  await turn()
  inside.get('c')?.()
  expect([[...inside.keys()], deadlines.size]).toEqual([['a', 'b', 'c'], 0])
})

test('removes a process that does not start any more from the queue', async () => {
  const { inside, enter } = entering(new StartGate(1))
  const stop = new AbortController()
  void enter('a')
  const leaving = enter('b', stop.signal)
  void enter('c')
  await turn()
  stop.abort(new Error('stopped'))
  await expect(leaving).rejects.toThrow('stopped')
  await expect(enter('d', stop.signal)).rejects.toThrow('stopped')
  inside.get('a')?.()
  await turn()
  expect([...inside.keys()]).toEqual(['a', 'c'])
})

test.each([0, -1, Number.NaN])('%s at the same time are refused', max => {
  expect(() => new StartGate(max)).toThrow('concurrentStarts must be at least 1')
})

test('the default depends on the number of cores', () => {
  expect(defaultStarts(8)).toBe(8 * limits.startsPerCore.default)
  expect(defaultStarts()).toBeGreaterThanOrEqual(limits.startsPerCore.default)
})
