import { expect, it } from 'vitest'
import { orAborted } from './abort.ts'
import { deferred } from './deferred.ts'

it('gives what the work gives, and listens to the signal no longer', async () => {
  const stop = new AbortController()
  expect(await orAborted(Promise.resolve(1), stop.signal)).toBe(1)
  expect(await orAborted(Promise.resolve(2), undefined)).toBe(2)
  await expect(orAborted(Promise.reject(new Error('no')), stop.signal)).rejects.toThrow('no')
})

it('rejects with the reason of a signal that aborts first, or has before', async () => {
  const work = deferred<number>()
  const stop = new AbortController()
  const waiting = orAborted(work.promise, stop.signal)
  stop.abort('given up')
  await expect(waiting).rejects.toBe('given up')
  await expect(orAborted(work.promise, stop.signal)).rejects.toBe('given up')
  // What comes of the work is nobody's any more, a failure included.
  work.reject(new Error('late'))
})
