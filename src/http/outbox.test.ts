import { expect, test } from 'vitest'
import { Outbox } from './outbox.ts'

const turn = () => new Promise<void>(resolve => void setImmediate(resolve))

function names(): { readonly left: string[]; readonly named: (name: string) => { leave(): void } } {
  const left: string[] = []
  return { left, named: name => ({ leave: () => left.push(name) }) }
}

test('what is ready leaves at the end of the turn, in the order in which it came', async () => {
  const outbox = new Outbox()
  const { left, named } = names()
  outbox.add(named('a'))
  await Promise.resolve()
  outbox.add(named('b'))
  expect(left).toEqual([])
  await turn()
  expect(left).toEqual(['a', 'b'])
  outbox.add(named('c'))
  await turn()
  expect(left).toEqual(['a', 'b', 'c'])
})

test('what was let go ahead of the end of the turn does not leave twice', async () => {
  const outbox = new Outbox()
  const { left, named } = names()
  outbox.add(named('a'))
  outbox.flush()
  expect(left).toEqual(['a'])
  outbox.add(named('b'))
  await turn()
  await turn()
  expect(left).toEqual(['a', 'b'])
})

test('what becomes ready while others leave comes after them', async () => {
  const outbox = new Outbox()
  const { left, named } = names()
  outbox.add({ leave: () => outbox.add(named('later')) })
  outbox.add(named('first'))
  await turn()
  await turn()
  expect(left).toEqual(['first', 'later'])
})
