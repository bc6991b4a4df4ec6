import { describe, expect, test } from 'vitest'
import { connect, listen, RpcError, Server } from '../../src/index.ts'
import { observe } from '../../src/observe/index.ts'
import { Router } from '../../src/router/index.ts'
import { deferred } from '../../src/util/promises.ts'

/** A server with a tool for each way in which a call can end, and counts of the calls that wait. */
function scripted() {
  const server = new Server({ name: 'scripted', version: '1' }, { onError: () => {} })
  const waiting = { begun: 0, ended: 0 }
  let gate = deferred<void>()
  server.tool('fine', {}, () => 'ok')
  server.tool('later', {}, async () => 'ok')
  server.tool('wrong', {}, () => {
    throw new Error('tool error')
  })
  server.tool('refuse', {}, () => {
    throw new RpcError(-32000, 'refused')
  })
  server.tool('wait', {}, async (_input, ctx) => {
    waiting.begun++
    await new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
    }).finally(() => waiting.ended++)
  })
  server.tool('stubborn', {}, async () => {
    waiting.begun++
    await gate.promise
    waiting.ended++
    return 'too late'
  })
  server.tool('ask', {}, async (_input, ctx) => {
    await ctx.elicit({ message: 'sure?', schema: { type: 'object', properties: {} } as const })
    return 'asked'
  })
  server.tool('job', { task: 'optional' }, async () => 'done')
  const open = () => {
    gate.resolve()
    gate = deferred<void>()
  }
  return { server, waiting, open }
}

/** Returns the values of a metric by their labels. */
function readings(text: string, metric: string): Map<string, number> {
  const lines = text.split('\n').filter(line => line.startsWith(`${metric}{`))
  return new Map(
    lines.map(line => {
      const at = line.lastIndexOf(' ')
      return [line.slice(metric.length, at), Number(line.slice(at + 1))] as const
    }),
  )
}

/** Returns the number of tool calls by outcome, over all servers. */
function outcomes(text: string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [labels, count] of readings(text, 'trunkline_calls_total')) {
    if (!labels.includes('method="tools/call"') || count === 0) continue
    const outcome = /outcome="([^"]*)"/.exec(labels)?.[1] ?? ''
    counts[outcome] = (counts[outcome] ?? 0) + count
  }
  return counts
}

const cells = ['http://127.0.0.1:0/mcp', 'ws://127.0.0.1:0', 'tcp://127.0.0.1:0'].flatMap(address =>
  (['2025-11-25', '2026-07-28'] as const).map(revision => [address, revision] as const),
)

describe.each(cells)('calls through a router at %s in %s', (address, revision) => {
  test('are counted by what happened to them', async () => {
    const { server, waiting, open } = scripted()
    const lines: string[] = []
    const stream = { write: (text: string) => lines.push(text) > 0, on: () => {}, off: () => {} }
    await using router = new Router({
      servers: { own: { server, prefix: false } },
      onError: () => {},
    })
    await using observer = observe({ endpoint: router, logs: { stream, format: 'json' } })
    await using listener = await listen(router, address, { onError: () => {} })
    const open1 = () =>
      connect(listener.address, {
        revisions: [revision],
        elicit: () => ({ action: 'accept', content: {} }),
        onError: () => {},
      })
    await using client = await open1()

    const expected: Record<string, number> = {}
    const count = (outcome: string) => (expected[outcome] = (expected[outcome] ?? 0) + 1)
    const settle = (call: Promise<unknown>) =>
      call.then(
        () => {},
        () => {},
      )
    const begun = async (number: number) => expect.poll(() => waiting.begun).toBe(number)

    for (const [tool, outcome] of [
      ['fine', 'ok'],
      ['later', 'ok'],
      ['wrong', 'tool-error'],
      ['refuse', 'error'],
    ] as const) {
      await settle(client.call(tool))
      count(outcome)
    }
    await client.call('ask')
    if (revision === '2026-07-28') count('input-required')
    count('ok')

    const stop = new AbortController()
    const cancelled = settle(client.call('wait', {}, { signal: stop.signal }))
    await begun(1)
    stop.abort()
    await cancelled
    count('cancelled')

    const late = new AbortController()
    const ignored = settle(client.call('stubborn', {}, { signal: late.signal }))
    await begun(2)
    late.abort()
    await ignored
    count('cancelled')

    await settle(client.call('wait', {}, { timeoutMs: 500 }))
    await begun(3)
    count('cancelled')
    await expect.poll(() => waiting.ended).toBeGreaterThanOrEqual(2)
    open()

    const leaving = await open1()
    const left = settle(leaving.call('wait'))
    await begun(4)
    await leaving.close()
    await left
    count('cancelled')

    const job = await client.start('job')
    await job.result()
    count('ok')

    await expect.poll(() => waiting.ended).toBe(4)
    await expect.poll(() => outcomes(observer.metricsText())).toEqual(expected)
    const inFlight = () => [
      ...readings(observer.metricsText(), 'trunkline_calls_in_flight').values(),
    ]
    await expect.poll(() => inFlight().every(value => value === 0)).toBe(true)
    // A cancelled call is not a failure: the one warning is about the call that was refused.
    const warnings = lines.filter(line => line.includes('"call failed"'))
    expect(warnings.filter(line => !line.includes('"refuse"'))).toEqual([])
  })
})
