import { expect, test } from 'vitest'
import { WriteBatch } from './write-batch.ts'

const turn = () => new Promise<void>(resolve => void setImmediate(resolve))

function names(): { readonly left: string[]; readonly named: (name: string) => { flush(): void } } {
  const left: string[] = []
  return { left, named: name => ({ flush: () => left.push(name) }) }
}

test('items are flushed at the end of the turn, in the order in which they were added', async () => {
  const writeBatch = new WriteBatch()
  const { left, named } = names()
  writeBatch.add(named('a'))
  await Promise.resolve()
  writeBatch.add(named('b'))
  expect(left).toEqual([])
  await turn()
  expect(left).toEqual(['a', 'b'])
  writeBatch.add(named('c'))
  await turn()
  expect(left).toEqual(['a', 'b', 'c'])
})

test('items flushed before the end of the turn are not flushed twice', async () => {
  const writeBatch = new WriteBatch()
  const { left, named } = names()
  writeBatch.add(named('a'))
  writeBatch.flush()
  expect(left).toEqual(['a'])
  writeBatch.add(named('b'))
  await turn()
  await turn()
  expect(left).toEqual(['a', 'b'])
})

test('items added during a flush are flushed after it', async () => {
  const writeBatch = new WriteBatch()
  const { left, named } = names()
  writeBatch.add({ flush: () => writeBatch.add(named('later')) })
  writeBatch.add(named('first'))
  await turn()
  await turn()
  expect(left).toEqual(['first', 'later'])
})
