import { describe, expect, test, vi } from 'vitest'
import { written } from '../http/raw.ts'
import { calling } from '../http/requests.ts'
import { serve } from '../http/served.ts'
import { pollOptions } from '../support/poll-options.ts'
import { silentClient } from './silent-client.ts'

const http = { headersTimeoutMs: 100, requestTimeoutMs: 100, idleTimeoutMs: 100 }

describe.each(['fast', 'node'] as const)('with the parser %s', parser => {
  const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\n'
  test.each([
    ['nothing', () => ''],
    ['half the headers', () => 'POST /mcp HTTP/1.1\r\nhost: a'],
    ['half a body', (whole: Buffer) => whole.subarray(0, -5)],
    [
      'a whole request and half another',
      (whole: Buffer) => Buffer.concat([whole, whole.subarray(0, -5)]),
    ],
    ['a request and no other', (whole: Buffer) => whole],
    ['no HTTP', () => 'no HTTP at all\r\n\r\n'],
    ['too many headers', () => `GET /mcp HTTP/1.1\r\n${'a: b\r\n'.repeat(150)}\r\n`],
    ['headers that are too long', () => `GET /mcp HTTP/1.1\r\na: ${'b'.repeat(100_000)}\r\n\r\n`],
    ['a body that is too large', () => 'POST /mcp HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n'],
    [
      'a WebSocket for a foreign host',
      () => `GET /mcp HTTP/1.1\r\nHost: evil.test\r\n${upgrade}\r\n`,
    ],
    [
      'a WebSocket without a key',
      (_: Buffer, host: string) => `GET /mcp HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\n`,
    ],
  ])('a client that sends %s and never closes is disconnected', async (_, bytes) => {
    const served = await serve({ http: { parser, ...http } })
    const whole = written(served.port, calling('echo', { word: 'a' }))
    const client = await silentClient(served.port, bytes(whole, `127.0.0.1:${served.port}`))
    await expect.poll(() => client.socket.destroyed || client.isCut(), { interval: 50 }).toBe(true)
  })
})

test('connections that are ended make room for others', async () => {
  const served = await serve({ maxConnections: 5, http })
  const half = () => silentClient(served.port, 'POST /mcp HTTP/1.1\r\nhost: a')
  const clients = await Promise.all([half(), half(), half(), half(), half()])
  await expect.poll(() => clients.every(client => client.isCut()), { interval: 50 }).toBe(true)
  // On a busy machine the limits of this server end a whole request, too.
  await vi.waitFor(() => served.isAlive(), pollOptions)
})

test('a call is not run whose request was refused as too slow', async () => {
  const served = await serve({ http })
  const whole = written(served.port, calling('change', {}))
  const client = await silentClient(served.port, whole.subarray(0, -1))
  let text = ''
  client.socket.resume().on('data', chunk => {
    text += chunk
  })
  await expect.poll(() => text).toMatch(/^HTTP\/1.1 408/)
  client.socket.write(whole.subarray(-1))
  await expect.poll(() => client.isCut(), { interval: 50 }).toBe(true)
  expect(text.match(/HTTP\/1.1/g)).toHaveLength(1)
})
