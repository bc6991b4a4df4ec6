import { afterEach, expect, test } from 'vitest'
import { Owned } from '../../../test/support/channel.ts'
import { connectWebSocket } from './connect.ts'
import { listenWebSocket } from './server.ts'

const owned = new Owned()
afterEach(() => owned.closeAll())

test.each([
  [true, true],
  [false, false],
  [undefined, false],
])('a side that closes with isDrained %s says so to the other side alone', async (given, told) => {
  const ends: boolean[] = []
  const listener = owned.add(
    await listenWebSocket(new URL('ws://localhost:0/rpc'), {}, channel => {
      channel.open({
        receive: () => void channel.close({ isDrained: given }),
        closed: (_, isDrained) => ends.push(isDrained === true),
      })
    }),
  )
  const channel = owned.add(await connectWebSocket(new URL(listener.address)))
  const heard = new Promise<unknown>(resolve => {
    channel.open({ receive: () => {}, closed: (...end) => resolve(end) })
  })
  void channel.send({ type: 'notification', method: 'hello' })
  expect(await heard).toEqual([undefined, told])
  await expect.poll(() => ends).toEqual([false])
})
