import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import jayson from 'jayson'
import { WebSocket, WebSocketServer } from 'ws'
import { connect, listen, RpcError } from '../../src/index.ts'
import { answers, fault } from './answers.js'
import { type BatchEntry, batchCases, type Caller, cases, type Outcome } from './cases.ts'
import { type Directions, talkThrough } from './conversation.ts'
import { ourCaller } from './our-caller.ts'
import { ourMethods } from './ours.js'

// Reports that a notification found no method, which is intended.
const options = { protocol: 'jsonrpc', peer: { onError: () => {} } } as const

interface Response {
  readonly id: string
  readonly result?: unknown
  readonly error?: unknown
}

type Client = ReturnType<typeof jayson.Client.tcp> | ReturnType<typeof jayson.Client.websocket>

/** Sends a prepared request; resolves to the response, if there is one. */
function exchange(client: Client, request: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // The check: request() accepts arrays and single prepared requests.
    client.request(request as jayson.JSONRPCRequestLike[], (error: unknown, response: unknown) => {
      if (error) reject(error)
      else resolve(response)
    })
  })
}

function requestOf({ method, params, isNotification }: BatchEntry): jayson.JSONRPCRequest {
  return jayson.Utils.request(method, params, isNotification ? null : undefined)
}

function outcomeOf(response: Response): Outcome {
  return 'error' in response ? { error: response.error } : { result: response.result }
}

function theirCaller(client: Client, keepsOrder: boolean): Caller {
  return {
    keepsOrder,
    call: async (method, params) => {
      const response = await exchange(client, requestOf({ method, params }))
      const outcome = outcomeOf(response as Response)
      if ('error' in outcome) throw outcome.error
      return outcome.result
    },
    notify: (method, params) =>
      exchange(client, requestOf({ method, params, isNotification: true })),
    batch: async entries => {
      const requests = entries.map(requestOf)
      const responses = (await exchange(client, requests)) as readonly Response[]
      const byId = new Map(responses.map(response => [response.id, response]))
      return requests.flatMap(({ id }) => {
        const response = typeof id === 'string' ? byId.get(id) : undefined
        return response === undefined ? [] : [outcomeOf(response)]
      })
    },
  }
}

type Callback = (error: unknown, result?: unknown) => void

function theirServer(): InstanceType<typeof jayson.Server> {
  const { add, greet, echo, nothing, mark, marks, forget } = answers()
  return new jayson.Server({
    add: ([a, b]: [number, number], done: Callback) => done(null, add(a, b)),
    greet: ({ name }: { name: string }, done: Callback) => done(null, greet(name)),
    echo: ({ value }: { value: unknown }, done: Callback) => done(null, echo(value)),
    nothing: (_: unknown, done: Callback) => done(null, nothing()),
    fail: (_: unknown, done: Callback) => done(fault),
    mark: ({ word }: { word: string }, done: Callback) => done(null, mark(word)),
    marks: (_: unknown, done: Callback) => done(null, marks()),
    forget: (_: unknown, done: Callback) => done(null, forget()),
  })
}

const theirsToOurs: Directions = {
  TCP: async () => {
    const listener = await listen(ourMethods(RpcError), 'tcp://127.0.0.1:0', options)
    const { hostname, port } = new URL(listener.address)
    const client = jayson.Client.tcp({ host: hostname, port: Number(port) })
    // Each of its messages has its own connection.
    return { caller: theirCaller(client, false), end: () => listener.close() }
  },
  WebSocket: async () => {
    const listener = await listen(ourMethods(RpcError), 'ws://127.0.0.1:0', options)
    const ws = new WebSocket(listener.address)
    await once(ws, 'open')
    // The check: the two versions of ws agree on everything that is used.
    const client = jayson.Client.websocket({ ws: ws as never })
    return {
      caller: theirCaller(client, true),
      end: () => {
        ws.close()
        return listener.close()
      },
    }
  },
}

const oursToTheirs: Directions = {
  TCP: async () => {
    const server = theirServer().tcp()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const peer = await connect(`tcp://127.0.0.1:${port}`, options)
    return {
      caller: ourCaller(peer),
      end: async () => {
        await peer.close()
        server.close()
        await once(server, 'close')
      },
    }
  },
  WebSocket: async () => {
    const wss = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    theirServer().websocket({ wss: wss as never })
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

talkThrough('jayson, their client and our server', theirsToOurs, all)
talkThrough('jayson, our client and their server', oursToTheirs, all)
