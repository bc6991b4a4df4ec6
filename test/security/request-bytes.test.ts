import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { held } from '../fuzz/cost.ts'
import { Wire, written } from '../http/raw.ts'
import { calling, inSession } from '../http/requests.ts'
import { serve } from '../http/served.ts'
import { stage } from '../support/http-server.ts'

const KiB = 1024
const MiB = 1024 * KiB
const word = 'x'.repeat(300 * KiB)

describe.each(['fast', 'node'] as const)('requests in flight with the parser %s', parser => {
  test('get 503 when they take too much memory together, and none once others are answered', async () => {
    const served = await serve({ maxRequestBytes: MiB, http: { parser } })
    const wires: Wire[] = []
    for (let i = 0; i < 3; i++) wires.push(await served.open(calling('wait', { word: word + i })))
    await expect.poll(async () => (await served.ask(calling('echo', { word }))).status).toBe(503)
    const { status } = await served.ask(calling('echo', { word: 'small' }))
    expect(status).toBe(200)
    for (let i = 0; i < 3; i++) served.gate(word + i).resolve()
    await Promise.all(wires.map(wire => wire.reply()))
    expect((await served.ask(calling('echo', { word }))).status).toBe(200)
    for (const wire of wires) wire.cut()
  })

  test('that are larger than the limit are served one at a time', async () => {
    const served = await serve({ maxRequestBytes: 100 * KiB, http: { parser } })
    for (let i = 0; i < 3; i++) {
      expect((await served.ask(calling('echo', { word }))).status).toBe(200)
    }
  })

  test('of clients that leave count no more once their handlers have ended', async () => {
    const served = await serve({ maxRequestBytes: MiB, http: { parser } })
    for (let i = 0; i < 3; i++) {
      const wire = await served.open(calling('wait', { word: word + i }))
      await expect.poll(() => wire.socket.writableLength).toBe(0)
      wire.cut()
    }
    await expect.poll(() => served.aborted.length).toBe(3)
    for (let i = 0; i < 3; i++) served.gate(word + i).resolve()
    await expect.poll(async () => (await served.ask(calling('echo', { word }))).status).toBe(200)
  })

  test('of sessions are answered with an error', async () => {
    const served = await serve({ maxRequestBytes: MiB, http: { parser } })
    const session = await served.session()
    const call = (name: string, text: string) =>
      inSession(session, 'tools/call', { name, arguments: { word: text } }, 1)
    const wires: Wire[] = []
    for (let i = 0; i < 3; i++) wires.push(await served.open(call('wait', word + i)))
    await expect
      .poll(async () => (await served.ask(call('echo', word))).json.error?.code)
      .toBe(-32000)
    for (let i = 0; i < 3; i++) served.gate(word + i).resolve()
    await Promise.all(wires.map(wire => wire.reply()))
    expect((await served.ask(call('echo', word))).json.error).toBeUndefined()
    for (const wire of wires) wire.cut()
  })
})

function callText(id: number, name: string, text: string): string {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name, arguments: { word: text }, _meta }
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
}

/** Opens a connection of which each message is one line. */
async function lines(address: string): Promise<{ send(text: string): void; replies: string[] }> {
  const replies: string[] = []
  if (address.startsWith('ws')) {
    const ws = new WebSocket(address)
    onTestFinished(() => ws.terminate())
    ws.on('message', data => void replies.push(String(data)))
    await once(ws, 'open')
    return { send: text => ws.send(text), replies }
  }
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('data', chunk => void replies.push(String(chunk)))
  return { send: text => void socket.write(`${text}\n`), replies }
}

test.each(['tcp://127.0.0.1:0', 'ws://127.0.0.1:0/'])(
  'requests in flight on %s get -32000 when they take too much memory together',
  async address => {
    const { server, gate } = stage()
    const listener = await listen(server, address, { maxRequestBytes: MiB })
    onTestFinished(() => listener.close())
    const { send, replies } = await lines(listener.address)
    for (let id = 1; id <= 5; id++) send(callText(id, 'wait', word))
    await expect.poll(() => replies.length).toBe(2)
    expect(replies.every(reply => reply.includes('-32000'))).toBe(true)
    gate(word).resolve()
    await expect.poll(() => replies.join('').match(/"id":[123]/g)?.length).toBe(3)
    send(callText(6, 'echo', 'y'.repeat(300 * KiB)))
    await expect.poll(() => replies.join('').includes('"id":6')).toBe(true)
  },
)

test('a connection keeps nothing of a request that was answered', async () => {
  const server = new Server({ name: 'short', version: '1' })
  server.tool('short', { input: { type: 'object' } }, () => 'short')
  const served = await serve({ http: { idleTimeoutMs: 600_000 } }, server)
  const wires = await Promise.all(Array.from({ length: 10 }, () => Wire.open(served.port)))
  const ask = (text: string) => {
    const bytes = written(served.port, calling('short', { text }))
    return Promise.all(wires.map(wire => wire.send(bytes).reply()))
  }
  const reachable = (): number => {
    held(1, () => {})
    return process.memoryUsage().heapUsed
  }
  await ask('x'.repeat(100 * KiB))
  const before = reachable()
  await ask('x'.repeat(MiB))
  await expect.poll(() => reachable() - before).toBeLessThan(5 * MiB)
  for (const wire of wires) wire.cut()
})
