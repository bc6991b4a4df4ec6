import { describe, expect, it, test } from 'vitest'
import { Router } from '../../router/router.ts'
import { Server } from '../../server/server.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { Player } from './player.ts'
import { Playground } from './playground.ts'
import { Questions } from './questions.ts'
import { PlayRun, type RunOptions } from './run.ts'

const quiet = new AbortController().signal

describe('a call', () => {
  const timeoutMs = limits.consoleRunMs.default

  /** A call that never ends by itself. */
  function make(send: RunOptions['send']) {
    const clock = fakeClock()
    let isTold = false
    const run = new PlayRun({
      timeoutMs,
      send,
      clock,
      onEnd: () => {
        isTold = true
      },
    })
    return { run, clock, isTold: () => isTold }
  }
  const endless: RunOptions['send'] = signal =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })

  it('ends when there is neither a result nor progress in time', async () => {
    const { run, clock, isTold } = make(endless)
    clock.advance(timeoutMs - 1)
    await Promise.resolve()
    expect(run.isEnded).toBe(false)
    clock.advance(1)
    await expect.poll(isTold).toBe(true)
    expect(run.take()).toMatchObject({
      ms: timeoutMs,
      error: { message: expect.stringContaining('neither a result nor progress for 60 s') },
    })
    expect(run.take()).toBeUndefined()
  })

  it('has its time again with each progress', async () => {
    let report = (_: number): void => {}
    const { run, clock } = make((signal, onProgress) => {
      report = progress => onProgress({ progress })
      return endless(signal, onProgress)
    })
    for (const progress of [1, 2, 3]) {
      clock.advance(timeoutMs - 1)
      report(progress)
      expect(run.take()).toMatchObject({ progress: { progress } })
    }
    await Promise.resolve()
    expect(run.isEnded).toBe(false)
  })

  it('has its time again when nobody is asked any more', async () => {
    const { run, clock, isTold } = make(endless)
    run.suspend(true)
    clock.advance(timeoutMs * 5)
    await Promise.resolve()
    expect(run.isEnded).toBe(false)
    run.suspend(false)
    clock.advance(timeoutMs)
    await expect.poll(isTold).toBe(true)
  })

  it('shows the size of a result that is too large', async () => {
    const text = 'x'.repeat(limits.consoleResultBytes.default)
    const { run, isTold } = make(async () => ({ result: text }))
    await expect.poll(isTold).toBe(true)
    expect(run.take()).toEqual({ run: run.id, ms: 0, tooLarge: text.length + 2 })
  })
})

describe('questions', () => {
  const row = { kind: 'form', params: {} } as const

  it('are cancelled when their time is over', async () => {
    const clock = fakeClock()
    const questions = new Questions(() => {}, clock)
    const asked = questions.ask(row, quiet)
    expect(questions.list()).toMatchObject([{ leftMs: limits.consoleQuestionMs.default }])
    clock.advance(limits.consoleQuestionMs.default)
    expect(await asked).toEqual({ action: 'cancel' })
    expect(questions.size).toBe(0)
  })

  it('are cancelled when too many wait, when the server withdraws them, and at the end', async () => {
    const questions = new Questions(() => {}, fakeClock())
    const stop = new AbortController()
    const first = questions.ask(row, stop.signal)
    const others = Array.from({ length: limits.consoleQuestions.default - 1 }, () =>
      questions.ask(row, new AbortController().signal),
    )
    expect(await questions.ask(row, quiet)).toEqual({ action: 'cancel' })
    expect(questions.size).toBe(limits.consoleQuestions.default)
    stop.abort()
    expect(await first).toEqual({ action: 'cancel' })
    questions.close()
    expect(await Promise.all(others)).toEqual(others.map(() => ({ action: 'cancel' })))
    expect(questions.answer('unknown', { action: 'accept' })).toBe(false)
  })
})

describe('the playground of a page', () => {
  const token = 'x'.repeat(20)

  it('is forgotten some seconds after its last stream has ended', async () => {
    const clock = fakeClock()
    await using router = new Router()
    const playground = new Playground(router, clock)
    playground.join(token)
    playground.join(token)
    playground.leave(token)
    clock.advance(limits.consoleLeaveMs.default * 2)
    expect(playground.size).toBe(1)
    playground.leave(token)
    clock.advance(limits.consoleLeaveMs.default - 1)
    playground.join(token)
    clock.advance(limits.consoleLeaveMs.default * 2)
    expect(playground.size).toBe(1)
    playground.leave(token)
    clock.advance(limits.consoleLeaveMs.default)
    expect(playground.size).toBe(0)
    expect(() => playground.player(token)).toThrow(/no stream/)
  })

  it('is forgotten at once when the console is closed', async () => {
    await using router = new Router()
    const playground = new Playground(router, fakeClock())
    playground.join(token)
    playground.close()
    expect(playground.size).toBe(0)
    expect(playground.take(token)).toBeUndefined()
  })
})

test('notifications beyond the limit are counted', async () => {
  const server = new Server({ name: 'loud', version: '1' })
  const most = limits.consoleMessages.default
  server.tool('shout', {}, (_, ctx) => {
    for (let at = 0; at < most + 5; at++) ctx.log('error', `line ${at}`)
    return 'done'
  })
  await using router = new Router({ servers: { loud: { server } }, onError: () => {} })
  await router.ready()
  const player = new Player(router, () => {})
  const run = player.run({ method: 'tools/call', params: { name: 'loud__shout' } })
  const frames: ReturnType<Player['take']>[] = []
  await expect
    .poll(() => {
      const frame = player.take()
      if (frame !== undefined) frames.push(frame)
      return frames.some(each => each?.runs.some(({ ms }) => ms !== undefined))
    })
    .toBe(true)
  const shown = frames.reduce((sum, frame) => sum + (frame?.messages.length ?? 0), 0)
  const left = frames.reduce((sum, frame) => sum + (frame?.messagesLeft ?? 0), 0)
  expect([run.length > 0, shown + left]).toEqual([true, most + 5])
  for (const frame of frames) expect(frame?.messages.length).toBeLessThanOrEqual(most)
  await player.close()
})

test('a list is cut at the limit, and says so', async () => {
  const server = new Server({ name: 'large', version: '1' }, { pageSize: 1500 })
  const most = limits.consoleListEntries.default
  for (let at = 0; at <= most; at++) server.tool(`t${at}`, {}, () => '')
  await using router = new Router({ servers: { large: { server } }, onError: () => {} })
  await router.ready()
  const player = new Player(router, () => {})
  const { tools, problems } = await player.lists()
  expect(tools).toHaveLength(most)
  expect(problems).toEqual([`tools/list: only the first ${most} are listed`])
  await player.close()
})
