import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import { Server } from '../../src/server/server.ts'
import { caller, failureOf, routed } from './routed.ts'

/** A server with a tool that never answers, and the number of calls it started. */
function silent() {
  const server = new Server({ name: 'silent', version: '1' })
  const begun = { calls: 0 }
  server.tool('wait', { annotations: { readOnlyHint: true } }, () => {
    begun.calls++
    return new Promise<never>(() => {})
  })
  server.tool('work', {}, () => 'done')
  return { server, begun }
}

/** Calls the tool that never answers, with a short timeout. */
function hurried(client: Client): Promise<unknown> {
  const _meta = { 'trunkline/timeoutMs': 20 }
  return client.request('tools/call', { name: 'wait', arguments: {}, _meta })
}

const breaker = { failures: 2 }

describe('a caller with a short timeout', () => {
  test('does not make a server unavailable to others', async () => {
    const { server } = silent()
    const router = await routed({ it: { server, prefix: false, breaker } })
    const client = await caller(router)
    for (let call = 0; call < 3; call++) {
      expect(await failureOf(hurried(client))).toMatchObject({ code: -32009 })
    }
    expect((await client.call('work')).text).toBe('done')
    expect(router.server('it')?.instances).toMatchObject([{ breaker: 'closed', inFlight: 0 }])
  })

  test('does not wait twice as long because the call may be retried', async () => {
    const { server, begun } = silent()
    const router = await routed({ it: { server, prefix: false, trustAnnotations: true } })
    const client = await caller(router)
    expect(await failureOf(hurried(client))).toMatchObject({ code: -32009 })
    expect(begun.calls).toBe(1)
  })
})

describe('a server that does not answer within its timeout', () => {
  test('gets no further calls, and the call is retried where that is allowed', async () => {
    const { server, begun } = silent()
    const options = {
      server,
      prefix: false,
      breaker,
      timeoutMs: 20,
      trustAnnotations: true,
    } as const
    const router = await routed({ it: options })
    const client = await caller(router)
    expect(await failureOf(client.call('wait'))).toMatchObject({ code: -32009 })
    expect(begun.calls).toBe(2)
    expect(router.server('it')?.instances).toMatchObject([{ breaker: 'open', inFlight: 0 }])
    expect(await failureOf(client.call('work'))).toMatchObject({ code: -32000 })
  })
})

test('input responses wait for the server that requested them, as every call does', async () => {
  const server = new Server({ name: 'asking', version: '1' }, { revisions: ['2026-07-28'] })
  server.tool('ask', {}, async (_, ctx) => {
    const { city } = await ctx.elicit({
      message: 'Where?',
      schema: { type: 'object', properties: { city: { type: 'string' } } } as const,
    })
    return `in ${city}`
  })
  const channels: Channel[] = []
  const endpoint: Endpoint = {
    profile: server.profile,
    revisions: server.revisions,
    handle: server.handle,
    attach: (channel, envelope) => {
      channels.push(channel)
      return server.attach(channel, envelope)
    },
  }
  const router = await routed({
    it: { server: endpoint, prefix: false, restart: { minMs: 100, maxMs: 200 } },
  })
  const client = await caller(router, {
    era: 'stateless',
    elicit: async () => {
      await channels.at(-1)?.close()
      return { action: 'accept', content: { city: 'Bern' } }
    },
  })
  expect((await client.call('ask')).text).toBe('in Bern')
})
