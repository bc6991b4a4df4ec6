import { afterEach, expect, test } from 'vitest'
import { memory } from '../../src/backplane/memory/memory.ts'
import { listen } from '../../src/listen.ts'
import { observe } from '../../src/observe/observe.ts'
import { Server } from '../../src/server/server.ts'
import type { Listener } from '../../src/transport/listener.ts'
import { callTool, openSession } from './raw-session.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

test('a cluster shows its nodes, sessions and forwarded requests', async () => {
  const backplane = memory()
  const observer = observe()
  open.push(backplane, observer)
  const node = async (name: string): Promise<Listener> => {
    const server = new Server({ name: 'cluster', version: '1' })
    server.tool('where', {}, () => name)
    const options = { backplane, cluster: { name, heartbeatMs: 50 }, ops: observer.ops }
    const listener = await listen(server, 'http://127.0.0.1:0/mcp', options)
    open.push(listener)
    return listener
  }
  const [a, b] = [await node('a'), await node('b')]
  const session = await openSession(a.address)
  await callTool(b.address, session, 'where')

  const figure = (line: string): string | undefined =>
    observer
      .metricsText()
      .split('\n')
      .find(each => each.startsWith(`trunkline_cluster_${line} `))
      ?.split(' ')
      .at(-1)
  await expect.poll(() => figure('nodes{path="/mcp",state="up"}')).toBe('2')
  expect(figure('sessions{path="/mcp"}')).toBe('1')
  expect(Number(figure('forwarded_total{outcome="ok"}'))).toBeGreaterThan(0)
  expect(figure('engine_up{engine="memory"}')).toBe('1')

  const ready = await fetch(new URL('/readyz', b.address))
  expect([ready.status, await ready.json()]).toMatchObject([
    200,
    { level: 'ok', cluster: [{ name: 'a', nodes: 2, sessions: 1 }, { name: 'b' }] },
  ])

  await a.close()
  await expect.poll(() => figure('handed_off_sessions_total')).toBe('1')
  await expect.poll(() => figure('nodes{path="/mcp",state="up"}')).toBe('1')
  expect(figure('sessions{path="/mcp"}')).toBe('1')
  // It says that it has drained when it has left, which another heartbeat may notice first.
  const left = ['drained', 'left'].map(reason => figure(`nodes_left_total{reason="${reason}"}`))
  expect(left).toContain('1')
})
