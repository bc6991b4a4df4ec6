import { describe, expect, test } from 'vitest'
import type { ServerRequest } from '../../server/request.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { deferred } from '../../util/deferred.ts'
import { limits } from '../../util/limits/limits.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import { HeldCall, HeldCalls } from './parked-calls.ts'

/** As much of a request as is looked at. */
function request(signal = new AbortController().signal): ServerRequest {
  return { exchange: { signal } } as unknown as ServerRequest
}

const question = { method: 'roots/list' } as const
const never = new AbortController().signal

describe('a held call', () => {
  test('is over without a question', async () => {
    const call = new HeldCall<string>(request())
    call.begin(Promise.resolve('done'))
    expect(await call.next()).toEqual({ type: 'over', outcome: 'done' })
  })

  test('fails as the call to the server does', async () => {
    const call = new HeldCall<string>(request())
    call.begin(Promise.reject(new Error('gone')))
    await expect(call.next()).rejects.toThrow('gone')
  })

  test('tells questions that are asked together at once, and goes on with the answers', async () => {
    const call = new HeldCall<unknown>(request())
    const answers = Promise.all([call.ask(question, never), call.ask(question, never)])
    call.begin(answers)
    expect(await call.next()).toEqual({ type: 'asked', requests: { q1: question, q2: question } })
    call.answer(new Map([['q1', 'one']]))
    // What has not been answered is asked again.
    expect(await call.next()).toEqual({ type: 'asked', requests: { q2: question } })
    call.answer(
      new Map([
        ['q2', 'two'],
        ['q9', 'nobody asked'],
      ]),
    )
    expect(await call.next()).toEqual({ type: 'over', outcome: ['one', 'two'] })
  })

  test('does not wait for a question that the server has given up', async () => {
    const call = new HeldCall<string>(request())
    const outcome = deferred<string>()
    call.begin(outcome.promise)
    const stop = new AbortController()
    const answer = call.ask(question, stop.signal)
    expect(await call.next()).toMatchObject({ type: 'asked' })
    stop.abort(new Error('never mind'))
    await expect(answer).rejects.toThrow('never mind')
    outcome.resolve('done')
    expect(await call.next()).toEqual({ type: 'over', outcome: 'done' })
  })

  test('answers nothing any more once it is given up', async () => {
    const call = new HeldCall<string>(request())
    call.begin(new Promise(() => {}))
    const before = call.ask(question, never)
    call.stop.abort(new Error('nobody came back'))
    await expect(before).rejects.toThrow('nobody came back')
    await expect(call.ask(question, never)).rejects.toThrow('nobody came back')
  })

  test('is given up by whoever waits for it', async () => {
    const caller = new AbortController()
    const call = new HeldCall<string>(request(caller.signal))
    call.begin(new Promise(() => {}))
    void call.next()
    caller.abort('enough')
    expect(call.stop.signal.reason).toBe('enough')
  })
})

describe('a held call that asks again', () => {
  test('tells its second question, though the first was told before anybody waited', async () => {
    const call = new HeldCall<string>(request())
    call.begin(new Promise(() => {}))
    const first = call.ask(question, never)
    expect(await call.next()).toMatchObject({ type: 'asked' })
    // By now there are old news.
    await Promise.resolve()
    call.answer(new Map([['q1', 'one']]))
    await first
    const waiting = call.next()
    await new Promise(resolve => setImmediate(resolve))
    void call.ask(question, never)
    expect(await waiting).toEqual({ type: 'asked', requests: { q2: question } })
  })
})

describe('the calls that are held', () => {
  function made(heldMs?: number) {
    const clock = fakeClock()
    return { clock, calls: new HeldCalls<string>(new Deadlines(clock), heldMs) }
  }

  test('are taken once', () => {
    const { calls } = made()
    const call = new HeldCall<string>(request())
    calls.keep(call)
    expect(calls.size).toBe(1)
    expect(calls.take(call.id)).toBe(call)
    expect(calls.take(call.id)).toBeUndefined()
    expect(calls.take('there-is-none')).toBeUndefined()
  })

  test('are given up when nobody comes back in time', () => {
    const { calls, clock } = made()
    const call = new HeldCall<string>(request())
    const taken = new HeldCall<string>(request())
    calls.keep(call)
    calls.keep(taken)
    calls.take(taken.id)
    clock.advance(2 * limits.heldMs.default)
    expect(call.stop.signal.reason).toMatchObject({ kind: 'timeout' })
    expect(calls.take(call.id)).toBeUndefined()
    expect(taken.stop.signal.aborted).toBe(false)
  })

  test('are so many and no more: the one that was held longest is given up for another', () => {
    const { calls } = made()
    const all = Array.from({ length: limits.heldCalls.default }, () => {
      const call = new HeldCall<string>(request())
      calls.keep(call)
      return call
    })
    const [first, second, third] = all
    // Its caller has come back, and been asked something else.
    if (first !== undefined) calls.keep(calls.take(first.id) ?? expect.unreachable())
    calls.keep(new HeldCall<string>(request()))
    expect(calls.size).toBe(limits.heldCalls.default)
    expect(all.filter(({ stop }) => stop.signal.aborted)).toEqual([second])
    expect(second?.stop.signal.reason).toMatchObject({
      message: 'Too many calls are waiting for answers',
    })
    expect(calls.take(second?.id ?? '')).toBeUndefined()
    expect(calls.take(third?.id ?? '')).toBe(third)
  })

  test('are held no longer than what their callers come back with is good for', () => {
    const { calls, clock } = made(10 * limits.questionMs.default)
    const call = new HeldCall<string>(request())
    calls.keep(call)
    clock.advance(limits.questionMs.default - 1)
    expect(call.stop.signal.aborted).toBe(false)
    clock.advance(100)
    expect(call.stop.signal.aborted).toBe(true)
  })

  test('are all given up at the end', () => {
    const { calls } = made()
    const call = new HeldCall<string>(request())
    calls.keep(call)
    calls.close()
    expect(call.stop.signal.aborted).toBe(true)
    expect(calls.size).toBe(0)
  })
})
