import { afterEach, expect, test } from 'vitest'
import { memory } from '../../src/backplane/memory/memory.ts'
import { drainNode } from '../../src/cli/cluster/drain.ts'
import { nodesOf } from '../../src/cli/cluster/nodes.ts'
import type { ClusterOptions } from '../../src/cluster/options.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { callTool, openSession } from './raw-session.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

async function setUp() {
  const backplane = memory()
  open.push(backplane)
  const node = async (name: string, options: ClusterOptions = {}): Promise<string> => {
    const server = new Server({ name: 'cluster', version: '1' })
    server.tool('where', {}, () => name)
    const cluster = { name, heartbeatMs: 50, ...options }
    const listener = await listen(server, 'http://127.0.0.1:0/mcp', { backplane, cluster })
    open.push(listener)
    return listener.address
  }
  return { backplane, node }
}

const { signal } = new AbortController()

test('a node that is asked to drain closes its listener, and its sessions go on', async () => {
  const { backplane, node } = await setUp()
  const [a, b] = [await node('a'), await node('b')]
  const session = await openSession(a)
  expect(await drainNode(backplane, 'a', signal, () => {})).toBe(true)
  const { message } = await callTool(b, session, 'where')
  expect(message.result?.content?.[0]?.text).toBe('b')
  await expect(fetch(a)).rejects.toThrow()
})

test('the program decides what draining means', async () => {
  const { backplane, node } = await setUp()
  const stop = new AbortController()
  await node('a', { onDrain: () => stop.abort() })
  expect(await drainNode(backplane, 'a', stop.signal, () => {})).toBe(false)
  expect((await nodesOf(backplane)).map(({ name }) => name)).toEqual(['a'])
})
