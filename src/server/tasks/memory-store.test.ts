import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { MemoryTaskStore } from './memory-store.ts'
import type { TaskRecord } from './store.ts'

const now = new Date(0).toISOString()

function record(id: string, more: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id,
    tool: 'slow',
    design: 'core',
    status: 'working',
    createdAt: now,
    updatedAt: now,
    ttlMs: 100,
    ...more,
  }
}

describe('tasks in memory', () => {
  it('are found until their time is up, and then are gone without a trace', () => {
    const clock = fakeClock()
    const store = new MemoryTaskStore({ clock })
    store.add(record('a'))
    store.add(record('b', { ttlMs: 50 }))
    clock.advance(50)
    expect(store.get('b')).toBeUndefined()
    expect(store.get('a')).toMatchObject({ id: 'a' })
    expect(store.size).toBe(1)
    clock.advance(50)
    expect([store.get('a'), store.size]).toEqual([undefined, 0])
    clock.advance(1)
    expect(clock.pending).toBe(0)
  })

  it('change until they are over, and never after', () => {
    const store = new MemoryTaskStore({ clock: fakeClock() })
    store.add(record('a'))
    expect(store.put(record('a', { status: 'input_required' }))).toBe(true)
    expect(store.put(record('a', { status: 'cancelled' }))).toBe(true)
    expect(store.put(record('a', { status: 'completed' }))).toBe(false)
    expect(store.get('a')?.status).toBe('cancelled')
    expect(store.put(record('x'))).toBe(false)
  })

  it('are listed for their owner alone, oldest first', () => {
    const store = new MemoryTaskStore({ clock: fakeClock() })
    store.add(record('a', { principal: 'ada' }))
    store.add(record('b', { session: 'ada' }))
    store.add(record('c', { principal: 'ada' }))
    store.add(record('d'))
    const ids = (owner: object) => store.list(owner).map(({ id }) => id)
    expect(ids({ principal: 'ada' })).toEqual(['a', 'c'])
    expect(ids({ session: 'ada' })).toEqual(['b'])
    expect(ids({})).toEqual(['d'])
  })

  it('are limited for one caller and for all, by default to the documented limits', () => {
    const store = new MemoryTaskStore({ clock: fakeClock() })
    const fill = (principal: string, count: number) => {
      for (let i = 0; i < count; i++) store.add(record(`${principal} ${i}`, { principal }))
    }
    fill('0', limits.tasksPerCaller.default)
    expect(() => store.add(record('x', { principal: '0' }))).toThrow(/Maximum concurrent tasks/)
    for (let i = 1; i < limits.tasks.default / limits.tasksPerCaller.default; i++) {
      fill(`${i}`, limits.tasksPerCaller.default)
    }
    expect(() => store.add(record('y', { principal: 'new' }))).toThrow(/Maximum concurrent tasks/)
  })

  it('that are final make room, and the oldest of them go first', () => {
    const store = new MemoryTaskStore({
      clock: fakeClock(),
      max: 3,
      maxPerCaller: 2,
      maxFinished: 4,
      maxFinishedPerCaller: 3,
    })
    const run = (id: string, principal: string) => {
      store.add(record(id, { principal }))
      store.put(record(id, { principal, status: 'completed' }))
    }
    for (let i = 0; i < 5; i++) run(`a${i}`, 'ada')
    const ids = (principal: string) => store.list({ principal }).map(({ id }) => id)
    expect(ids('ada')).toEqual(['a2', 'a3', 'a4'])
    run('b0', 'bob')
    run('b1', 'bob')
    expect([ids('ada'), ids('bob')]).toEqual([
      ['a3', 'a4'],
      ['b0', 'b1'],
    ])
    store.add(record('a5', { principal: 'ada' }))
    store.add(record('a6', { principal: 'ada' }))
    expect(() => store.add(record('a7', { principal: 'ada' }))).toThrow(/Maximum concurrent tasks/)
    store.put(record('a5', { principal: 'ada', status: 'cancelled' }))
    store.add(record('a7', { principal: 'ada' }))
    expect(ids('ada')).toEqual(['a4', 'a5', 'a6', 'a7'])
  })

  it('of one session leave room for those of another', () => {
    const store = new MemoryTaskStore({ clock: fakeClock(), maxPerCaller: 1 })
    store.add(record('a', { session: '1' }))
    expect(() => store.add(record('b', { session: '1' }))).toThrow(/Maximum concurrent tasks/)
    store.add(record('c', { session: '2' }))
    expect(store.size).toBe(2)
  })

  it('of one client address leave room for those of another', () => {
    const store = new MemoryTaskStore({ clock: fakeClock(), maxPerCaller: 1 })
    store.add(record('a', { address: '203.0.113.1' }))
    expect(() => store.add(record('b', { address: '203.0.113.1' }))).toThrow(/Maximum concurrent/)
    store.add(record('c', { address: '203.0.113.2' }))
    store.add(record('d'))
    expect(store.size).toBe(3)
    // The address decides only about the quota.
    expect(store.list({}).map(({ id }) => id)).toEqual(['a', 'c', 'd'])
  })

  it('may have so many bytes of arguments, and one task alone any number', () => {
    const store = new MemoryTaskStore({ clock: fakeClock(), maxArgumentBytes: 1000 })
    const add = (id: string, principal: string, argumentBytes: number) =>
      store.add(record(id, { principal, argumentBytes }))
    add('a', 'ada', 5000)
    expect(() => add('b', 'ada', 10)).toThrow(/Maximum concurrent tasks/)
    expect(() => add('c', 'bob', 10)).toThrow(/Maximum concurrent tasks/)
    store.put(record('a', { principal: 'ada', status: 'completed' }))
    add('d', 'ada', 400)
    // Half of the bytes are for one caller.
    expect(() => add('e', 'ada', 200)).toThrow(/Maximum concurrent tasks/)
    add('f', 'bob', 200)
  })

  it('are deleted when their results take too much memory, the oldest first', () => {
    const store = new MemoryTaskStore({ clock: fakeClock(), maxFinishedBytes: 10_000 })
    const finish = (id: string, principal: string, characters: number) => {
      store.add(record(id, { principal }))
      const result = { text: 'x'.repeat(characters) }
      store.put(record(id, { principal, status: 'completed', result }))
    }
    const ids = (principal: string) => store.list({ principal }).map(({ id }) => id)
    for (let i = 0; i < 4; i++) finish(`a${i}`, 'ada', 2000)
    expect(ids('ada')).toEqual(['a2', 'a3'])
    finish('b', 'bob', 4000)
    finish('c', 'cy', 4000)
    expect([ids('ada'), ids('bob'), ids('cy')]).toEqual([[], ['b'], ['c']])
    finish('d', 'ada', 50_000)
    expect([ids('ada'), store.size]).toEqual([['d'], 1])
  })
})
