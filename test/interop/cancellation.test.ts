import { once } from 'node:events'
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
} from 'vscode-jsonrpc/node'
import { connect, listen, type Peer, RpcError } from '../../src/index.ts'
import { failure, marks } from './cases.ts'
import { ourCaller } from './our-caller.ts'
import { ourMethods } from './ours.js'
import { serveVscode } from './vscode.js'

const cancelled = { code: -32_800, message: 'Request cancelled' }
const cancellation = { method: '$/cancelRequest', member: 'id', answer: cancelled }
const options = { protocol: 'jsonrpc', framing: 'headers', peer: { cancellation } } as const

async function theirClient(): Promise<MessageConnection> {
  const quiet = { ...options, onError: () => {} }
  const listener = await listen(ourMethods(RpcError), 'tcp://127.0.0.1:0', quiet)
  const { hostname, port } = new URL(listener.address)
  const socket = connectSocket(Number(port), hostname)
  await once(socket, 'connect')
  const connection = createMessageConnection(socket, socket)
  connection.listen()
  onTestFinished(async () => {
    connection.dispose()
    socket.destroy()
    await listener.close()
  })
  return connection
}

async function ourClient(strays: string[]): Promise<Peer> {
  const sockets: Socket[] = []
  const server = createServer(socket => {
    sockets.push(socket)
    serveVscode(createMessageConnection(socket, socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const onStray = (_: unknown, why: string) => void strays.push(why)
  const peer = await connect(`tcp://127.0.0.1:${port}`, {
    ...options,
    peer: { cancellation, onStray },
  })
  onTestFinished(async () => {
    await peer.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return peer
}

describe('vscode-jsonrpc and our peer agree on cancelling', () => {
  it('their call is aborted here and answered with the code of the Language Server Protocol', async () => {
    const connection = await theirClient()
    const caller = { call: (method: string) => connection.sendRequest(method), notify: () => {} }
    const source = new CancellationTokenSource()
    const call = failure(connection.sendRequest('wait', {}, source.token))
    expect(await marks(caller, 1)).toEqual(['waiting'])
    source.cancel()
    expect(await call).toMatchObject(cancelled)
    expect(await marks(caller, 2)).toEqual(['waiting', 'cancelled'])
  })

  it('one of several calls of theirs can be cancelled without the others', async () => {
    const connection = await theirClient()
    const source = new CancellationTokenSource()
    const calls = [
      connection.sendRequest('add', 1, 2),
      failure(connection.sendRequest('wait', {}, source.token)),
      connection.sendRequest('add', 3, 4),
    ]
    source.cancel()
    expect(await Promise.all(calls)).toMatchObject([3, cancelled, 7])
  })

  it('cancelling an answered call of theirs does nothing', async () => {
    const connection = await theirClient()
    const source = new CancellationTokenSource()
    expect(await connection.sendRequest('greet', { name: 'Ada' }, source.token)).toBe('Hello, Ada!')
    source.cancel()
    expect(await connection.sendRequest('add', 3, 4)).toBe(7)
  })

  it('our call rejects at once, and their token is cancelled', async () => {
    const strays: string[] = []
    const peer = await ourClient(strays)
    const caller = ourCaller(peer)
    const giveUp = new AbortController()
    const call = failure(peer.call('wait', {}, { signal: giveUp.signal }))
    expect(await marks(caller, 1)).toEqual(['waiting'])
    const reason = new Error('enough')
    giveUp.abort(reason)
    expect(await call).toBe(reason)
    expect(await marks(caller, 2)).toEqual(['waiting', 'cancelled'])
    // They answer cancelled requests; the call has settled by then.
    expect(await peer.call('add', [1, 2])).toBe(3)
    expect(strays).toEqual(['late'])
  })
})

describe('a client of vscode-jsonrpc', () => {
  it('gets no details of an exception in our method', async () => {
    const connection = await theirClient()
    const error = await failure(connection.sendRequest('fail', { how: 'by accident' }))
    expect(error).toMatchObject({ code: -32_603, message: 'Internal error', data: undefined })
  })
})
