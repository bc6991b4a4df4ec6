import { expect, it } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { UrlElicitations } from './elicit.ts'

it('an elicitation is completed once', () => {
  const elicitations = new UrlElicitations()
  elicitations.add('a')
  elicitations.add(undefined)
  expect([
    elicitations.complete('a'),
    elicitations.complete('a'),
    elicitations.complete('b'),
  ]).toEqual([true, false, false])
})

it('only the latest elicitations are remembered', () => {
  const elicitations = new UrlElicitations()
  const { default: max } = limits.urlElicitations
  for (let n = 0; n < max; n++) elicitations.add(`${n}`)
  elicitations.add('0')
  elicitations.add('more')
  expect([
    elicitations.complete('1'),
    elicitations.complete('0'),
    elicitations.complete('2'),
  ]).toEqual([false, true, true])
})
