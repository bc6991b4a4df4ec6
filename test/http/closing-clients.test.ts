import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { deferred } from '../../src/util/promises.ts'

const cells = ['http://127.0.0.1:0/mcp', 'ws://127.0.0.1:0', 'tcp://127.0.0.1:0'].flatMap(address =>
  (['session', 'stateless'] as const).map(era => [address, era] as const),
)

test.each(cells)(
  'a server at %s that closes answers a %s client, and further calls wait for the next server',
  async (anywhere, era) => {
    const gate = deferred<void>()
    let held = 0
    const server = new Server({ name: 'it', version: '1' })
    server.tool('hold', {}, async () => {
      held++
      await gate.promise
      return 'kept'
    })
    server.tool('work', {}, () => 'done')
    const first = await listen(server, anywhere)
    const { address } = first
    const client = await connect(address, { era, onError: () => {} })
    onTestFinished(() => client.close())
    const calls = Array.from({ length: 3 }, () => client.call('hold'))
    await expect.poll(() => held).toBe(3)
    const closing = first.close()
    const further = client.call('work')
    gate.resolve()
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(['kept', 'kept', 'kept'])
    await closing
    const second = await listen(server, address)
    onTestFinished(() => second.close())
    expect((await further).text).toBe('done')
  },
)
