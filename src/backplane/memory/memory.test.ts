import { describe, expect, test } from 'vitest'
import { backplaneContract } from '../../testing/backplane/contract.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { memory } from './memory.ts'

describe('the contract of a backplane', async () => {
  test.each(await backplaneContract({ connect: async () => memory() }))('$name', ({ run }) => run())
})

describe('the clock', () => {
  test('ends a record after its time to live, and not before', async () => {
    const clock = fakeClock()
    await using backplane = memory({ clock })
    await backplane.store.swap('a', undefined, { value: 'v', ttlMs: 1000 })
    clock.advance(999)
    expect(await backplane.store.get('a')).toEqual({ value: 'v', isFinal: false })
    clock.advance(1)
    expect(await backplane.store.get('a')).toBeUndefined()
  })

  test('lets a tombstone end', async () => {
    const clock = fakeClock()
    await using backplane = memory({ clock })
    const owner = { node: 'a', epoch: 1 }
    await backplane.store.put('a', { value: 'v', ttlMs: 1000 }, owner)
    await backplane.store.delete('a', owner)
    clock.advance(30_000)
    await backplane.store.put('a', { value: 'v', ttlMs: 1000 }, owner)
    expect((await backplane.store.get('a'))?.value).toBe('v')
  })

  test('lets the cluster forget who left long ago, and then a heartbeat returns all members', async () => {
    const clock = fakeClock()
    await using backplane = memory({ clock })
    const { membership } = backplane
    await membership.heartbeat('b', 'B', 1000, 0)
    const { revision } = await membership.heartbeat('a', 'A', 60_000_000, 0)
    clock.advance(1000)
    const gone = await membership.heartbeat('a', 'A', 60_000_000, revision)
    expect(gone.changed).toEqual([{ node: 'b', facts: 'B', isAlive: false, silentMs: 1000 }])
    clock.advance(600_000)
    const old = await membership.heartbeat('a', 'A', 60_000_000, revision)
    expect(old).toMatchObject({ isComplete: true, changed: [{ node: 'a' }] })
    const quiet = await membership.heartbeat('a', 'A', 60_000_000, gone.revision)
    expect(quiet).toMatchObject({ isComplete: false, changed: [] })
  })

  test('needs no timer: what expired is removed by later writes', async () => {
    const clock = fakeClock()
    await using backplane = memory({ clock })
    for (let at = 0; at < 5000; at++) {
      await backplane.store.swap(`k${at}`, undefined, { value: 'v', ttlMs: 10 })
      clock.advance(1)
    }
    expect(clock.pending).toBe(0)
  })
})

test('an unknown option is refused', () => {
  // @ts-expect-error: the option does not exist
  expect(() => memory({ clok: 1 })).toThrow('unknown option "clok"; did you mean "clock"?')
})
