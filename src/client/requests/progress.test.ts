import { expect, test } from 'vitest'
import { type Progress, ProgressHandlers } from './progress.ts'

function watched() {
  const handlers = new ProgressHandlers(error => {
    throw error
  })
  const steps: Progress[] = []
  const progressToken = handlers.watch(step => steps.push(step))
  const report = (progress: number, about?: number) =>
    handlers.onNotification({ progressToken, progress }, about)
  return { handlers, steps, progressToken, report }
}

test('progress must grow', () => {
  const { steps, report } = watched()
  for (const progress of [1, 1, 0, 2, Number.NaN]) report(progress)
  expect(steps.map(step => step.progress)).toEqual([1, 2])
})

test('progress on the stream of another request is dropped', () => {
  const { handlers, steps, progressToken, report } = watched()
  handlers.bind(progressToken, 7)
  report(1, 7)
  report(2, 8)
  report(3)
  expect(steps.map(step => step.progress)).toEqual([1, 3])
})

test('tokens cannot be guessed from others', () => {
  const { handlers } = watched()
  const tokens = Array.from({ length: 50 }, () => String(handlers.watch(() => {})))
  expect(new Set(tokens).size).toBe(50)
  expect(tokens.every(token => token.length >= 12)).toBe(true)
  expect(new Set(tokens.map(token => token.slice(0, 6))).size).toBeGreaterThan(40)
})
