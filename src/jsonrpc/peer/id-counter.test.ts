import { describe, expect, it } from 'vitest'
import { ChannelError } from '../channel.ts'
import { IdCounter, idLevel, MAX_ID_60_BIT, MAX_SAFE_ID } from './id-counter.ts'

describe('the counter of ids', () => {
  it('begins at one and goes up', () => {
    const ids = new IdCounter()
    expect([ids.next(), ids.next(), ids.next()]).toEqual([1, 2, 3])
    expect(ids.last).toBe(3)
  })

  it('reports 80, 90 and 96 percent once each', () => {
    const reported: [string, number | bigint][] = []
    const ids = new IdCounter({ ceiling: 100, onLevel: (level, id) => reported.push([level, id]) })
    for (let i = 0; i < 100; i++) ids.next()
    expect(reported).toEqual([
      ['warning', 80],
      ['critical', 90],
      ['reserved', 96],
    ])
  })

  it('ends at the ceiling instead of beginning again', () => {
    const ids = new IdCounter({ ceiling: 2 })
    ids.next()
    ids.next()
    expect(() => ids.next()).toThrow(ChannelError)
    expect(() => ids.next()).toThrow(expect.objectContaining({ code: 'id-overflow' }))
  })

  it('stays exact beyond the safe integers, up to 60 bits', () => {
    const ids = new IdCounter({ first: MAX_SAFE_ID - 1, ceiling: MAX_ID_60_BIT })
    expect([ids.next(), ids.next(), ids.next(), ids.next()]).toEqual([
      9007199254740990,
      9007199254740991,
      9007199254740992n,
      9007199254740993n,
    ])
    const last = new IdCounter({ first: MAX_ID_60_BIT, ceiling: MAX_ID_60_BIT })
    expect(last.next()).toBe(1152921504606846975n)
    expect(() => last.next()).toThrow(expect.objectContaining({ code: 'id-overflow' }))
  })

  it.each([
    [0, 'normal'],
    [79, 'normal'],
    [80, 'warning'],
    [90, 'critical'],
    [96, 'reserved'],
  ] as const)('%i of 100 is %s', (id, level) => {
    expect(idLevel(id, 100)).toBe(level)
  })
})
