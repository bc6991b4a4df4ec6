import { describe, expect, test } from 'vitest'
import type { IncomingRequest } from '../../server/request.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { deferred } from '../../util/promises.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import { ParkedCall, ParkedCalls } from './parked-calls.ts'

/** The part of a request that a parked call uses. */
function request(signal = new AbortController().signal): IncomingRequest {
  return { exchange: { signal } } as unknown as IncomingRequest
}

const roots = { method: 'roots/list' } as const
const never = new AbortController().signal

describe('a parked call', () => {
  test('completes without a server request', async () => {
    const call = new ParkedCall<string>(request())
    call.begin(Promise.resolve('done'))
    expect(await call.next()).toEqual({ type: 'completed', outcome: 'done' })
  })

  test('fails as the call to the server does', async () => {
    const call = new ParkedCall<string>(request())
    call.begin(Promise.reject(new Error('gone')))
    await expect(call.next()).rejects.toThrow('gone')
  })

  test('delivers server requests together that are sent together, and continues with the answers', async () => {
    const call = new ParkedCall<unknown>(request())
    const answers = Promise.all([call.ask(roots, never), call.ask(roots, never)])
    call.begin(answers)
    expect(await call.next()).toEqual({
      type: 'input-required',
      requests: { q1: roots, q2: roots },
    })
    call.answer(new Map([['q1', 'one']]))
    // A request that was not answered is sent again.
    expect(await call.next()).toEqual({ type: 'input-required', requests: { q2: roots } })
    call.answer(
      new Map([
        ['q2', 'two'],
        ['q9', 'not requested'],
      ]),
    )
    expect(await call.next()).toEqual({ type: 'completed', outcome: ['one', 'two'] })
  })

  test('does not wait for a server request that was cancelled', async () => {
    const call = new ParkedCall<string>(request())
    const outcome = deferred<string>()
    call.begin(outcome.promise)
    const stop = new AbortController()
    const answer = call.ask(roots, stop.signal)
    expect(await call.next()).toMatchObject({ type: 'input-required' })
    stop.abort(new Error('never mind'))
    await expect(answer).rejects.toThrow('never mind')
    outcome.resolve('done')
    expect(await call.next()).toEqual({ type: 'completed', outcome: 'done' })
  })

  test('rejects server requests once it is given up', async () => {
    const call = new ParkedCall<string>(request())
    call.begin(new Promise(() => {}))
    const before = call.ask(roots, never)
    call.stop.abort(new Error('the caller did not retry'))
    await expect(before).rejects.toThrow('the caller did not retry')
    await expect(call.ask(roots, never)).rejects.toThrow('the caller did not retry')
  })

  test('is given up with the request that waits for it', async () => {
    const caller = new AbortController()
    const call = new ParkedCall<string>(request(caller.signal))
    call.begin(new Promise(() => {}))
    void call.next()
    caller.abort('enough')
    expect(call.stop.signal.reason).toBe('enough')
  })
})

describe('a parked call with two server requests', () => {
  test('delivers the second one, although the first was delivered before the caller waited', async () => {
    const call = new ParkedCall<string>(request())
    call.begin(new Promise(() => {}))
    const first = call.ask(roots, never)
    expect(await call.next()).toMatchObject({ type: 'input-required' })
    // By now there is an old event.
    await Promise.resolve()
    call.answer(new Map([['q1', 'one']]))
    await first
    const waiting = call.next()
    await new Promise(resolve => setImmediate(resolve))
    void call.ask(roots, never)
    expect(await waiting).toEqual({ type: 'input-required', requests: { q2: roots } })
  })
})

describe('parked calls', () => {
  function made(parkedMs?: number) {
    const clock = fakeClock()
    return { clock, calls: new ParkedCalls<string>(new Deadlines(clock), parkedMs) }
  }

  test('are taken once', () => {
    const { calls } = made()
    const call = new ParkedCall<string>(request())
    calls.keep(call)
    expect(calls.size).toBe(1)
    expect(calls.take(call.id)).toBe(call)
    expect(calls.take(call.id)).toBeUndefined()
    expect(calls.take('there-is-none')).toBeUndefined()
  })

  test('are given up if the caller does not retry in time', () => {
    const { calls, clock } = made()
    const call = new ParkedCall<string>(request())
    const taken = new ParkedCall<string>(request())
    calls.keep(call)
    calls.keep(taken)
    calls.take(taken.id)
    clock.advance(2 * limits.parkedMs.default)
    expect(call.stop.signal.reason).toMatchObject({ kind: 'timeout' })
    expect(calls.take(call.id)).toBeUndefined()
    expect(taken.stop.signal.aborted).toBe(false)
  })

  test('are limited in number: the oldest is given up for another one', () => {
    const { calls } = made()
    const all = Array.from({ length: limits.parkedCalls.default }, () => {
      const call = new ParkedCall<string>(request())
      calls.keep(call)
      return call
    })
    const [first, second, third] = all
    // Its caller has come back, and been asked something else.
    if (first !== undefined) calls.keep(calls.take(first.id) ?? expect.unreachable())
    calls.keep(new ParkedCall<string>(request()))
    expect(calls.size).toBe(limits.parkedCalls.default)
    expect(all.filter(({ stop }) => stop.signal.aborted)).toEqual([second])
    expect(second?.stop.signal.reason).toMatchObject({
      message: 'Too many calls are waiting for answers',
    })
    expect(calls.take(second?.id ?? '')).toBeUndefined()
    expect(calls.take(third?.id ?? '')).toBe(third)
  })

  test('are held no longer than what their callers come back with is good for', () => {
    const { calls, clock } = made(10 * limits.serverRequestMs.default)
    const call = new ParkedCall<string>(request())
    calls.keep(call)
    clock.advance(limits.serverRequestMs.default - 1)
    expect(call.stop.signal.aborted).toBe(false)
    clock.advance(100)
    expect(call.stop.signal.aborted).toBe(true)
  })

  test('are all given up at the end', () => {
    const { calls } = made()
    const call = new ParkedCall<string>(request())
    calls.keep(call)
    calls.close()
    expect(call.stop.signal.aborted).toBe(true)
    expect(calls.size).toBe(0)
  })
})
