import { describe, expect, test } from 'vitest'
import { Wire, written } from '../http/raw.ts'
import { calling } from '../http/requests.ts'
import { serve } from '../http/served.ts'

describe.each(['fast', 'node'] as const)('with the parser %s', parser => {
  test.each([70_000, 90_000])(
    'a client that leaves is noticed though it sent %d bytes ahead',
    async size => {
      const served = await serve({ http: { parser } })
      const wire = await Wire.open(served.port)
      wire.send(written(served.port, calling('wait', { word: 'a' })))
      wire.send(
        `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${served.port}\r\ncontent-length: ${size}\r\n\r\n${'x'.repeat(size)}`,
      )
      await expect.poll(() => wire.socket.writableLength).toBe(0)
      wire.cut()
      await expect.poll(() => served.aborted).toEqual(['a'])
    },
  )

  test('a WebSocket never overtakes the response before it', async () => {
    const served = await serve({ http: { parser } })
    const wire = await Wire.open(served.port)
    let text = ''
    wire.socket.on('data', chunk => {
      text += chunk
    })
    wire.send(
      Buffer.concat([
        written(served.port, calling('wait', { word: 'a' })),
        Buffer.from(
          `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
        ),
      ]),
    )
    served.gate('a').resolve()
    await Promise.race([wire.ended, expect.poll(() => text).toContain('101 Switching')])
    expect(text === '' || text.startsWith('HTTP/1.1 200')).toBe(true)
    wire.cut()
  })
})

test('further requests over the limit are not served, and the one before them is', async () => {
  const served = await serve()
  const wire = await Wire.open(served.port)
  wire.send(written(served.port, calling('wait', { word: 'a' })))
  wire.send(written(served.port, calling('echo', { word: 'x'.repeat(70_000) })))
  await expect.poll(() => wire.socket.writableLength).toBe(0)
  served.gate('a').resolve()
  expect((await wire.reply()).status).toBe(200)
  await wire.ended
})
