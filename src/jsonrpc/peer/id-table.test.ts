import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Id } from '../message.ts'
import { IdTable } from './id-table.ts'

describe('IdTable', () => {
  it('behaves like a Map', () => {
    const id: fc.Arbitrary<Id> = fc.oneof(
      { weight: 6, arbitrary: fc.nat({ max: 100 }) },
      fc.nat({ max: 8 }).map(n => n * 4096),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(n => n + 0),
      fc.string({ maxLength: 2 }),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 54n }),
    )
    const step = fc.tuple(fc.boolean(), id)
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), steps => {
        const table = new IdTable<{ id: Id }>()
        const model = new Map<Id, { id: Id }>()
        for (const [isAdded, id] of steps) {
          if (isAdded && !model.has(id)) {
            const thing = { id }
            table.set(id, thing)
            model.set(id, thing)
          } else if (!isAdded) {
            expect(table.delete(id)).toBe(model.delete(id))
          }
          expect(table.get(id)).toBe(model.get(id))
          expect(table.has(id)).toBe(model.has(id))
          expect(table.size).toBe(model.size)
        }
        expect(new Set(table.values())).toEqual(new Set(model.values()))
        expect(table.values()).toHaveLength(model.size)
      }),
      { numRuns: 150 },
    )
  })

  it('keeps 0 and "0" apart, and finds neither before it is there', () => {
    const table = new IdTable<object>()
    expect([table.has(0), table.has('0'), table.delete(0)]).toEqual([false, false, false])
    const zero = {}
    table.set(0, zero)
    expect(table.get(0)).toBe(zero)
    expect(table.has('0')).toBe(false)
  })

  it('gives numbers in their order, and others behind them', () => {
    const table = new IdTable<{ id: Id }>()
    for (const id of ['b', 5, 3, 12, 'a', 4]) table.set(id, { id })
    expect(table.values().map(({ id }) => id)).toEqual([3, 4, 5, 12, 'b', 'a'])
  })

  it('keeps one that stays while thousands come and go', () => {
    const table = new IdTable<{ id: number }>()
    const first = { id: 1 }
    table.set(1, first)
    for (let id = 2; id < 20_000; id++) {
      table.set(id, { id })
      if (id > 65) table.delete(id - 64)
    }
    expect(table.get(1)).toBe(first)
    expect(table.size).toBe(65)
  })
})
