import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { type Judged, Outliers } from './outlier-detection.ts'

const ejectMs = limits.outlierMs.default
const maxEjectMs = limits.outlierMaxMs.default

type Figures = readonly [errorRate: number, latencyMs: number, recent?: number]

function outliersOf() {
  const time = { now: 0 }
  /** What instances that were put out were told, and why they were. */
  const told: [key: string, why: string, inMs: number][] = []
  const outliers = new Outliers(() => time.now)
  const instanceOf = ([errorRate, latencyMs, recent = 100]: Figures, at: number): Judged => {
    const key = `${at}`
    const recovered = (inMs: number) => told.push([key, outliers.why(key) ?? '', inMs])
    return { key, errorRate, latencyMs, recent, recovered }
  }
  const judge = (...all: readonly Figures[]) => {
    outliers.judge(all.map(instanceOf))
    return all.map((_, at) => outliers.isEjected(`${at}`))
  }
  return { outliers, time, told, judge }
}

describe('among the instances of a server', () => {
  test.each<[string, readonly Figures[], readonly boolean[]]>([
    [
      'nobody is out where all do well',
      [
        [0, 10],
        [0, 12],
        [0.01, 9],
      ],
      [false, false, false],
    ],
    [
      'nobody is out where all fail',
      [
        [1, 10],
        [0.9, 12],
        [1, 9],
      ],
      [false, false, false],
    ],
    [
      'one that fails is out',
      [
        [0, 10],
        [0.31, 10],
        [0, 10],
      ],
      [false, true, false],
    ],
    [
      'one that fails a little is not',
      [
        [0, 10],
        [0.2, 10],
        [0, 10],
      ],
      [false, false, false],
    ],
    [
      'one that is slow is out',
      [
        [0, 10],
        [0, 10],
        [0, 35],
      ],
      [false, false, true],
    ],
    [
      'one that is twice as slow is not',
      [
        [0, 100],
        [0, 100],
        [0, 200],
      ],
      [false, false, false],
    ],
    [
      'one that is slow by little is not',
      [
        [0, 1],
        [0, 1],
        [0, 15],
      ],
      [false, false, false],
    ],
    [
      'of two the bad one is out',
      [
        [0.5, 10],
        [0, 10],
      ],
      [true, false],
    ],
    ['one alone is never out', [[1, 9999]], [false]],
    [
      'one with few calls is not judged',
      [
        [0, 10],
        [0, 10],
        [1, 10, 9],
      ],
      [false, false, false],
    ],
    [
      'nobody is judged by one with few calls',
      [
        [0, 10, 9],
        [1, 10],
      ],
      [false, false],
    ],
    [
      'of three only one is out',
      [
        [0.9, 10],
        [0.4, 10],
        [0, 10],
      ],
      [true, false, false],
    ],
    [
      'the worst half is out, failing before slow',
      [
        [0, 10],
        [0, 9000],
        [0.4, 10],
        [0.9, 10],
        [0, 10],
      ],
      [false, false, true, true, false],
    ],
  ])('%s', (_, all, out) => {
    expect(outliersOf().judge(...all)).toEqual(out)
  })

  test('it is said why, and the one that is out is told when it is back', () => {
    const { told, judge, outliers } = outliersOf()
    judge([0, 10], [0, 10], [0.5, 10], [0, 400.2])
    expect(told).toEqual([
      ['2', '50 % of its calls fail, elsewhere 0 %', ejectMs],
      ['3', 'its calls take 400 ms, elsewhere 10 ms', ejectMs],
    ])
    expect(outliers.why('2')).toBe('50 % of its calls fail, elsewhere 0 %')
    expect(outliers.why('0')).toBeUndefined()
  })

  test('it is out twice as long each time, up to a limit, and begins anew after a good time', () => {
    const { time, told, judge, outliers } = outliersOf()
    const good: Figures = [0, 10]
    const bad: Figures = [1, 10]
    const longest = Math.ceil(Math.log2(maxEjectMs / ejectMs)) + 1
    for (let round = 0; round <= longest; round++) {
      judge(good, bad)
      const forMs = told.at(-1)?.[2] ?? 0
      expect(forMs).toBe(Math.min(maxEjectMs, ejectMs * 2 ** round))
      time.now += forMs - 1
      expect(outliers.isEjected('1')).toBe(true)
      time.now += 1
      expect(outliers.isEjected('1')).toBe(false)
    }
    time.now += maxEjectMs
    judge(good, good)
    judge(good, bad)
    expect(told.at(-1)?.[2]).toBe(ejectMs)
  })

  test('instances that are out count among the half', () => {
    const { judge } = outliersOf()
    expect(judge([1, 10], [0, 10], [0, 10], [0, 10])).toEqual([true, false, false, false])
    expect(judge([0, 10], [1, 10], [1, 10], [0, 10])).toEqual([true, true, false, false])
    expect(judge([0, 10], [0, 10], [1, 10], [0, 10])).toEqual([true, true, false, false])
  })

  test('those that are out come back when too few others are left', () => {
    const { judge } = outliersOf()
    expect(judge([1, 10], [0.9, 10], [0, 10], [0, 10])).toEqual([true, true, false, false])
    expect(judge([0, 0, 0], [0, 0, 0]).filter(isOut => isOut)).toHaveLength(1)
    expect(judge([0, 0, 0])).toEqual([false])
  })

  test('the number of recent calls it takes is the named limit', () => {
    const { judge } = outliersOf()
    const calls = limits.outlierCalls.default
    expect(judge([0, 10, calls], [1, 10, calls])).toEqual([false, true])
  })

  test('never is more than half out, whatever the figures', () => {
    const figures = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(10_000), fc.nat(30))
    const rounds = fc.array(fc.tuple(fc.nat(100_000), fc.array(figures, { maxLength: 9 })))
    fc.assert(
      fc.property(rounds, all => {
        const { time, judge } = outliersOf()
        for (const [later, instances] of all) {
          time.now += later
          const out = judge(...instances).filter(isOut => isOut).length
          expect(out).toBeLessThanOrEqual(instances.length / 2)
        }
      }),
    )
  })
})
