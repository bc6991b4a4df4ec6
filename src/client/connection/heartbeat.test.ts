import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  never,
  serverOf,
  sessionRevisions,
  sessionServer,
  turns,
} from '../../../test/support/scripted-server.ts'
import { methodNotFound } from '../../jsonrpc/error.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { openClient } from '../client.ts'

async function beating(server: ReturnType<typeof serverOf>, heartbeat?: object) {
  const clock = fakeClock()
  const onError = vi.fn()
  const client = await openClient(server.dial, { clock, onError, heartbeat })
  onError.mockClear()
  const pass = async (ms: number) => {
    clock.advance(ms)
    await turns()
  }
  return { client, clock, onError, pass, pings: () => server.sent('ping').length }
}

describe.each(sessionRevisions)('a heartbeat in %s', revision => {
  it('pings at the interval', async () => {
    proves('U1b', 'U1c')
    const { client, pass, pings } = await beating(sessionServer(revision), { everyMs: 1000 })
    await pass(990)
    expect(pings()).toBe(0)
    await pass(30)
    expect(pings()).toBe(1)
    await pass(1030)
    expect(pings()).toBe(2)
    await client.close()
    await pass(5000)
    expect(pings()).toBe(2)
  })

  it('reports a missing response, and reconnects', async () => {
    proves('U1f', 'U1g')
    const server = sessionServer(revision, { ping: never })
    const { client, pass, onError } = await beating(server, { everyMs: 1000, waitMs: 300 })
    await pass(1030)
    expect(server.connections).toHaveLength(1)
    await pass(330)
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'timeout' })
    await turns()
    expect(server.connections).toHaveLength(2)
    await client.close()
  })

  it('accepts any response as alive', async () => {
    const server = sessionServer(revision, {
      ping: () => {
        throw methodNotFound('ping')
      },
    })
    const { client, pass, pings, onError } = await beating(server, { everyMs: 1000 })
    await pass(1030)
    await pass(1030)
    expect(pings()).toBe(2)
    expect(onError).not.toHaveBeenCalled()
    expect(server.connections).toHaveLength(1)
    await client.close()
  })
})

describe('a heartbeat', () => {
  it('is off by default, and leaves no timer behind', async () => {
    expect(limits.heartbeatMs.default).toBe(0)
    const { client, pass, pings } = await beating(sessionServer('2025-11-25'))
    await pass(1_000_000)
    expect(pings()).toBe(0)
    await client.close()
  })

  it('does not exist in stateless revisions', async () => {
    const server = serverOf('2026-07-28')
    const { client, pass, pings } = await beating(server, { everyMs: 10 })
    await pass(1000)
    expect(pings()).toBe(0)
    await client.close()
  })

  it('has a default timeout', async () => {
    const server = sessionServer('2025-11-25', { ping: never })
    const { client, pass, onError } = await beating(server, { everyMs: 1000 })
    await pass(1030)
    await pass(limits.heartbeatWaitMs.default - 100)
    expect(onError).not.toHaveBeenCalled()
    await pass(200)
    expect(onError).toHaveBeenCalledTimes(1)
    await client.close()
  })
})
