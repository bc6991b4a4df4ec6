import { expect, test } from 'vitest'
import { atLeast, isLogLevel, logLevels } from './logging.ts'

test('a message is sent to clients that set its level or a less severe one', () => {
  for (const [rank, level] of logLevels.entries()) {
    expect(logLevels.filter(minimum => atLeast(level, minimum))).toEqual(
      logLevels.slice(0, rank + 1),
    )
  }
})

test('only the eight names are levels', () => {
  expect(logLevels.every(isLogLevel)).toBe(true)
  for (const value of ['', 'warn', 'constructor', 'DEBUG', 0, null, undefined, ['debug']]) {
    expect(isLogLevel(value)).toBe(false)
  }
})
