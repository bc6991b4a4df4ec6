import { afterEach, expect, it } from 'vitest'
import { allRevisions, answeringClient } from '../../test/support/answering-client.ts'
import { turn } from '../../test/support/wire.ts'
import { Server } from '../server/server.ts'
import { events } from './events.ts'
import { collect } from './metrics/collect.ts'
import { MetricRegistry } from './metrics/registry.ts'
import { observed } from './observed.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

function counting() {
  const registry = new MetricRegistry()
  ends.push(collect(registry))
  const lines = () => registry.text().split('\n')
  return (pattern: RegExp) => lines().filter(line => pattern.test(line) && !/^#|_sum/.test(line))
}

/** A server with tools that end in every way there is, and one that waits for `finish`. */
function make() {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  server.use(observed({ server: 'files' }))
  server.tool('echo', {}, () => 'hi')
  server.tool('slow', {}, async () => 'hi')
  server.tool('bad', {}, () => {
    throw new Error('no')
  })
  server.resource('r', 'r:///1', {}, () => {
    throw new Error('disk on fire')
  })
  let finish = () => {}
  server.tool('wait', {}, async () => {
    await new Promise<void>(resolve => {
      finish = resolve
    })
    return 'waited'
  })
  return { server, finish: () => finish() }
}

/** What is counted of calls that end in every way. */
async function countedIn(revision: (typeof allRevisions)[number]): Promise<string[]> {
  const count = counting()
  const client = await answeringClient(make().server, revision)
  for (const name of ['echo', 'echo', 'slow', 'bad', 'none']) {
    await client.request('tools/call', { name })
  }
  await client.request('resources/read', { uri: 'r:///1' })
  await client.request('tools/list')
  await client.request('no/such')
  await turn()
  return count(/^trunkline_(calls|call_errors|tool_errors|call_duration_seconds_count)/)
}

it.each(allRevisions)(
  'metrics are the same with and without event subscribers, in %s',
  async revision => {
    const without = await countedIn(revision)
    expect(without).toContain(
      'trunkline_calls_total{server="files",method="tools/call",outcome="ok"} 3',
    )
    for (const end of ends.splice(0)) end()
    ends.push(events.callFinished.subscribe(() => {}))
    expect(await countedIn(revision)).toEqual(without)
  },
)

it('a call that starts the metrics is not in flight for ever', async () => {
  counting()
  const { server } = make()
  let count: ReturnType<typeof counting> | undefined
  server.tool('count', {}, async () => {
    count = counting()
    return 'counted'
  })
  const client = await answeringClient(server, '2026-07-28')
  await client.request('tools/call', { name: 'count' })
  await turn()
  expect(count?.(/in_flight/)).toEqual(['trunkline_calls_in_flight{server="files"} 0'])
})

it.each(allRevisions)(
  'calls that take their time are in flight meanwhile, in %s',
  async revision => {
    const count = counting()
    const { server, finish } = make()
    const client = await answeringClient(server, revision)
    const answer = client.request('tools/call', { name: 'wait' })
    await turn()
    expect(count(/in_flight/)).toEqual(['trunkline_calls_in_flight{server="files"} 1'])
    finish()
    await answer
    expect(count(/in_flight/)).toEqual(['trunkline_calls_in_flight{server="files"} 0'])
  },
)
