import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConcurrencyLimit } from './concurrency.ts'

/** Enters a limit with calls; the list says which callers entered, in that order. */
function visitorsOf(limit: ConcurrencyLimit) {
  const inside: string[] = []
  const come = (caller: string, signal?: AbortSignal) => {
    limit.admit()
    const turn = limit.enter(caller, signal)
    if (turn === undefined) inside.push(caller)
    return turn?.then(() => void inside.push(caller))
  }
  return { inside, come }
}

describe('a concurrency limit', () => {
  test('admits as many calls as it allows, running and queued, and is full then', () => {
    const limit = new ConcurrencyLimit(2, 1)
    const { come } = visitorsOf(limit)
    expect(come('a')).toBeUndefined()
    expect(come('a')).toBeUndefined()
    expect(limit.isFull).toBe(false)
    expect(come('a')).toBeInstanceOf(Promise)
    expect([limit.running, limit.queued, limit.isFull]).toEqual([2, 1, true])
    limit.leave()
    expect([limit.running, limit.queued, limit.isFull]).toEqual([2, 0, false])
    limit.leave()
    limit.leave()
    expect(limit.running).toBe(0)
  })

  test('lets callers in by turns, and the calls of one caller in order', async () => {
    const limit = new ConcurrencyLimit(1, 100)
    const { inside, come } = visitorsOf(limit)
    const names = ['first', 'a1', 'a2', 'a3', 'b1', 'c1', 'b2', 'a4']
    const turns = names.map(name => {
      limit.admit()
      return limit.enter(name.slice(0, 1))?.then(() => void inside.push(name))
    })
    expect(turns[0]).toBeUndefined()
    for (let left = names.length; left > 0; left--) limit.leave()
    await Promise.all(turns)
    expect(inside).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
    expect([limit.running, limit.queued]).toEqual([0, 0])
    expect(come('z')).toBeUndefined()
  })

  test('lets a caller in again if it is the only one that is queued', async () => {
    const limit = new ConcurrencyLimit(1, 10)
    const { inside, come } = visitorsOf(limit)
    void come('a')
    const turns = [come('a'), come('b')]
    limit.leave()
    const late = come('a')
    limit.leave()
    limit.leave()
    await Promise.all([...turns, late])
    expect(inside).toEqual(['a', 'a', 'b', 'a'])
  })

  test('frees the place of a queued call that is given up', async () => {
    const limit = new ConcurrencyLimit(1, 2)
    const { inside, come } = visitorsOf(limit)
    const giveUp = new AbortController()
    void come('a')
    const given = come('b', giveUp.signal)
    const kept = come('c')
    giveUp.abort(new Error('no longer wanted'))
    await expect(given).rejects.toThrow('no longer wanted')
    expect([limit.queued, limit.isFull]).toEqual([1, false])
    limit.leave()
    await kept
    expect(inside).toEqual(['a', 'c'])
  })

  test('ignores a signal that aborts after the call has entered', async () => {
    const limit = new ConcurrencyLimit(1, 2)
    const { inside, come } = visitorsOf(limit)
    const late = new AbortController()
    void come('a')
    const turn = come('b', late.signal)
    limit.leave()
    late.abort()
    await turn
    expect(inside).toEqual(['a', 'b'])
    expect(limit.running).toBe(1)
  })

  test('does not queue a call whose signal is aborted', async () => {
    const limit = new ConcurrencyLimit(1, 2)
    const { come } = visitorsOf(limit)
    void come('a')
    await expect(come('b', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
    expect(limit.queued).toBe(0)
  })

  test('never runs too many calls, and queues none while there is room', async () => {
    const step = fc.oneof(
      fc.constantFrom('a', 'b', 'c'),
      fc.constantFrom('leave' as const, 'abort' as const),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
        const limit = new ConcurrencyLimit(3, 4)
        const controllers: AbortController[] = []
        const turns: Promise<unknown>[] = []
        for (const what of steps) {
          if (what === 'leave') {
            if (limit.running > 0) limit.leave()
          } else if (what === 'abort') controllers.shift()?.abort()
          else if (!limit.isFull) {
            const controller = new AbortController()
            limit.admit()
            const turn = limit.enter(what, controller.signal)
            if (turn !== undefined) {
              controllers.push(controller)
              turns.push(turn.catch(() => {}))
            }
          }
          expect(limit.running).toBeLessThanOrEqual(3)
          expect(limit.queued).toBeLessThanOrEqual(4)
          if (limit.running < 3) expect(limit.queued).toBe(0)
          expect(limit.isFull).toBe(limit.running + limit.queued === 7)
        }
        while (limit.running > 0) limit.leave()
        await Promise.all(turns)
        expect([limit.running, limit.queued, limit.isFull]).toEqual([0, 0, false])
      }),
    )
  })
})
