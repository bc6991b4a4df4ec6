import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { type ListenOptions, listen } from '../../src/listen.ts'
import { Wire, written } from '../http/raw.ts'
import { calling } from '../http/requests.ts'
import { serve } from '../http/served.ts'
import { stage } from '../support/http-server.ts'

const MiB = 1024 * 1024

/** A call of one MiB, which takes several chunks. */
const long = calling('echo', { word: 'x'.repeat(MiB) })

describe.each(['fast', 'node'] as const)('bodies with the parser %s', parser => {
  /** Sends all but the last byte of a long body, once the listener has read those before it. */
  const sendPart = async (port: number): Promise<Wire> => {
    const wire = await Wire.open(port)
    return wire.send(written(port, long).subarray(0, -1))
  }
  const last = written(0, long).subarray(-1)

  test('beyond the budget wait until those before them are complete', async () => {
    const served = await serve({ maxHeldBytes: 2 * MiB, heldWaitMs: 600_000, http: { parser } })
    const wires = await Promise.all(Array.from({ length: 6 }, () => sendPart(served.port)))
    const small = await served.ask(calling('echo', { word: 'small' }))
    expect(small.status).toBe(200)
    const replies = wires.map(wire => wire.send(last).reply())
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(Array(6).fill(200))
    for (const wire of wires) wire.cut()
  })

  test('that found no room for too long get 503', async () => {
    const served = await serve({ maxHeldBytes: 1.5 * MiB, heldWaitMs: 50, http: { parser } })
    const wires = await Promise.all([sendPart(served.port), sendPart(served.port)])
    const replies = wires.map(wire => wire.reply())
    const refused = await Promise.any(replies)
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true])
    for (const wire of wires) wire.send(last)
    const statuses = (await Promise.all(replies)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 503])
    for (const wire of wires) wire.cut()
    // Nothing is left of the budget's use.
    expect((await served.ask(long)).status).toBe(200)
  })

  test('in chunks of one byte are read', async () => {
    const served = await serve({ http: { parser } })
    const asking = calling('echo', { word: 'x'.repeat(10_000) })
    const { body = '', ...rest } = asking
    const fields = { ...rest.headers, 'content-length': undefined, 'transfer-encoding': 'chunked' }
    const wire = await Wire.open(served.port)
    wire.send(written(served.port, { ...rest, headers: fields }))
    wire.send(`${[...String(body)].map(char => `1\r\n${char}\r\n`).join('')}0\r\n\r\n`)
    expect((await wire.reply()).status).toBe(200)
    wire.cut()
  })

  test('over 4 MiB get 413', async () => {
    const served = await serve({ http: { parser } })
    const { status, json } = await served.ask(calling('echo', { word: 'x'.repeat(4 * MiB) }))
    expect([status, json.error.code]).toEqual([413, -32012])
  })
})

async function port(address: string, options: ListenOptions): Promise<number> {
  const listener = await listen(stage().server, address, { onError: () => {}, ...options })
  onTestFinished(() => listener.close())
  return Number(new URL(listener.address.replace('tcp:', 'http:')).port)
}

describe('incomplete messages', () => {
  test('on TCP that find no room for too long are answered, and their connection is closed', async () => {
    const to = await port('tcp://127.0.0.1:0', { maxHeldBytes: 1.5 * MiB, heldWaitMs: 50 })
    const texts = Array.from({ length: 3 }, () => {
      const socket = connect(to, '127.0.0.1')
      onTestFinished(() => void socket.destroy())
      const state = { text: '', isClosed: false }
      socket
        .on('error', () => {})
        .on('data', chunk => {
          state.text += chunk
        })
      socket.on('close', () => {
        state.isClosed = true
      })
      socket.write(`"${'x'.repeat(MiB)}`)
      return state
    })
    await expect.poll(() => texts.some(({ isClosed }) => isClosed)).toBe(true)
    const refused = texts.filter(({ isClosed }) => isClosed)
    expect(refused.length).toBeLessThan(3)
    for (const { text } of refused) expect(text).toContain('Server overloaded')
  })

  test('on TCP wait for room', async () => {
    const to = await port('tcp://127.0.0.1:0', { maxHeldBytes: 1.5 * MiB, heldWaitMs: 600_000 })
    const sockets = Array.from({ length: 4 }, () => connect(to, '127.0.0.1').on('error', () => {}))
    const text = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'x'.repeat(MiB)}"}}`
    for (const socket of sockets) {
      onTestFinished(() => void socket.destroy())
      socket.write(text)
    }
    const replies = sockets.map(socket => once(socket, 'data'))
    for (const socket of sockets) socket.write('\n')
    for (const [reply] of await Promise.all(replies)) expect(String(reply)).toContain('"id":1')
  })

  test('on WebSockets wait for room', async () => {
    const to = await port('ws://127.0.0.1:0/', { maxHeldBytes: 1.5 * MiB, heldWaitMs: 600_000 })
    const sockets = Array.from({ length: 4 }, () => new WebSocket(`ws://127.0.0.1:${to}/`))
    for (const ws of sockets) {
      onTestFinished(() => ws.terminate())
      await once(ws, 'open')
      ws.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'x'.repeat(MiB)}`, {
        fin: false,
      })
    }
    const replies = sockets.map(ws => once(ws, 'message'))
    for (const ws of sockets) ws.send('"}}')
    for (const [reply] of await Promise.all(replies)) expect(String(reply)).toContain('"id":1')
  })

  test('on WebSockets that find no room for too long close with 1013', async () => {
    const to = await port('ws://127.0.0.1:0/', { maxHeldBytes: 1.5 * MiB, heldWaitMs: 50 })
    const codes: number[] = []
    for (let i = 0; i < 3; i++) {
      const ws = new WebSocket(`ws://127.0.0.1:${to}/`)
      onTestFinished(() => ws.terminate())
      ws.on('error', () => {}).on('close', code => codes.push(code))
      await once(ws, 'open')
      ws.send('x'.repeat(MiB), { fin: false })
      ws.ping()
      // Either it was read, or it was refused.
      await Promise.race([once(ws, 'pong'), once(ws, 'close')])
    }
    await expect.poll(() => codes.length).toBeGreaterThan(0)
    expect(new Set(codes)).toEqual(new Set([1013]))
    expect(codes.length).toBeLessThan(3)
  })

  test.each(['tcp://127.0.0.1:0', 'ws://127.0.0.1:0/'])(
    'over 4 MiB are refused on %s',
    async address => {
      const to = await port(address, {})
      if (address.startsWith('tcp')) {
        const socket = connect(to, '127.0.0.1').on('error', () => {})
        onTestFinished(() => void socket.destroy())
        socket.write(`"${'x'.repeat(4 * MiB)}`)
        const [chunk] = await once(socket, 'data')
        expect(String(chunk)).toContain('-32012')
      } else {
        const ws = new WebSocket(`ws://127.0.0.1:${to}/`).on('error', () => {})
        await once(ws, 'open')
        ws.send('x'.repeat(4 * MiB + 1))
        const [code] = await once(ws, 'close')
        expect(code).toBe(1009)
      }
    },
  )
})
