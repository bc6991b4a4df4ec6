import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { gate, opened, type RawClient } from '../../../test/support/raw-client.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Server } from '../server.ts'
import { MemoryTaskStore } from './memory-store.ts'

/** A store that outlives the servers which use it. */
function shared() {
  const clock = fakeClock()
  const store = new MemoryTaskStore()
  const make = () => {
    const held = gate()
    const tasks = { store, clock, leaseMs: 30_000, pollMs: 10 }
    const server = new Server({ name: 'test', version: '1' }, { onError: () => {}, tasks })
    server.tool('held', { task: 'optional' }, () => held.passed)
    return { server, held }
  }
  /** Moves both clocks: that of timers, and that of records. */
  const advance = (ms: number) => {
    vi.setSystemTime(Date.now() + ms)
    clock.advance(ms)
  }
  return { store, make, advance }
}

const principal = 'ada'
const start = async (client: RawClient) => {
  const { result } = await client.request('tools/call', { name: 'held', task: {} })
  return (result as { task: { taskId: string } }).task.taskId
}

describe('a task in a store that outlives its process', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('stays alive as long as its process does', async () => {
    const { make, advance, store } = shared()
    const first = make()
    const taskId = await start(await opened(first.server, { principal }))
    const other = await opened(make().server, { principal })
    for (let i = 0; i < 20; i++) {
      advance(10_000)
      expect((await other.request('tasks/get', { taskId })).result).toMatchObject({
        status: 'working',
      })
    }
    first.held.open('done')
    await vi.waitFor(() => expect(store.get(taskId)?.status).toBe('completed'))
    expect((await other.request('tasks/result', { taskId })).error).toBeUndefined()
  })

  it('has failed once its process ended without a word', async () => {
    const { make, store } = shared()
    const taskId = await start(await opened(make().server, { principal }))
    // Nobody moves the clock of its timers: the process is gone.
    vi.setSystemTime(Date.now() + 29_000)
    const other = await opened(make().server, { principal })
    expect((await other.request('tasks/get', { taskId })).result).toMatchObject({
      status: 'working',
    })
    vi.setSystemTime(Date.now() + 2000)
    const failed = { status: 'failed', statusMessage: 'The process that ran this task has ended' }
    expect((await other.request('tasks/list')).result).toMatchObject({ tasks: [failed] })
    expect((await other.request('tasks/get', { taskId })).result).toMatchObject(failed)
    expect((await other.request('tasks/result', { taskId })).error).toMatchObject({ code: -32603 })
    expect(store.get(taskId)?.status).toBe('failed')
  })
})
