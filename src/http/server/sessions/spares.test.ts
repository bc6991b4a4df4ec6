import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import type { HttpHandler } from '../../exchange.ts'
import { nodeServer } from '../../node/server.ts'

test('a connection that was opened to have one at hand is closed, one that has begun to ask is not', async () => {
  const service: HttpHandler = { handle: () => {}, close: async () => {} }
  const { server, closeSpares } = nodeServer(service)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const asking = connect(port, '127.0.0.1')
  const [[busy]] = await Promise.all([once(server, 'connection'), once(asking, 'connect')])
  asking.write('POST / HTTP/1.1\r\n')
  await once(busy, 'data').catch(() => {})
  const spare = connect(port, '127.0.0.1')
  await Promise.all([once(server, 'connection'), once(spare, 'connect')])
  closeSpares()
  spare.resume()
  await once(spare, 'close')
  expect(asking.destroyed).toBe(false)
  asking.destroy()
  server.close()
  await once(server, 'close')
})
