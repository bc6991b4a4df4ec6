import { expect, test } from 'vitest'
import { allRevisions } from '../../test/support/scripted-server.ts'
import { connect } from '../connect.ts'
import { Router } from '../router/router.ts'
import { Server } from '../server/server.ts'
import { Deadlines, timed } from '../util/time/deadline.ts'
import { fakeClock } from './fake-clock.ts'

test('time changes only by advance', () => {
  const clock = fakeClock(100)
  expect(clock.now()).toBe(100)
  clock.advance(5)
  clock.advance(0)
  expect(clock.now()).toBe(105)
})

test('timers run in the order of their times, and at those times', () => {
  const clock = fakeClock()
  const ran: string[] = []
  const note = (name: string) => () => void ran.push(`${name} at ${clock.now()}`)
  clock.start(note('late'), 30)
  clock.start(note('early'), 10)
  clock.start(note('early too'), 10)
  clock.start(note('never'), 31)
  clock.advance(30)
  expect(ran).toEqual(['early at 10', 'early too at 10', 'late at 30'])
  expect(clock.pending).toBe(1)
})

test('a timer that a timer starts runs in the same move if it is due by then', () => {
  const clock = fakeClock()
  const ran: number[] = []
  const again = (): void => {
    ran.push(clock.now())
    clock.start(again, 10)
  }
  clock.start(again, 10)
  clock.advance(35)
  expect(ran).toEqual([10, 20, 30])
  expect(clock.now()).toBe(35)
  expect(clock.pending).toBe(1)
})

test('a stopped timer does not run, even if one due before it stops it', () => {
  const clock = fakeClock()
  const ran: string[] = []
  const second = clock.start(() => void ran.push('second'), 10)
  clock.start(() => clock.stop(second), 5)
  clock.advance(20)
  expect(ran).toEqual([])
  expect(clock.pending).toBe(0)
})

test('a delay in the past means now', () => {
  const clock = fakeClock()
  const ran: number[] = []
  clock.start(() => void ran.push(clock.now()), -5)
  clock.advance(0)
  expect(ran).toEqual([0])
})

test('time does not go back', () => {
  expect(() => fakeClock().advance(-1)).toThrow(RangeError)
  expect(() => fakeClock().advance(Number.NaN)).toThrow(RangeError)
})

test('it moves deadlines', () => {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock, 1)
  const ended: number[] = []
  deadlines.start(
    timed(() => void ended.push(clock.now())),
    1000,
  )
  clock.advance(999)
  expect(ended).toEqual([])
  clock.advance(1)
  expect(ended).toEqual([1000])
})

test.each(allRevisions)('a client in %s leaves no timer behind', async revision => {
  for (const calls of [0, 1, 5]) {
    const clock = fakeClock()
    const server = new Server({ name: 's', version: '1' })
    server.tool('t', { description: 'Answers.' }, () => 'x')
    const client = await connect(server, { clock, revisions: [revision] })
    for (let call = 0; call < calls; call++) await client.call('t')
    expect(clock.pending).toBeGreaterThan(0)
    await client.close()
    expect(clock.pending).toBe(0)
  }
})

test('a router leaves no timer behind', async () => {
  const clock = fakeClock()
  const server = new Server({ name: 's', version: '1' })
  server.tool('t', { description: 'Answers.' }, () => 'x')
  const router = new Router({ clock })
  router.register('s', server)
  const client = await connect(router, { clock })
  await client.call('s__t')
  await client.close()
  await router.close()
  expect(clock.pending).toBe(0)
})
