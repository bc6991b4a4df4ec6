import { ours } from '../ours.js'
import { trunklineServer } from './definition-ours.js'
import { answerTo, name, zodInput } from './tool.js'
import { revisions } from './wire.js'

/*
 * Each of these links a client and a server in this process, with the client, the server and the
 * in-process transport of one package, and returns `{ call(arguments), textOf(result), close() }`.
 * Packages are loaded on use, so that each process contains only one of them.
 */

const client = { name: 'bench', version: '1.0.0' }

/** The floor: Maps of tools and pending calls, Zod, and objects passed by reference in a microtask. */
export function bare() {
  const tools = new Map([[name, { check: zodInput['~standard'].validate, run: answerTo }]])
  const waiting = new Map()
  let lastId = 0
  const receive = message => {
    const call = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.error === undefined) call.resolve(message.result)
    else call.reject(new Error(message.error.message))
  }
  const answer = ({ id, params }) => {
    const tool = tools.get(params.name)
    const checked = tool.check(params.arguments)
    if (checked.issues !== undefined) return { id, error: { message: 'bad arguments' } }
    return { id, result: { content: [{ type: 'text', text: tool.run(checked.value) }] } }
  }
  return {
    call: args =>
      new Promise((resolve, reject) => {
        const message = { id: ++lastId, method: 'tools/call', params: { name, arguments: args } }
        waiting.set(message.id, { resolve, reject })
        queueMicrotask(() => {
          const reply = answer(message)
          queueMicrotask(() => receive(reply))
        })
      }),
    textOf,
    close() {},
  }
}

export async function trunkline(era, schema) {
  const { connect } = await ours('index')
  const server = await trunklineServer(schema)
  const client = await connect(server, { era })
  return {
    call: args => client.call(name, args),
    textOf: answer => answer.text,
    async close() {
      await client.close()
      await server.close()
    },
  }
}

export async function sdk1() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { InMemoryTransport } = await import('@modelcontextprotocol/sdk/inMemory.js')
  const { sdk1Server } = await import('./definition-sdk1.js')
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = sdk1Server()
  const caller = new Client(client)
  await server.connect(far)
  await caller.connect(near)
  return callerOf(caller)
}

export async function sdk2(era) {
  const { Client, InMemoryTransport } = await import('@modelcontextprotocol/client')
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const { sdk2Server } = await import('./definition-sdk2.js')
  const [near, far] = InMemoryTransport.createLinkedPair()
  // How the package serves its newest protocol version on anything but HTTP.
  serveStdio(() => sdk2Server(), { transport: far })
  const mode = era === 'session' ? 'legacy' : { pin: revisions.stateless }
  const caller = new Client(client, { versionNegotiation: { mode } })
  await caller.connect(near)
  return callerOf(caller)
}

function callerOf(client) {
  return {
    call: args => client.callTool({ name, arguments: args }),
    textOf,
    close: () => client.close(),
  }
}

/** Returns the text of a result. Throws if the result reports invalid arguments. */
function textOf(result) {
  if (result.isError) throw new Error(result.content[0].text)
  return result.content[0].text
}
