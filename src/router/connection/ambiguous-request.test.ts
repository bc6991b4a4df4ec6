import { describe, expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import {
  AmbiguousRequest,
  type AttributionCandidate,
  hasSeveralOwners,
} from './ambiguous-request.ts'

const candidate = (owner: string): AttributionCandidate => ({ owner })

/** A request with these candidates, held for a second, and how it ended. */
function made(candidates: readonly AttributionCandidate[], stop = new AbortController()) {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  const rejection = () => new Error('ambiguous')
  const request = new AmbiguousRequest(candidates, {
    deadlines,
    waitMs: 1000,
    signal: stop.signal,
    rejection,
  })
  let state = 'waiting'
  request.attributed.then(
    () => (state = 'attributed'),
    error => (state = String(error.message)),
  )
  const outcome = async (): Promise<string> => {
    await new Promise(resolve => setImmediate(resolve))
    return state
  }
  return { request, clock, deadlines, stop, outcome }
}

describe('a server request with candidates of two owners', () => {
  test('is held until the candidates of all owners but one are excluded', async () => {
    const [one, other, third] = [candidate('ada'), candidate('ada'), candidate('bob')]
    const { request, outcome, deadlines } = made([one, other, third])
    request.exclude(candidate('bob'))
    expect(await outcome()).toBe('waiting')
    request.exclude(one)
    expect(await outcome()).toBe('waiting')
    request.exclude(third)
    expect(await outcome()).toBe('attributed')
    expect([...request.candidates]).toEqual([other])
    expect(deadlines.size).toBe(0)
  })

  test('is rejected after the time limit, and excluding a candidate later changes nothing', async () => {
    const bob = candidate('bob')
    const { request, clock, outcome } = made([candidate('ada'), bob])
    clock.advance(900)
    expect(await outcome()).toBe('waiting')
    clock.advance(200)
    request.exclude(bob)
    expect(await outcome()).toBe('ambiguous')
  })

  test('counts what replaces an abandoned candidate', async () => {
    const [ada, bob, gone] = [candidate('ada'), candidate('bob'), candidate('bob')]
    const { request, outcome } = made([ada, bob])
    request.replace(bob, gone)
    request.replace(candidate('carl'), candidate('carl'))
    request.exclude(bob)
    expect(await outcome()).toBe('waiting')
    request.exclude(gone)
    expect(await outcome()).toBe('attributed')
  })

  test.each(['before it is held', 'while it is held'])(
    'rejects with the reason of its signal, aborted %s',
    async when => {
      const stop = new AbortController()
      if (when === 'before it is held') stop.abort(new Error('never mind'))
      const { outcome, deadlines } = made([candidate('ada'), candidate('bob')], stop)
      stop.abort(new Error('never mind'))
      expect(await outcome()).toBe('never mind')
      expect(deadlines.size).toBe(0)
    },
  )
})

test.each([
  [[], false],
  [['ada'], false],
  [['ada', 'ada'], false],
  [['ada', 'ada', 'bob'], true],
] as const)('%j has several owners: %s', (owners, expected) => {
  expect(hasSeveralOwners(owners.map(candidate))).toBe(expected)
})
