import { expect, test } from 'vitest'
import { ChannelError, type ChannelErrorCode } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import type { Lane } from '../connection/connection.ts'
import { Health } from './health-check.ts'

/** Looks five times at a server that answers so, and gives what was told of it. */
async function looked(answer: () => Promise<unknown>): Promise<readonly string[]> {
  const clock = fakeClock()
  const told: string[] = []
  const client = { server: { revision: { era: 'session' } }, request: answer }
  // The check: that is all of a lane that is looked at.
  const lane = { client } as unknown as Lane
  const health = new Health(lane, { everyMs: 100, failures: 3 }, new Deadlines(clock), {
    onBack: () => told.push('back'),
    onDead: () => told.push('dead'),
  })
  for (let turn = 0; turn < 5; turn++) {
    clock.advance(200)
    await new Promise<void>(resolve => setImmediate(resolve))
  }
  health.stop()
  return told
}

const failing = (code: ChannelErrorCode) => () => Promise.reject(new ChannelError(code, 'x'))

test.each<[string, () => Promise<unknown>]>([
  ['answers', async () => ({})],
  ['refuses', () => Promise.reject(new RpcError(-32601, 'x'))],
  ['has more to do than one connection carries', failing('too-many')],
])('a server that %s lives', async (_, answer) => {
  expect(await looked(answer)).toEqual([])
})

test.each<ChannelErrorCode>(['timeout', 'closed', 'outcome-unknown'])(
  'a server that can only be heard of as "%s" is told to be dead, once',
  async code => {
    expect(await looked(failing(code))).toEqual(['dead'])
  },
)

test('a server that answers after a miss is told to be back', async () => {
  let looks = 0
  const answer = () => (looks++ === 1 ? failing('timeout')() : Promise.resolve({}))
  expect(await looked(answer)).toEqual(['back'])
})
