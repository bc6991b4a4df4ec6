import { expect, it } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { Elicitations } from './elicitations.ts'

it('an elicitation is settled once', () => {
  const elicitations = new Elicitations()
  elicitations.add('a')
  elicitations.add(undefined)
  expect([elicitations.settle('a'), elicitations.settle('a'), elicitations.settle('b')]).toEqual([
    true,
    false,
    false,
  ])
})

it('only so many are remembered, the latest of them', () => {
  const elicitations = new Elicitations()
  const { default: most } = limits.urlElicitations
  for (let n = 0; n < most; n++) elicitations.add(`${n}`)
  elicitations.add('0')
  elicitations.add('more')
  expect([elicitations.settle('1'), elicitations.settle('0'), elicitations.settle('2')]).toEqual([
    false,
    true,
    true,
  ])
})
