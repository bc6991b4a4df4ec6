import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { Recorder } from '../../src/console/feed/recorder.ts'
import type { CallRow } from '../../src/console/wire.ts'
import { CallSpan } from '../../src/observe/call.ts'
import { events } from '../../src/observe/events.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { postJson, readJson, serveConsole, watchFrames } from './setup.ts'

describe('recording', () => {
  let served: Awaited<ReturnType<typeof serveConsole>>
  beforeAll(async () => {
    served = await serveConsole()
  })
  afterAll(() => served.close())
  const record = (isOn: unknown) => postJson(served, 'api/record', { isOn })

  it('keeps arguments and results only while it is on, without secrets, and says so to all', async () => {
    const traffic = await watchFrames(served.base, served.page.key, 'calls,log')
    const other = await watchFrames(served.base, served.page.key, '')
    const client = await connect(served.address)
    const rowOf = async (text: string): Promise<CallRow | undefined> => {
      const before = new Set(rows().map(({ seq }) => seq))
      await client.call('demo__echo', { text, password: 'sk-canary-1' })
      const found = () => rows().find(({ seq, name }) => name === 'demo__echo' && !before.has(seq))
      await expect.poll(found, { timeout: 30_000 }).toBeDefined()
      return found()
    }
    const rows = () => traffic.frames.flatMap(frame => (frame.event === 'calls' ? frame.rows : []))
    const off = await rowOf('canary-off')
    expect(events.callRecorded.hasSubscribers).toBe(false)
    expect(await readJson(served, `api/calls/${off?.seq}/recording`)).toMatchObject({
      error: { reason: 'not_recorded' },
    })
    expect((await record(true)).body).toMatchObject({ leftMs: expect.any(Number) })
    const marks = () => other.frames.filter(({ event }) => event === 'recording')
    await expect.poll(marks, { timeout: 30_000 }).toHaveLength(1)
    const on = await rowOf('canary-on')
    const recording = await readJson(served, `api/calls/${on?.seq}/recording`)
    expect(recording).toMatchObject({
      params: { name: 'demo__echo', arguments: { text: 'canary-on', password: '[redacted]' } },
      result: { content: [{ text: 'canary-on' }] },
      redacted: 1,
    })
    await record(false)
    expect(events.callRecorded.hasSubscribers).toBe(false)
    await expect.poll(marks, { timeout: 30_000 }).toHaveLength(2)
    expect(marks().at(-1)).toEqual({ event: 'recording', leftMs: 0 })
    const said = JSON.stringify([traffic.frames, other.frames, recording])
    expect(said).not.toContain('sk-canary-1')
    expect(JSON.stringify([traffic.frames, other.frames])).not.toContain('canary-on')
    await Promise.all([client, traffic, other].map(each => each.close()))
  })

  it('refuses anything but true and false', async () => {
    expect((await record('yes')).status).toBe(400)
  })

  it('can be forbidden', async () => {
    const own = await serveConsole({ record: false })
    expect((await postJson(own, 'api/record', { isOn: true })).status).toBe(403)
    await own.close()
  })
})

describe('a recorder', () => {
  const publish = (params: unknown, result: unknown = {}) => {
    const call = new CallSpan({ method: 'tools/call' })
    events.callRecorded.publish({ call, params, result })
    return call
  }

  it('ends by itself', () => {
    const clock = fakeClock()
    const changes: boolean[] = []
    const recorder = new Recorder(isRecording => changes.push(isRecording), clock)
    recorder.start()
    expect(recorder.leftMs).toBe(limits.consoleRecordMs.default)
    clock.advance(limits.consoleRecordMs.default)
    expect([recorder.leftMs, changes]).toEqual([0, [true, false]])
    publish({})
    expect(recorder.size).toBe(0)
  })

  it('keeps as many calls, and as many bytes, as the limits say', () => {
    const recorder = new Recorder(() => {}, fakeClock())
    recorder.start()
    for (let at = 0; at <= limits.consoleRecordings.default; at++) publish({ at })
    expect(recorder.size).toBe(limits.consoleRecordings.default)
    expect(recorder.find(() => true)?.params).toEqual({ at: 1 })
    recorder.start()
    expect(recorder.size).toBe(0)
    const text = 'x'.repeat(limits.consoleRecordedBytes.default - 2)
    const most = limits.consoleRecordingBytes.default / (2 * limits.consoleRecordedBytes.default)
    for (let at = 0; at < most + 5; at++) publish(text, text)
    expect(recorder.size).toBe(most)
    recorder.close()
    expect(recorder.size).toBe(0)
  })

  it('keeps only the size of what is too large', () => {
    const recorder = new Recorder(() => {}, fakeClock())
    recorder.start()
    const text = 'x'.repeat(limits.consoleRecordedBytes.default)
    const call = publish(text, { small: true })
    expect(recorder.find(each => each === call)).toEqual({
      result: { small: true },
      redacted: 0,
      bytes: [text.length + 2, 14],
    })
    recorder.close()
  })

  test.each([
    [{ token: 'a' }, { token: '[redacted]' }],
    [{ deep: [{ api_key: 5 }] }, { deep: [{ api_key: '[redacted]' }] }],
    [{ credentials: { value: 'a' } }, { credentials: '[redacted]' }],
    [{ secrets: ['a', 'b'] }, { secrets: '[redacted]' }],
    [
      { text: 'plain', token: null },
      { text: 'plain', token: null },
    ],
  ])('%j is kept as %j', (params, kept) => {
    const recorder = new Recorder(() => {}, fakeClock())
    recorder.start()
    const call = publish(params)
    expect(recorder.find(each => each === call)?.params).toEqual(kept)
    recorder.close()
  })
})
