import { expect, test } from 'vitest'
import { fail, limitFindings, notApplicable, ok, warn, worst } from './finding.ts'

test('the most severe finding determines the status', () => {
  expect(worst([])).toBe('not applicable')
  expect(worst([notApplicable('a'), ok('b')])).toBe('ok')
  expect(worst([ok('a'), warn('b', 'c'), notApplicable('d')])).toBe('warn')
  expect(worst([warn('a', 'b'), fail('c', 'd'), ok('e')])).toBe('fail')
})

test('surplus findings are counted', () => {
  const many = Array.from({ length: 5 }, (_, at) => fail(`${at}`, 'x'))
  expect(limitFindings(many, 5)).toEqual(many)
  const shown = limitFindings([ok('good'), ...many], 3)
  expect(shown.map(({ message }) => message)).toEqual([
    'good',
    '0',
    '1',
    '2',
    'and 2 more like these',
  ])
  expect(worst(shown)).toBe('fail')
})
