import { expect, test } from 'vitest'
import { ChannelError, type ChannelErrorCode } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { HealthCheck } from './health-check.ts'

/** Checks a server that responds like this five times, and returns the reported events. */
async function looked(
  answer: () => Promise<unknown>,
  received: () => number = () => 0,
): Promise<readonly string[]> {
  const clock = fakeClock()
  const reported: string[] = []
  const client = { server: { revision: { features: { liveness: 'ping' } } }, request: answer }
  // The check: that is all of a connection that is looked at.
  const connection = { client } as unknown as UpstreamConnection
  const health = new HealthCheck(
    connection,
    { intervalMs: 100, failures: 3 },
    new Deadlines(clock),
    {
      received,
      onMissed: () => reported.push('missed'),
      onRecovered: () => reported.push('back'),
      onDead: () => reported.push('dead'),
      onAway: () => reported.push('away'),
    },
  )
  for (let turn = 0; turn < 5; turn++) {
    clock.advance(200)
    await new Promise<void>(resolve => setImmediate(resolve))
  }
  health.stop()
  return reported
}

const failing = (code: ChannelErrorCode, members?: object) => () => {
  const cause = members && Object.assign(new Error('x'), members)
  return Promise.reject(new ChannelError(code, 'x', { cause }))
}
const shortage = { code: 'EMFILE', syscall: 'connect' }

test.each<[string, () => Promise<unknown>]>([
  ['answers', async () => ({})],
  ['refuses', () => Promise.reject(new RpcError(-32601, 'x'))],
  ['has more to do than one connection carries', failing('too-many')],
  ['limits the rate of requests', failing('refused', { status: 429 })],
  ['this machine cannot reach for lack of handles', failing('closed', shortage)],
])('a server that %s lives', async (_, answer) => {
  expect(await looked(answer)).toEqual([])
})

test.each<ChannelErrorCode>(['timeout', 'refused', 'outcome-unknown'])(
  'a server that responds with "%s" is reported dead once',
  async code => {
    expect(await looked(failing(code))).toEqual(['missed', 'dead'])
  },
)

test('a server that does not listen any more is away, at once and once', async () => {
  expect(await looked(failing('closed'))).toEqual(['away'])
})

test('a server that responds after a missed check is reported as recovered', async () => {
  let looks = 0
  const answer = () => (looks++ === 1 ? failing('timeout')() : Promise.resolve({}))
  expect(await looked(answer)).toEqual(['missed', 'back'])
})

test('no request is sent to a server that sends messages', async () => {
  let asked = 0
  let messages = 0
  const answer = () => {
    asked++
    return failing('timeout')()
  }
  expect(await looked(answer, () => ++messages)).toEqual([])
  expect(asked).toBe(0)
})

test('a message that arrives instead of the response counts as a response', async () => {
  let messages = 0
  const answer = () => {
    messages++
    return failing('timeout')()
  }
  expect(await looked(answer, () => messages)).toEqual([])
})

test('a message between two checks makes the missed ones count for nothing', async () => {
  let looks = 0
  let messages = 0
  const answer = () => {
    // Two missed, then a message, then two missed again.
    if (++looks === 2) setImmediate(() => messages++)
    return failing('timeout')()
  }
  expect(await looked(answer, () => messages)).toEqual(['missed', 'back', 'missed'])
})
