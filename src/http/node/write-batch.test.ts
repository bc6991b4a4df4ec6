import { expect, test } from 'vitest'
import { Departures } from './write-batch.ts'

const turn = () => new Promise<void>(resolve => void setImmediate(resolve))

function names(): { readonly left: string[]; readonly named: (name: string) => { leave(): void } } {
  const left: string[] = []
  return { left, named: name => ({ leave: () => left.push(name) }) }
}

test('what is ready leaves at the end of the turn, in the order in which it came', async () => {
  const departures = new Departures()
  const { left, named } = names()
  departures.add(named('a'))
  await Promise.resolve()
  departures.add(named('b'))
  expect(left).toEqual([])
  await turn()
  expect(left).toEqual(['a', 'b'])
  departures.add(named('c'))
  await turn()
  expect(left).toEqual(['a', 'b', 'c'])
})

test('what was let go ahead of the end of the turn does not leave twice', async () => {
  const departures = new Departures()
  const { left, named } = names()
  departures.add(named('a'))
  departures.flush()
  expect(left).toEqual(['a'])
  departures.add(named('b'))
  await turn()
  await turn()
  expect(left).toEqual(['a', 'b'])
})

test('what becomes ready while others leave comes after them', async () => {
  const departures = new Departures()
  const { left, named } = names()
  departures.add({ leave: () => departures.add(named('later')) })
  departures.add(named('first'))
  await turn()
  await turn()
  expect(left).toEqual(['first', 'later'])
})
