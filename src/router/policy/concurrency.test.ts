import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Gate } from './concurrency.ts'

/** Comes to a gate; the list says who got in, in that order. */
function visitorsOf(gate: Gate) {
  const inside: string[] = []
  const come = (caller: string, signal?: AbortSignal) => {
    gate.admit()
    const turn = gate.enter(caller, signal)
    if (turn === undefined) inside.push(caller)
    return turn?.then(() => void inside.push(caller))
  }
  return { inside, come }
}

describe('a gate', () => {
  test('lets so many in at once, keeps so many waiting, and is full then', () => {
    const gate = new Gate(2, 1)
    const { come } = visitorsOf(gate)
    expect(come('a')).toBeUndefined()
    expect(come('a')).toBeUndefined()
    expect(gate.isFull).toBe(false)
    expect(come('a')).toBeInstanceOf(Promise)
    expect([gate.running, gate.waiting, gate.isFull]).toEqual([2, 1, true])
    gate.leave()
    expect([gate.running, gate.waiting, gate.isFull]).toEqual([2, 0, false])
    gate.leave()
    gate.leave()
    expect(gate.running).toBe(0)
  })

  test('lets callers in by turns, and the calls of one in order', async () => {
    const gate = new Gate(1, 100)
    const { inside, come } = visitorsOf(gate)
    const names = ['first', 'a1', 'a2', 'a3', 'b1', 'c1', 'b2', 'a4']
    const turns = names.map(name => {
      gate.admit()
      return gate.enter(name.slice(0, 1))?.then(() => void inside.push(name))
    })
    expect(turns[0]).toBeUndefined()
    for (let left = names.length; left > 0; left--) gate.leave()
    await Promise.all(turns)
    expect(inside).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
    expect([gate.running, gate.waiting]).toEqual([0, 0])
    expect(come('z')).toBeUndefined()
  })

  test('a caller that waits alone does not lose its turn to itself', async () => {
    const gate = new Gate(1, 10)
    const { inside, come } = visitorsOf(gate)
    void come('a')
    const turns = [come('a'), come('b')]
    gate.leave()
    const late = come('a')
    gate.leave()
    gate.leave()
    await Promise.all([...turns, late])
    expect(inside).toEqual(['a', 'a', 'b', 'a'])
  })

  test('one that waits can be given up, and takes no place then', async () => {
    const gate = new Gate(1, 2)
    const { inside, come } = visitorsOf(gate)
    const giveUp = new AbortController()
    void come('a')
    const given = come('b', giveUp.signal)
    const kept = come('c')
    giveUp.abort(new Error('no longer wanted'))
    await expect(given).rejects.toThrow('no longer wanted')
    expect([gate.waiting, gate.isFull]).toEqual([1, false])
    gate.leave()
    await kept
    expect(inside).toEqual(['a', 'c'])
  })

  test('a signal that aborts after the turn has come changes nothing', async () => {
    const gate = new Gate(1, 2)
    const { inside, come } = visitorsOf(gate)
    const late = new AbortController()
    void come('a')
    const turn = come('b', late.signal)
    gate.leave()
    late.abort()
    await turn
    expect(inside).toEqual(['a', 'b'])
    expect(gate.running).toBe(1)
  })

  test('one that comes with an aborted signal does not wait', async () => {
    const gate = new Gate(1, 2)
    const { come } = visitorsOf(gate)
    void come('a')
    await expect(come('b', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
    expect(gate.waiting).toBe(0)
  })

  test('whatever comes and goes, there are never too many, and nobody waits beside a free place', async () => {
    const step = fc.oneof(
      fc.constantFrom('a', 'b', 'c'),
      fc.constantFrom('leave' as const, 'abort' as const),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
        const gate = new Gate(3, 4)
        const controllers: AbortController[] = []
        const turns: Promise<unknown>[] = []
        for (const what of steps) {
          if (what === 'leave') {
            if (gate.running > 0) gate.leave()
          } else if (what === 'abort') controllers.shift()?.abort()
          else if (!gate.isFull) {
            const controller = new AbortController()
            gate.admit()
            const turn = gate.enter(what, controller.signal)
            if (turn !== undefined) {
              controllers.push(controller)
              turns.push(turn.catch(() => {}))
            }
          }
          expect(gate.running).toBeLessThanOrEqual(3)
          expect(gate.waiting).toBeLessThanOrEqual(4)
          if (gate.running < 3) expect(gate.waiting).toBe(0)
          expect(gate.isFull).toBe(gate.running + gate.waiting === 7)
        }
        while (gate.running > 0) gate.leave()
        await Promise.all(turns)
        expect([gate.running, gate.waiting, gate.isFull]).toEqual([0, 0, false])
      }),
    )
  })
})
