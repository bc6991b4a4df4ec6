import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { ElicitResult } from '../../src/mcp/types/elicitation.ts'
import { proves } from '../requirements.ts'
import { type Connected, cells, connectCell, type Recorder } from './mcp-cells.ts'

const named = cells.map(cell => [`${cell.wire.name} in ${cell.revision}`, cell] as const)
const able = named.filter(([, { features }]) => features.tasks !== 'none')
const unable = named.filter(([, { features }]) => features.tasks === 'none')

describe.each(able)('tasks over %s', (_, cell) => {
  const isCore = cell.features.tasks === 'core'
  let connected: Connected
  let client: Client
  let recorder: Recorder

  beforeAll(async () => {
    const elicit = ({ message }: { readonly message: string }): ElicitResult => ({
      action: 'accept',
      content: message.startsWith('Delete') ? { confirm: true } : { name: message },
    })
    connected = await connectCell(cell, { elicit }, { tasks: { pollMs: 100 } })
    client = connected.client
    recorder = connected.recorder
  })

  afterEach(() => {
    // The schema of the stateless revision covers the core, which does not include the extension.
    const isCovered = (problem: string) => isCore || !/tasks\/|answer to tools\/call/.test(problem)
    expect(recorder.problems().filter(isCovered)).toEqual([])
  })

  afterAll(() => connected?.close())

  test('are started at once and waited for', async () => {
    proves('K1', 'K2', 'K9', 'X2')
    const task = await client.start('slow_compute', { seconds: 0.2 })
    expect(task.id).toEqual(expect.any(String))
    expect((await task.result()).text).toBe('Computed for 0.2 seconds')
    expect(task.status).toBe('completed')
  })

  test('continue for a client that has their id', async () => {
    const { id } = await client.start('slow_compute', { seconds: 0.01 })
    const task = await client.task(id ?? expect.unreachable())
    expect((await task.result()).text).toContain('Computed')
  })

  test('that fail report the failure', async () => {
    proves('K10')
    const failing = await client.start('failing_job')
    expect(await failing.result()).toMatchObject({ isError: true })
    const broken = await client.start('protocol_error_job')
    await expect(broken.result()).rejects.toMatchObject({ code: -32603 })
    expect(broken.status).toBe('failed')
  })

  test('send server requests', async () => {
    proves('K7c', 'X10', 'X10b', 'X10c')
    const task = await client.start('confirm_delete', { filename: 'a.txt' })
    expect((await task.result()).text).toBe('Deleted a.txt')
    const both = await client.start('multi_input')
    expect((await both.result()).text).toBe('The first name? and The second name?')
  })

  test('are cancelled by their own request, and stay cancelled', async () => {
    proves('U3', 'K14c', 'X13c')
    const task = await client.start('slow_compute', { seconds: 600 })
    await task.cancel()
    expect(task.status).toBe('cancelled')
    await expect(task.result()).rejects.toMatchObject({ kind: 'task_cancelled' })
    expect(recorder.of('tasks/cancel').at(-1).params.taskId).toBe(task.id)
    const cancelled = recorder.of('notifications/cancelled').filter(({ params }) => {
      const calls = recorder.of('tools/call').map(({ id }) => id)
      return calls.includes(params.requestId)
    })
    expect(cancelled).toEqual([])
  })

  test('that are unknown are refused', async () => {
    proves('K15')
    await expect(client.task('there-is-none')).rejects.toMatchObject({ code: -32602 })
  })

  test('report their progress', async () => {
    const task = await client.start('slow_compute', { seconds: 0.02 })
    const seen: string[] = []
    for await (const { status } of task.updates) seen.push(status)
    // On a busy machine it may be completed before its state is read for the first time.
    expect(seen.at(-1)).toBe('completed')
    expect(new Set(seen.slice(0, -1))).toEqual(new Set(seen.length > 1 ? ['working'] : []))
  })

  test('are listed where the revision has a list', async () => {
    if (!isCore) {
      recorder.isMisuse = true
      await expect(client.request('tasks/list')).rejects.toMatchObject({ code: -32601 })
      return
    }
    const { id } = await client.start('slow_compute', { seconds: 0.01 })
    const ids: string[] = []
    for await (const { taskId } of client.tasks()) ids.push(taskId)
    expect(ids).toContain(id)
  })

  test('are created implicitly when a tool requires them', async () => {
    proves('S10d')
    for await (const _ of client.tools());
    expect(await client.call('failing_job')).toMatchObject({ isError: true })
    // A stateless server does not declare which calls become tasks: there the router accepts the task.
    const isKnown = isCore && cell.wire.behind !== '2026-07-28'
    if (isKnown) expect(recorder.of('tools/call').at(-1).params.task).toBeDefined()
  })
})

// A router declares tasks before it knows whether an upstream server supports them.
const before = unable.filter(([, { own }]) => own.tasks !== 'none')
const without = unable.filter(([, { own }]) => own.tasks === 'none')

describe.each(before)('tasks over %s', (_, cell) => {
  test('are refused, or there are none', async () => {
    const connected = await connectCell(cell)
    const { client, recorder } = connected
    try {
      const isCore = cell.own.tasks === 'core'
      const started = client.start('slow_compute', { seconds: 0 })
      if (isCore) await expect(started).rejects.toMatchObject({ code: -32601 })
      else expect((await (await started).result()).text).toBe('Computed for 0 seconds')
      await expect(client.task('t')).rejects.toMatchObject({ code: -32602 })
      const { text } = await client.call('slow_compute', { seconds: 0 })
      expect(text).toBe('Computed for 0 seconds')
      expect(recorder.problems().filter(problem => isCore || !problem.includes('tasks/'))).toEqual(
        [],
      )
    } finally {
      await connected.close()
    }
  })
})

describe.each(without)('tasks over %s', (_, cell) => {
  test('do not exist', async () => {
    const connected = await connectCell(cell)
    const { client, recorder } = connected
    try {
      await expect(client.start('slow_compute', { seconds: 0 })).rejects.toMatchObject({
        code: 'refused',
      })
      await expect(client.task('t')).rejects.toMatchObject({ code: 'refused' })
      const { text } = await client.call('slow_compute', { seconds: 0 })
      expect(text).toBe('Computed for 0 seconds')
      expect(recorder.problems()).toEqual([])
    } finally {
      await connected.close()
    }
  })
})
