import { expect, test } from 'vitest'
import { bounded, fail, none, ok, warn, worst } from './finding.ts'

test('the gravest finding is the verdict', () => {
  expect(worst([])).toBe('not applicable')
  expect(worst([none('a'), ok('b')])).toBe('ok')
  expect(worst([ok('a'), warn('b', 'c'), none('d')])).toBe('warn')
  expect(worst([warn('a', 'b'), fail('c', 'd'), ok('e')])).toBe('fail')
})

test('too many findings of the same kind are counted', () => {
  const many = Array.from({ length: 5 }, (_, at) => fail(`${at}`, 'x'))
  expect(bounded(many, 5)).toEqual(many)
  const shown = bounded([ok('good'), ...many], 3)
  expect(shown.map(({ saw }) => saw)).toEqual(['good', '0', '1', '2', 'and 2 more of the same'])
  expect(worst(shown)).toBe('fail')
})
