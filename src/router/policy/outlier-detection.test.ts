import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { type ObservedInstance, OutlierDetection } from './outlier-detection.ts'

const ejectMs = limits.outlierEjectionMs.default
const maxEjectMs = limits.outlierMaxEjectionMs.default

type Figures = readonly [errorRate: number, latencyMs: number, recent?: number, restarts?: number]

function outliersOf() {
  const time = { now: 0 }
  /** The ejections that were reported: the instance, the reason and the time. */
  const ejections: [key: string, why: string, inMs: number][] = []
  const outliers = new OutlierDetection(() => time.now)
  const instanceOf = (
    [errorRate, latencyMs, recent = 100, restarts = 0]: Figures,
    at: number,
  ): ObservedInstance => {
    const key = `${at}`
    const recovered = (inMs: number) =>
      ejections.push([key, outliers.why({ key, restarts }) ?? '', inMs])
    return { key, restarts, errorRate, latencyMs, recent, recovered }
  }
  const judge = (...all: readonly Figures[]) => {
    const instances = all.map(instanceOf)
    outliers.check(instances)
    return instances.map(one => outliers.isEjected(one))
  }
  return { outliers, time, ejections, judge }
}

describe('outlier detection', () => {
  test.each<[string, readonly Figures[], readonly boolean[]]>([
    [
      'ejects no instance if all do well',
      [
        [0, 10],
        [0, 12],
        [0.01, 9],
      ],
      [false, false, false],
    ],
    [
      'ejects no instance if all fail',
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
      'does not compare with an instance that had few calls',
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

  test('says why an instance is ejected, and when it gets calls again', () => {
    const { ejections, judge, outliers } = outliersOf()
    judge([0, 10], [0, 10], [0.5, 10], [0, 400.2])
    expect(ejections).toEqual([
      ['2', '50 % of its calls fail (median of the others: 0 %)', ejectMs],
      ['3', 'its calls take 400 ms (median of the others: 10 ms)', ejectMs],
    ])
    expect(outliers.why({ key: '2', restarts: 0 })).toBe(
      '50 % of its calls fail (median of the others: 0 %)',
    )
    expect(outliers.why({ key: '0', restarts: 0 })).toBeUndefined()
  })

  test('ejects an instance twice as long each time, up to a limit, and starts over after a while', () => {
    const { time, ejections, judge, outliers } = outliersOf()
    const good: Figures = [0, 10]
    const bad: Figures = [1, 10]
    const longest = Math.ceil(Math.log2(maxEjectMs / ejectMs)) + 1
    for (let round = 0; round <= longest; round++) {
      judge(good, bad)
      const forMs = ejections.at(-1)?.[2] ?? 0
      expect(forMs).toBe(Math.min(maxEjectMs, ejectMs * 2 ** round))
      time.now += forMs - 1
      expect(outliers.isEjected({ key: '1', restarts: 0 })).toBe(true)
      time.now += 1
      expect(outliers.isEjected({ key: '1', restarts: 0 })).toBe(false)
    }
    time.now += maxEjectMs
    judge(good, good)
    judge(good, bad)
    expect(ejections.at(-1)?.[2]).toBe(ejectMs)
  })

  test('ends an ejection with a restart, and forgets how long it was', () => {
    const { judge, ejections } = outliersOf()
    expect(judge([1, 10], [0, 10])).toEqual([true, false])
    expect(judge([0, 0, 0, 1], [0, 10])).toEqual([false, false])
    expect(judge([1, 10, 100, 1], [0, 10])).toEqual([true, false])
    expect(ejections.map(([, , inMs]) => inMs)).toEqual([ejectMs, ejectMs])
  })

  test('counts ejected instances among the half', () => {
    const { judge } = outliersOf()
    expect(judge([1, 10], [0, 10], [0, 10], [0, 10])).toEqual([true, false, false, false])
    expect(judge([0, 10], [1, 10], [1, 10], [0, 10])).toEqual([true, true, false, false])
    expect(judge([0, 10], [0, 10], [1, 10], [0, 10])).toEqual([true, true, false, false])
  })

  test('ends ejections when too few other instances are left', () => {
    const { judge } = outliersOf()
    expect(judge([1, 10], [0.9, 10], [0, 10], [0, 10])).toEqual([true, true, false, false])
    expect(judge([0, 0, 0], [0, 0, 0]).filter(isOut => isOut)).toHaveLength(1)
    expect(judge([0, 0, 0])).toEqual([false])
  })

  test('requires as many recent calls as the limit says', () => {
    const { judge } = outliersOf()
    const calls = limits.outlierCalls.default
    expect(judge([0, 10, calls], [1, 10, calls])).toEqual([false, true])
  })

  test('never ejects more than half, whatever the statistics', () => {
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
