import { describe, expect, it, test } from 'vitest'
import { abortable, deferred, fromThenable, inBatches } from './promises.ts'

describe('abortable', () => {
  it('settles as the work does and stops listening to the signal', async () => {
    const stop = new AbortController()
    expect(await abortable(Promise.resolve(1), stop.signal)).toBe(1)
    expect(await abortable(Promise.resolve(2), undefined)).toBe(2)
    await expect(abortable(Promise.reject(new Error('no')), stop.signal)).rejects.toThrow('no')
  })

  it('rejects with the reason of a signal that aborts first or has aborted before', async () => {
    const work = deferred<number>()
    const stop = new AbortController()
    const waiting = abortable(work.promise, stop.signal)
    stop.abort('given up')
    await expect(waiting).rejects.toBe('given up')
    await expect(abortable(work.promise, stop.signal)).rejects.toBe('given up')
    // The outcome of the work is ignored from then on, a failure included.
    work.reject(new Error('late'))
  })
})

describe('fromThenable', () => {
  test.each([undefined, null, 0, 'text', [1], { n: 1 }])('returns %j unchanged', value => {
    expect(fromThenable(value)).toBe(value)
  })

  test('returns a promise itself and makes a promise of a thenable', async () => {
    const promise = Promise.resolve('value')
    expect(fromThenable(promise)).toBe(promise)
    // biome-ignore lint/suspicious/noThenProperty: that is the point
    const like = fromThenable({ then: promise.then.bind(promise) })
    expect(like).toBeInstanceOf(Promise)
    expect(await like).toBe('value')
  })
})

describe('inBatches', () => {
  test('runs at most that many operations at a time, and keeps the order', async () => {
    let [running, most] = [0, 0]
    const double = async (item: number) => {
      most = Math.max(most, ++running)
      await Promise.resolve()
      running--
      return item * 2
    }
    expect(await inBatches([1, 2, 3, 4, 5], 2, double)).toEqual([2, 4, 6, 8, 10])
    expect(most).toBe(2)
    expect(await inBatches([], 2, double)).toEqual([])
  })
})
