import { describe, expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import { Doubt, haveSeveralOwners, type Suspect } from './ambiguous-request.ts'

const suspect = (owner: string): Suspect => ({ owner })

/** A doubt about these, for a second, and what has become of it. */
function made(suspects: readonly Suspect[], stop = new AbortController()) {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  const refusal = () => new Error('nobody knows')
  const doubt = new Doubt(suspects, { deadlines, waitMs: 1000, signal: stop.signal, refusal })
  let state = 'waiting'
  doubt.cleared.then(
    () => (state = 'cleared'),
    error => (state = String(error.message)),
  )
  const outcome = async (): Promise<string> => {
    await new Promise(resolve => setImmediate(resolve))
    return state
  }
  return { doubt, clock, deadlines, stop, outcome }
}

describe('a question that could be that of two owners', () => {
  test('waits until all but one of them are ruled out, calls of the same owner counting as one', async () => {
    const [one, other, third] = [suspect('ada'), suspect('ada'), suspect('bob')]
    const { doubt, outcome, deadlines } = made([one, other, third])
    doubt.rule(suspect('bob'))
    expect(await outcome()).toBe('waiting')
    doubt.rule(one)
    expect(await outcome()).toBe('waiting')
    doubt.rule(third)
    expect(await outcome()).toBe('cleared')
    expect([...doubt.suspects]).toEqual([other])
    expect(deadlines.size).toBe(0)
  })

  test('is refused when the time is up, and a ruling after that changes nothing', async () => {
    const bob = suspect('bob')
    const { doubt, clock, outcome } = made([suspect('ada'), bob])
    clock.advance(900)
    expect(await outcome()).toBe('waiting')
    clock.advance(200)
    doubt.rule(bob)
    expect(await outcome()).toBe('nobody knows')
  })

  test('counts what stands for one that was given up', async () => {
    const [ada, bob, gone] = [suspect('ada'), suspect('bob'), suspect('bob')]
    const { doubt, outcome } = made([ada, bob])
    doubt.replace(bob, gone)
    doubt.replace(suspect('carl'), suspect('carl'))
    doubt.rule(bob)
    expect(await outcome()).toBe('waiting')
    doubt.rule(gone)
    expect(await outcome()).toBe('cleared')
  })

  test.each(['before it waits', 'while it waits'])('ends with its signal %s', async when => {
    const stop = new AbortController()
    if (when === 'before it waits') stop.abort(new Error('never mind'))
    const { outcome, deadlines } = made([suspect('ada'), suspect('bob')], stop)
    stop.abort(new Error('never mind'))
    expect(await outcome()).toBe('never mind')
    expect(deadlines.size).toBe(0)
  })
})

test.each([
  [[], false],
  [['ada'], false],
  [['ada', 'ada'], false],
  [['ada', 'ada', 'bob'], true],
] as const)('of %j there are several owners: %s', (owners, expected) => {
  expect(haveSeveralOwners(owners.map(suspect))).toBe(expected)
})
