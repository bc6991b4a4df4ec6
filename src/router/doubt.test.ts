import { describe, expect, test } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { Deadlines } from '../util/deadline.ts'
import { type Candidate, Doubt, haveSeveralOwners } from './doubt.ts'

const candidate = (owner: string): Candidate => ({ owner })

/** A doubt about these, for a second, and what has become of it. */
function made(candidates: readonly Candidate[], stop = new AbortController()) {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  const refusal = () => new Error('nobody knows')
  const doubt = new Doubt(candidates, { deadlines, waitMs: 1000, signal: stop.signal, refusal })
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
    const [one, other, third] = [candidate('ada'), candidate('ada'), candidate('bob')]
    const { doubt, outcome, deadlines } = made([one, other, third])
    doubt.rule(candidate('bob'))
    expect(await outcome()).toBe('waiting')
    doubt.rule(one)
    expect(await outcome()).toBe('waiting')
    doubt.rule(third)
    expect(await outcome()).toBe('cleared')
    expect([...doubt.candidates]).toEqual([other])
    expect(deadlines.size).toBe(0)
  })

  test('is refused when the time is up, and a ruling after that changes nothing', async () => {
    const bob = candidate('bob')
    const { doubt, clock, outcome } = made([candidate('ada'), bob])
    clock.advance(900)
    expect(await outcome()).toBe('waiting')
    clock.advance(200)
    doubt.rule(bob)
    expect(await outcome()).toBe('nobody knows')
  })

  test('counts what stands for one that was given up', async () => {
    const [ada, bob, gone] = [candidate('ada'), candidate('bob'), candidate('bob')]
    const { doubt, outcome } = made([ada, bob])
    doubt.replace(bob, gone)
    doubt.replace(candidate('carl'), candidate('carl'))
    doubt.rule(bob)
    expect(await outcome()).toBe('waiting')
    doubt.rule(gone)
    expect(await outcome()).toBe('cleared')
  })

  test.each(['before it waits', 'while it waits'])('ends with its signal %s', async when => {
    const stop = new AbortController()
    if (when === 'before it waits') stop.abort(new Error('never mind'))
    const { outcome, deadlines } = made([candidate('ada'), candidate('bob')], stop)
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
  expect(haveSeveralOwners(owners.map(candidate))).toBe(expected)
})
