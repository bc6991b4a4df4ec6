import { PassThrough } from 'node:stream'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { JSONRPCClient, JSONRPCServer } from 'json-rpc-2.0'
import vscodeJsonrpc from 'vscode-jsonrpc/node'
import { BareProtocol } from './bare-protocol.js'
import { ours } from './ours.js'

/*
 * Each of these links two peers, one of which answers `echo`, and returns
 * `{ call(method, params), close() }` for the other.
 */

const echo = params => params

/**
 * The floor: a Map of methods, a Map of pending calls, and objects passed by reference. `hand` delivers
 * them: in a microtask, so that no response arrives inside its own call, or directly.
 */
export function bareObjects(hand) {
  const methods = new Map([['echo', echo]])
  const waiting = new Map()
  let lastId = 0
  const receive = message => {
    const call = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.error === undefined) call.resolve(message.result)
    else call.reject(message.error)
  }
  const answer = ({ id, method, params }) => {
    const result = methods.get(method)(params)
    const message = { jsonrpc: '2.0', id, result }
    hand(() => receive(message))
  }
  return {
    call: (method, params) =>
      new Promise((resolve, reject) => {
        const id = ++lastId
        waiting.set(id, { resolve, reject })
        const message = { jsonrpc: '2.0', id, method, params }
        hand(() => answer(message))
      }),
    close() {},
  }
}

export async function trunkline() {
  const { Peer } = await ours('jsonrpc/index')
  const { memoryPair } = await ours('transport/index')
  const [near, far] = memoryPair()
  const server = new Peer(far, { echo })
  const client = new Peer(near)
  return {
    call: (method, params) => client.call(method, params),
    async close() {
      await client.close()
      await server.close()
    },
  }
}

export function jsonRpc2() {
  const server = new JSONRPCServer()
  server.addMethod('echo', echo)
  const client = new JSONRPCClient(async request => client.receive(await server.receive(request)))
  return { call: (method, params) => client.request(method, params), close() {} }
}

export async function sdk() {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = new BareProtocol()
  server.fallbackRequestHandler = async request => echo(request.params)
  const client = new BareProtocol()
  await server.connect(far)
  await client.connect(near)
  return {
    call: (method, params) => client.request({ method, params }, ResultSchema),
    close: () => client.close(),
  }
}

export function vscode() {
  const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = vscodeJsonrpc
  const there = new PassThrough()
  const back = new PassThrough()
  const open = (input, output) =>
    createMessageConnection(new StreamMessageReader(input), new StreamMessageWriter(output))
  const server = open(there, back)
  const client = open(back, there)
  server.onRequest('echo', echo)
  server.listen()
  client.listen()
  return {
    call: (method, params) => client.sendRequest(method, params),
    close() {
      client.dispose()
      server.dispose()
    },
  }
}
