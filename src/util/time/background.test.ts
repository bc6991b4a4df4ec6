import { afterEach, expect, test, vi } from 'vitest'
import { timed } from './deadline.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test('what is to be tidied up later keeps no process alive, and happens all the same', async () => {
  // The deadlines are those of the process: others may have some running.
  vi.resetModules()
  const { housekeeping } = await import('./background.ts')
  vi.useFakeTimers()
  const started = vi.spyOn(globalThis, 'setTimeout')
  const ended = vi.fn()
  const deadlines = housekeeping(undefined)
  deadlines.start(timed(ended), 60_000)
  expect(started.mock.results.map(({ value }) => value.hasRef())).toEqual([false])
  vi.advanceTimersByTime(61_000)
  expect(ended).toHaveBeenCalledOnce()
})
