import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type HeartbeatMember, WebSocketHeartbeat } from './heartbeat.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function member(answers: boolean): HeartbeatMember & { pings: number; losses: number } {
  let alive = true
  return {
    pings: 0,
    losses: 0,
    ping() {
      this.pings += 1
      alive = answers
    },
    isAlive: () => alive,
    lost() {
      this.losses += 1
    },
  }
}

describe('a heartbeat', () => {
  test('pings again and again as long as the pongs arrive', () => {
    const heart = new WebSocketHeartbeat({ pingMs: 30, pongMs: 10 })
    const one = member(true)
    heart.add(one)
    vi.advanceTimersByTime(29)
    expect(one.pings).toBe(0)
    vi.advanceTimersByTime(61)
    expect(one).toMatchObject({ pings: 3, losses: 0 })
  })

  test('reports a silent member as lost, and only that one', () => {
    const heart = new WebSocketHeartbeat({ pingMs: 30, pongMs: 10 })
    const [silent, well] = [member(false), member(true)]
    heart.add(silent)
    heart.add(well)
    vi.advanceTimersByTime(39)
    expect(silent.losses).toBe(0)
    vi.advanceTimersByTime(2)
    expect([silent.losses, well.losses]).toEqual([1, 0])
  })

  test('does not expect an answer of one that came after the asking', () => {
    const heart = new WebSocketHeartbeat({ pingMs: 30, pongMs: 10 })
    heart.add(member(true))
    vi.advanceTimersByTime(35)
    const late = member(false)
    heart.add(late)
    vi.advanceTimersByTime(5)
    expect(late.losses).toBe(0)
    vi.advanceTimersByTime(31)
    expect(late.losses).toBe(1)
  })

  test('has one timer for all, and none when all have left', () => {
    const heart = new WebSocketHeartbeat({ pingMs: 30, pongMs: 10 })
    const members = Array.from({ length: 100 }, () => member(true))
    for (const one of members) heart.add(one)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(999)
    expect(vi.getTimerCount()).toBe(1)
    for (const one of members) heart.delete(one)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('has no timer left when all members leave during a ping', () => {
    const heart = new WebSocketHeartbeat({ pingMs: 30, pongMs: 10 })
    const one: HeartbeatMember = {
      ping: () => heart.delete(one),
      isAlive: () => false,
      lost: () => {},
    }
    heart.add(one)
    vi.advanceTimersByTime(30)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('never pings if the interval is 0', () => {
    new WebSocketHeartbeat({ pingMs: 0 }).add(member(false))
    expect(vi.getTimerCount()).toBe(0)
  })
})
