import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import {
  JSONRPCClient,
  JSONRPCErrorException,
  type JSONRPCRequest,
  type JSONRPCResponse,
  JSONRPCServer,
} from 'json-rpc-2.0'
import { WebSocketServer } from 'ws'
import { connect, listen, RpcError } from '../../src/index.ts'
import type { FramingName } from '../../src/wire/frame.ts'
import { cuts, type Raw, rawStream, rawTcp, rawWebSocket } from '../judges/raw.ts'
import { answers, fault } from './answers.js'
import { type BatchEntry, batchCases, type Caller, cases, type Outcome } from './cases.ts'
import type { Conversation, Directions } from './conversation.ts'
import { talkThrough } from './conversation.ts'
import { ourCaller } from './our-caller.ts'
import { ourMethods } from './ours.js'

// Reports that a notification found no method, which is intended.
const options = { protocol: 'jsonrpc', peer: { onError: () => {} } } as const
const framings = ['lines', 'length', 'headers'] as const satisfies readonly FramingName[]

/** Their client, which has no transport, on a raw one. */
function theirClient(raw: Raw): JSONRPCClient {
  const client = new JSONRPCClient(payload => raw.send(JSON.stringify(payload)))
  void receive(raw, document => client.receive(JSON.parse(document)))
  return client
}

async function receive(raw: Raw, into: (document: string) => unknown): Promise<void> {
  try {
    for (;;) await into(await raw.next())
  } catch {
    // The connection has ended, and so has the conversation.
  }
}

let lastId = 0

function requestOf({ method, params, isNotification }: BatchEntry): JSONRPCRequest {
  const request = { jsonrpc: '2.0', method, params } as const
  if (isNotification) return request
  lastId += 1
  return { ...request, id: `batch ${lastId}` }
}

function outcomeOf(response: JSONRPCResponse): Outcome {
  return response.error ? { error: response.error } : { result: response.result }
}

function theirCaller(client: JSONRPCClient): Caller {
  return {
    call: async (method, params) => client.request(method, params),
    notify: (method, params) => client.notify(method, params),
    batch: async entries => (await client.requestAdvanced(entries.map(requestOf))).map(outcomeOf),
  }
}

function theirServer(): JSONRPCServer {
  const { add, greet, echo, nothing, mark, marks, forget } = answers()
  const server = new JSONRPCServer({ errorListener: () => {} })
  server.addMethod('add', ([a, b]: [number, number]) => add(a, b))
  server.addMethod('greet', ({ name }: { name: string }) => greet(name))
  server.addMethod('echo', ({ value }: { value: unknown }) => echo(value))
  server.addMethod('nothing', nothing)
  server.addMethod('fail', () => {
    throw new JSONRPCErrorException(fault.message, fault.code, fault.data)
  })
  server.addMethod('mark', ({ word }: { word: string }) => mark(word))
  server.addMethod('marks', marks)
  server.addMethod('forget', forget)
  return server
}

/** Answers the messages of a raw transport. */
function serve(server: JSONRPCServer, raw: Raw): void {
  void receive(raw, async document => {
    const response = await server.receiveJSON(document)
    if (response !== null) raw.send(JSON.stringify(response))
  })
}

const theirsToOurs: Directions = {
  ...Object.fromEntries(
    framings.map(framing => [
      `TCP and ${framing}`,
      async (): Promise<Conversation> => {
        const methods = ourMethods(RpcError)
        const listener = await listen(methods, 'tcp://127.0.0.1:0', { ...options, framing })
        const raw = await rawTcp(listener.address, cuts[framing])
        return { caller: theirCaller(theirClient(raw)), end: () => ended(raw, listener) }
      },
    ]),
  ),
  WebSocket: async () => {
    const listener = await listen(ourMethods(RpcError), 'ws://127.0.0.1:0', options)
    const raw = await rawWebSocket(listener.address)
    return { caller: theirCaller(theirClient(raw)), end: () => ended(raw, listener) }
  },
}

async function ended(raw: Raw, listener: { close(): Promise<void> }): Promise<void> {
  raw.close()
  await listener.close()
}

const oursToTheirs: Directions = {
  ...Object.fromEntries(
    framings.map(framing => [
      `TCP and ${framing}`,
      async (): Promise<Conversation> => {
        const theirs = theirServer()
        const server = createServer(socket => serve(theirs, rawStream(socket, cuts[framing])))
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        const { port } = server.address() as AddressInfo
        const peer = await connect(`tcp://127.0.0.1:${port}`, { ...options, framing })
        return {
          caller: ourCaller(peer),
          end: async () => {
            await peer.close()
            server.close()
            await once(server, 'close')
          },
        }
      },
    ]),
  ),
  WebSocket: async () => {
    const theirs = theirServer()
    const wss = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    wss.on('connection', socket => {
      socket.on('message', async (data: Buffer) => {
        const response = await theirs.receiveJSON(data.toString())
        if (response !== null) socket.send(JSON.stringify(response))
      })
    })
    await once(wss, 'listening')
    const { port } = wss.address() as AddressInfo
    const peer = await connect(`ws://127.0.0.1:${port}`, options)
    return {
      caller: ourCaller(peer),
      end: async () => {
        await peer.close()
        wss.close()
      },
    }
  },
}

const all = [...cases, ...batchCases]

talkThrough('json-rpc-2.0, their client and our server', theirsToOurs, all)
talkThrough('json-rpc-2.0, our client and their server', oursToTheirs, all)
