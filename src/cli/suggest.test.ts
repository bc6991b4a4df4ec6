import { expect, test } from 'vitest'
import { suggestName } from './suggest.ts'

const known = ['everything__get-sum', 'everything__echo', 'web_find', 'a__find', 'forecast']

test.each([
  ['get-sum', '; did you mean "everything__get-sum"?'],
  ['get-sim', '; did you mean "everything__get-sum"?'],
  ['find', '; did you mean "web_find" or "a__find"?'],
  ['forcast', '; did you mean "forecast"?'],
  ['sum', '; did you mean "everything__get-sum"?'],
  ['nothing-like-it', ''],
])('for %s suggests%s', (name, expected) => {
  expect(suggestName(name, known)).toBe(expected)
})
