import { expect, test } from 'vitest'
import { limits } from '../limits/limits.ts'
import { HeldBytes } from './held-bytes.ts'

const MiB = 1024 * 1024
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

function setup() {
  const held = new HeldBytes({ maxHeldBytes: 10 * MiB })
  const handled: string[] = []
  const defer = (name: string, responseBytes = 0): void =>
    held.turns.defer(0, () => {
      handled.push(name)
      if (responseBytes > 0) held.hold(() => {}).set(responseBytes)
    })
  return { held, defer, handled }
}

test('turns are open while little is held and nothing waits', async () => {
  const { held, defer } = setup()
  expect(held.turns.isOpen).toBe(true)
  const holding = held.hold(() => {})
  holding.set(6 * MiB)
  expect(held.turns.isOpen).toBe(false)
  defer('later')
  holding.set(0)
  expect(held.turns.isOpen).toBe(false)
  await turn()
  expect(held.turns.isOpen).toBe(true)
})

test('a turn ends after a response that is not read', async () => {
  const { held, defer, handled } = setup()
  held.hold(() => {}).set(6 * MiB)
  defer('small')
  defer('large', MiB)
  defer('next')
  expect(handled).toEqual([])
  await turn()
  expect(handled).toEqual(['small', 'large'])
  await turn()
  expect(handled).toEqual(['small', 'large', 'next'])
})

test('a turn also ends if others were disconnected for that response', async () => {
  const { held, defer, handled } = setup()
  const unread = held.hold(() => unread.set(0))
  unread.set(6 * MiB)
  defer('large', 6 * MiB)
  defer('next')
  await turn()
  expect([handled, held.isOver]).toEqual([['large'], false])
})

test('incomplete messages defer nothing', () => {
  const { held } = setup()
  held.hold().set(6 * MiB)
  expect(held.turns.isOpen).toBe(true)
})

test('a turn ends after so many bytes, and small messages count, too', async () => {
  const { held, handled } = setup()
  const { default: max } = limits.listenerTurnBytes
  held.turns.spend(max - 1)
  expect(held.turns.isOpen).toBe(true)
  held.turns.spend(1)
  expect(held.turns.isOpen).toBe(false)
  await turn()
  expect(held.turns.isOpen).toBe(true)
  for (let i = 0; i < max / 1024; i++) held.turns.spend(1)
  expect(held.turns.isOpen).toBe(false)
  for (const name of ['a', 'b', 'c']) held.turns.defer(max / 2, () => void handled.push(name))
  await turn()
  expect(handled).toEqual(['a', 'b'])
  await turn()
  expect(handled).toEqual(['a', 'b', 'c'])
  await turn()
  expect(held.turns.isOpen).toBe(true)
})
