import {
  Client as Client2,
  StreamableHTTPClientTransport as Transport2,
} from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, expect, test } from 'vitest'
import { memory } from '../../src/backplane/memory/memory.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { balancer } from '../support/balancer.js'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** Three nodes behind a load balancer without stickiness. Resolves to its address. */
async function balanced(): Promise<URL> {
  const backplane = memory()
  const addresses: string[] = []
  const front = await balancer(addresses)
  const allowedHosts = [new URL(front.address).host]
  const keys = [crypto.getRandomValues(new Uint8Array(32))]
  for (const name of ['a', 'b', 'c']) {
    const server = new Server({ name: 'cluster', version: '1' }, { keys })
    server.tool('where', {}, () => name)
    server.tool('ask', {}, async (_, ctx) => {
      await ctx.progress(1, 2)
      await ctx.elicit({ message: 'Go on?', schema: { type: 'object', properties: {} } })
      return `asked by ${name}`
    })
    const listener = await listen(server, 'http://127.0.0.1:0/mcp', { backplane, allowedHosts })
    addresses.push(listener.address)
    open.push(() => listener.close())
  }
  open.push(() => front.close())
  return new URL(front.address)
}

const info = { name: 'official', version: '1' }
const capabilities = { elicitation: {} }
const accepted = { action: 'accept' as const, content: {} }

test('the official client 1 works with three nodes behind a balancer', async () => {
  const client = new Client1(info, { capabilities })
  client.setRequestHandler(ElicitRequestSchema, () => accepted)
  // The check: the types of the package disagree about an optional member.
  await client.connect(new Transport1(await balanced()) as Parameters<Client1['connect']>[0])
  open.push(() => client.close())
  const places = new Set<unknown>()
  for (let round = 0; round < 6; round++) {
    const { content } = await client.callTool({ name: 'where', arguments: {} })
    places.add(JSON.stringify(content))
  }
  expect(places.size).toBe(1)
  const progress: number[] = []
  const asked = await client.callTool({ name: 'ask', arguments: {} }, undefined, {
    onprogress: each => void progress.push(each.progress),
  })
  expect(JSON.stringify(asked.content)).toContain('asked by')
  expect(progress).toEqual([1])
})

test('the official client 2 works with three nodes behind a balancer', async () => {
  const client = new Client2(info, { capabilities })
  client.setRequestHandler('elicitation/create', () => accepted)
  await client.connect(new Transport2(await balanced()))
  open.push(() => client.close())
  for (let round = 0; round < 6; round++) {
    const { content } = await client.callTool({ name: 'where', arguments: {} })
    expect(JSON.stringify(content)).toMatch(/"[abc]"/)
  }
  const asked = await client.callTool({ name: 'ask', arguments: {} })
  expect(JSON.stringify(asked.content)).toContain('asked by')
})
