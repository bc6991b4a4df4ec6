import { describe, expect, test } from 'vitest'
import { ChannelError } from '../../jsonrpc/channel.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { deferred } from '../../util/promises.ts'
import { Deadlines, timed } from '../../util/time/deadline.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { UpstreamOptions } from '../options.ts'
import { InstanceLifecycle } from './instance-lifecycle.ts'

/** A connection that can be lost. */
function connectionOf() {
  const lost = deferred<Error | undefined>()
  const connection = {
    lost: lost.promise,
    isOpen: true,
    inFlight: 0,
    isClosed: false,
    lose(cause: Error) {
      connection.isOpen = false
      lost.resolve(cause)
    },
    closed: new Promise<undefined>(() => {}),
    async close() {
      connection.isClosed = true
    },
    closeUnlessRetired: () => connection.close(),
    async closeWhenUnused(deadlines: Deadlines) {
      while (connection.inFlight > 0) {
        await new Promise<void>(resolve => deadlines.start(timed(resolve), 100))
      }
      await connection.close()
    },
  }
  return connection
}

/** A lifecycle whose attempts to connect fail as long as `failure` is set. */
function lifecycleOf(options: UpstreamOptions = { command: 'x' }) {
  const clock = fakeClock()
  const reported: string[] = []
  const opened: ReturnType<typeof connectionOf>[] = []
  const server: { failure: Error | undefined; begun: number; succeeded: number } = {
    failure: undefined,
    begun: 0,
    succeeded: 0,
  }
  const lifecycle = new InstanceLifecycle(
    { ...options, health: { intervalMs: 0 } },
    {
      clock,
      deadlines: new Deadlines(clock),
      open: async () => {
        if (server.failure !== undefined) throw server.failure
        const connection = connectionOf()
        opened.push(connection)
        // The check: that is all of a connection that is looked at.
        return connection as unknown as UpstreamConnection
      },
      prepare: async () => {},
      counts: () => ({ ...server }),
      isAlone: () => true,
      onReady: () => reported.push('ready'),
      onDown: (_, isNewReason) => isNewReason && reported.push('down'),
      onRestart: attempt => reported.push(`restart ${attempt}`),
      onQuarantined: () => reported.push('quarantined'),
      received: () => 0,
      onMissed: () => {},
      onRecovered: () => {},
    },
  )
  const pass = async (ms = 0): Promise<void> => {
    clock.advance(ms)
    await new Promise<void>(resolve => setImmediate(resolve))
  }
  return { lifecycle, server, opened, reported, pass }
}

function shortage(code: string): Error {
  const cause = Object.assign(new Error(`spawn ${code}`), { code, syscall: 'spawn x' })
  return new ChannelError('refused', `starting "x": spawn ${code}`, { cause })
}

test.each(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'])(
  '%s of this machine is reported once, and quarantines nothing',
  async code => {
    const { lifecycle, server, reported, pass } = lifecycleOf()
    server.failure = shortage(code)
    lifecycle.start()
    for (let turn = 0; turn < 100; turn++) await pass(2000)
    expect(reported).toEqual(['down', 'restart 1'])
    expect(lifecycle.state).toBe('waiting')
    server.failure = undefined
    await pass(2000)
    expect(lifecycle.state).toBe('ready')
    await lifecycle.stop(new Error('over'))
  },
)

test('a program that cannot be started is quarantined', async () => {
  const { lifecycle, server, pass } = lifecycleOf()
  server.failure = new ChannelError('refused', 'no such program')
  lifecycle.start()
  for (let turn = 0; turn < 20; turn++) await pass(2000)
  expect(lifecycle.state).toBe('quarantined')
})

test('a program without calls is restarted however often it exits', async () => {
  const { lifecycle, opened, pass } = lifecycleOf()
  lifecycle.start()
  for (let turn = 0; turn < 20; turn++) {
    await pass(1000)
    expect(lifecycle.state).toBe('ready')
    await pass(1000)
    opened.at(-1)?.lose(new Error('killed'))
    await pass()
  }
  await lifecycle.stop(new Error('over'))
})

test('a program that answers none of its calls is quarantined', async () => {
  const { lifecycle, opened, server, pass } = lifecycleOf()
  lifecycle.start()
  for (let turn = 0; turn < 20 && lifecycle.state !== 'quarantined'; turn++) {
    await pass(2000)
    server.begun++
    opened.at(-1)?.lose(new Error('killed'))
    await pass()
  }
  expect(lifecycle.state).toBe('quarantined')
})

describe('a server that cannot be reached although its connection is open', () => {
  test('is connected anew, and calls in flight on the connection may end', async () => {
    const { lifecycle, opened, pass } = lifecycleOf({ url: 'http://127.0.0.1:1/mcp' })
    lifecycle.start()
    await pass()
    const [first] = opened
    if (first === undefined) throw new Error('nothing was opened')
    first.inFlight = 1
    lifecycle.leave(new ChannelError('closed', 'connect ECONNREFUSED'))
    await pass()
    expect([lifecycle.state, first.isClosed]).toEqual(['waiting', false])
    await pass(2000)
    expect([lifecycle.state, opened.length, first.isClosed]).toEqual(['ready', 2, false])
    first.inFlight = 0
    await pass(2000)
    expect(first.isClosed).toBe(true)
    await lifecycle.stop(new Error('over'))
  })

  test('is connected within a second although its next attempt is far away, if need be', async () => {
    const restart = { minMs: 3_600_000, maxMs: 3_600_000 }
    const { lifecycle, server, pass } = lifecycleOf({ url: 'http://127.0.0.1:1/mcp', restart })
    server.failure = new ChannelError('refused', 'HTTP 401', {
      cause: Object.assign(new Error('x'), { status: 401 }),
    })
    lifecycle.start()
    await pass()
    server.failure = undefined
    lifecycle.hurry(1000)
    await pass(1000)
    expect(lifecycle.state).toBe('ready')
    await lifecycle.stop(new Error('over'))
  })
})
