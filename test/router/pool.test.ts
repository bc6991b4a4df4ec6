import { expect, onTestFinished, test } from 'vitest'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import { listen } from '../../src/listen.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import { Router } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { deferred } from '../../src/util/promises.ts'
import { until } from '../support/processes.ts'
import { caller, routed } from './routed.ts'

/** A server at an address, with its open connections and a tool that answers when it is released. */
async function counted() {
  const server = new Server({ name: 'it', version: '1' })
  const gate = deferred<void>()
  let calls = 0
  server.tool('work', {}, () => 'done')
  server.tool('hold', {}, async () => {
    calls++
    await gate.promise
    return 'held'
  })
  const open = new Set<Channel>()
  const endpoint: Endpoint = {
    profile: server.profile,
    revisions: server.revisions,
    handle: server.handle,
    attach: (channel, envelope) => {
      const attachment = server.attach(channel, envelope)
      open.add(channel)
      void attachment.closed.then(() => open.delete(channel))
      return attachment
    },
  }
  const listener = await listen(endpoint, 'tcp://127.0.0.1:0')
  onTestFinished(() => listener.close())
  return { url: listener.address, open, calls: () => calls, release: () => gate.resolve() }
}

test('a pool keeps its minimum of connections open, and replaces what is lost', async () => {
  const { url, open } = await counted()
  const router = await routed({ it: { url, prefix: false, pool: { min: 3, max: 3 } } })
  await until(() => open.size === 3)
  const client = await caller(router)
  for (const channel of [...open].slice(1)) await channel.close()
  expect((await client.call('work')).text).toBe('done')
  await until(() => open.size === 3)
  await router.close()
  await until(() => open.size === 0)
})

test('a pool grows under load, up to its maximum', async () => {
  const { url, open, calls, release } = await counted()
  const router = await routed({ it: { url, prefix: false, pool: { max: 3 } } })
  const client = await caller(router)
  const held: Promise<unknown>[] = []
  await until(() => {
    if (held.length < 50) held.push(client.call('hold'))
    return open.size === 3
  })
  await until(() => calls() === held.length)
  expect(open.size).toBe(3)
  release()
  await Promise.all(held)
})

test('a pool of a command is refused', () => {
  const servers = { it: { command: 'x', pool: { min: 2 } } }
  expect(() => new Router({ servers })).toThrow('use "instances"')
})
