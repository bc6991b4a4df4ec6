import { describe, expect, test } from 'vitest'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import type { UpstreamOptions } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { proves } from '../requirements.ts'
import { caller, failureOf, routed } from './routed.ts'

/** A server whose connection is lost during the first call, and the number of calls it started. */
function losing() {
  const server = new Server({ name: 'losing', version: '1' })
  const channels: Channel[] = []
  const begun = { calls: 0 }
  const run = async (): Promise<string> => {
    begun.calls++
    if (begun.calls === 1) {
      await channels.at(-1)?.close()
      await new Promise(() => {})
    }
    return 'done'
  }
  server.tool('read', { annotations: { readOnlyHint: true } }, run)
  server.tool('repeat', { annotations: { idempotentHint: true } }, run)
  server.tool('change', {}, run)
  const endpoint: Endpoint = {
    profile: server.profile,
    revisions: server.revisions,
    handle: server.handle,
    attach: (channel, envelope) => {
      channels.push(channel)
      return server.attach(channel, envelope)
    },
  }
  return { endpoint, begun }
}

type RetryOptions = Pick<UpstreamOptions, 'trustAnnotations' | 'retry'>

async function called(tool: string, word: RetryOptions) {
  const { endpoint, begun } = losing()
  const restart = { minMs: 1, maxMs: 5 }
  const router = await routed({ it: { server: endpoint, prefix: false, restart, ...word } })
  return { begun, answer: (await caller(router)).call(tool) }
}

describe('a call whose connection is lost', () => {
  test.each<[string, string, RetryOptions]>([
    ['claims to be read-only', 'read', {}],
    ['claims to be idempotent', 'repeat', { trustAnnotations: false }],
    ['is not among those the operator named', 'repeat', { retry: { tools: ['read*'] } }],
    ['has no annotations, trusted or not', 'change', { trustAnnotations: true }],
  ])('is not retried where the tool %s', async (_, tool, word) => {
    proves('S4')
    const { begun, answer } = await called(tool, word)
    expect(await failureOf(answer)).toMatchObject({ data: { outcome: 'unknown' } })
    expect(begun.calls).toBe(1)
  })

  test.each<[string, string, RetryOptions]>([
    ['changes nothing', 'read', { trustAnnotations: true }],
    ['may be repeated', 'repeat', { trustAnnotations: true }],
    ['may be repeated by the word of the operator', 'change', { retry: { tools: ['ch*'] } }],
  ])('is made again where the tool %s', async (_, tool, word) => {
    const { begun, answer } = await called(tool, word)
    expect((await answer).text).toBe('done')
    expect(begun.calls).toBe(2)
  })
})
