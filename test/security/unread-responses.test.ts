import { describe, expect, test } from 'vitest'
import { Server } from '../../src/server/server.ts'
import { Wire, written } from '../http/raw.ts'
import { calling } from '../http/requests.ts'
import { serve } from '../http/served.ts'
import { silentClient } from './silent-client.ts'

/** More than the system buffers for one connection. */
const long = 'x'.repeat(2e7)

function bigServer(): Server {
  const server = new Server({ name: 'big', version: '1' }, { onError: () => {} })
  server.tool('text', {}, () => long)
  server.tool('stream', {}, (_, ctx) => {
    ctx.progress(1, 2)
    return long
  })
  return server
}

const withProgress = { meta: { progressToken: 1 } }

describe.each(['fast', 'node'] as const)('with the parser %s', parser => {
  test.each([
    ['a JSON response', calling('text')],
    ['the end of an event stream', calling('stream', {}, withProgress)],
    [
      'a response to a client that closes',
      calling('text', {}, { headers: { connection: 'close' } }),
    ],
  ])('%s that nobody reads costs the client its connection', async (_, asking) => {
    const served = await serve({ stallMs: 100, http: { parser } }, bigServer())
    const request = written(served.port, asking)
    const clients = await Promise.all(
      Array.from({ length: 3 }, () => silentClient(served.port, request)),
    )
    await expect.poll(() => clients.map(client => client.isCut())).toEqual([true, true, true])
    await served.isAlive()
  })

  test('pipelined responses that are not read do not add up', async () => {
    const served = await serve(
      { stallMs: 100, maxOutboundBytes: 1000, http: { parser } },
      bigServer(),
    )
    const request = written(served.port, calling('text'))
    const client = await silentClient(
      served.port,
      Buffer.concat([request, request, request, request]),
    )
    await expect.poll(() => client.isCut()).toBe(true)
  })

  test('a client that reads gets all of it', async () => {
    // Client and server share a thread, which a busy machine may stop for seconds.
    const served = await serve({ stallMs: 300_000, http: { parser } }, bigServer())
    const wire = await Wire.open(served.port)
    const { json } = await wire.send(written(served.port, calling('text'))).reply()
    expect(json.result.content[0].text.length).toBe(long.length)
    wire.cut()
  })
})
