import { expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { boundedVerdicts } from './version-cache.ts'

const verdict = { era: 'session', at: 0 } as const

test('the server talked to longest ago is forgotten first', () => {
  const verdicts = boundedVerdicts(2)
  verdicts.set('a', verdict)
  verdicts.set('b', verdict)
  verdicts.set('a', verdict)
  verdicts.set('c', verdict)
  expect(['a', 'b', 'c'].map(name => verdicts.get(name) !== undefined)).toEqual([true, false, true])
})

test('so many are kept unless said otherwise', () => {
  const verdicts = boundedVerdicts()
  for (let i = 0; i <= limits.verdicts.default; i++) verdicts.set(`${i}`, verdict)
  expect(verdicts.get('0')).toBeUndefined()
  expect(verdicts.get('1')).toBe(verdict)
})

test('a wrong one is taken back', () => {
  const verdicts = boundedVerdicts()
  verdicts.set('a', verdict)
  verdicts.delete('a')
  expect(verdicts.get('a')).toBeUndefined()
})
