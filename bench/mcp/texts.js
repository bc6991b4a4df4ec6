import assert from 'node:assert/strict'
import { compare } from '../measure.js'
import { ours } from '../ours.js'
import { aim, list } from '../report.js'
import { trunklineServer } from './definition-ours.js'
import { elsewhere } from './elsewhere.js'
import { answerTo, argumentsOf, badArguments, name as toolName, zodInput } from './tool.js'
import { opening, request, toolRequest } from './wire.js'

const field = [
  ['JSON.parse + Zod + stringify', 'session', bare],
  ['trunkline', 'stateless', () => trunkline()],
  ['trunkline, session', 'session', () => trunkline()],
  ['trunkline, JSON Schema', 'stateless', () => trunkline('plain')],
  ['SDK 1.32', 'session', sdk1],
  ['SDK 2.4', 'stateless', sdk2],
  ['SDK 2.4, session', 'session', sdk2],
]

const atOnce = 64

/** Measures the server alone: from the text of a tool call to the text of its response. */
export async function texts({ rounds, seconds = 0.15, only, alone, log }) {
  const title = 'MCP server, text in, text out'
  if (!title.includes(only)) return []
  log(title)
  const contestants = field.map(([name]) => elsewhere('texts', name, atOnce))
  const results = await compare(contestants, { rounds, seconds, alone })
  const bytes = toolRequest('stateless', 500).length
  const aims = [aim(results, { than: 'trunkline, session', least: 0.8, most: 1.25 })]
  const workload = { name: 'text in, text out', bytes, results, aims }
  const notes = [
    `tools/call requests of ${bytes} bytes (session: ${toolRequest('session', 500).length}), ${atOnce} at a time. The schema of the tool validates the`,
    'arguments. There is no pipe and no client. The floor parses, validates the arguments and writes; it ignores the envelope.',
  ]
  return [{ title, notes, workloads: [workload], text: list(workload) }]
}

/**
 * A contestant that handles `count` texts. Opening it returns `{ feed(text), onReply, close() }`; it
 * passes the text of each response to `onReply`.
 */
export function contestant(name) {
  const [, era, open] = field.find(([label]) => label === name)
  let server
  let requests = []
  let next = 0
  const ask = text =>
    new Promise(resolve => {
      server.onReply = resolve
      server.feed(text)
    })
  return {
    name,
    async open() {
      server = await open()
      const { request: first, notifications } = opening(era)
      await ask(first)
      for (const text of notifications) server.feed(text)
    },
    async check() {
      const reply = JSON.parse(await ask(toolRequest(era, 7)))
      assert.equal(reply.id, 7)
      assert.equal(reply.result.content[0].text, answerTo(argumentsOf(7)))
      const bad = request(era, 8, 'tools/call', { name: toolName, arguments: badArguments })
      const refused = JSON.parse(await ask(bad))
      assert.ok(refused.error !== undefined || refused.result.isError)
    },
    prepare() {
      requests = Array.from({ length: 1024 }, (_, id) =>
        Buffer.from(toolRequest(era, id)).toString(),
      )
    },
    async run(count) {
      let missing = 0
      let done
      server.onReply = text => {
        // Sending a response would flatten the string.
        sent.latin1Write(text, 0)
        if (--missing === 0) done()
      }
      for (let left = count; left > 0; left -= atOnce) {
        const number = Math.min(atOnce, left)
        missing = number
        const all = new Promise(resolve => {
          done = resolve
        })
        for (let i = 0; i < number; i++) server.feed(requests[next++ & 1023])
        await all
      }
    },
    close: () => server?.close(),
  }
}

const sent = Buffer.alloc(1 << 16)

function bare() {
  const check = zodInput['~standard'].validate
  const tools = new Map([[toolName, answerTo]])
  const answer = ({ method, params }) => {
    if (method !== 'tools/call') return { result: {} }
    const checked = check(params.arguments)
    if (checked.issues !== undefined) return { error: { code: -32602, message: 'bad arguments' } }
    return {
      result: { content: [{ type: 'text', text: tools.get(params.name)(checked.value) }] },
    }
  }
  const server = {
    onReply() {},
    feed(text) {
      const message = JSON.parse(text)
      if (message.id === undefined) return
      server.onReply(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer(message) }))
    },
    close() {},
  }
  return server
}

async function trunkline(schema) {
  const { decode } = await ours('jsonrpc/index')
  const { encode } = await ours('jsonrpc/index')
  const definition = await trunklineServer(schema)
  let sink
  const envelope = {}
  const server = {
    onReply() {},
    feed: text => void sink.receive(decode(text), envelope),
    close: () => definition.close(),
  }
  definition.attach({
    open(receiver) {
      sink = receiver
    },
    send(message) {
      server.onReply(encode(message))
    },
    async close() {},
    async [Symbol.asyncDispose]() {},
  })
  return server
}

async function sdk1() {
  const stdio = await import('@modelcontextprotocol/sdk/shared/stdio.js')
  const { sdk1Server } = await import('./definition-sdk1.js')
  const link = transport(stdio.deserializeMessage, stdio.serializeMessage)
  await sdk1Server().connect(link.transport)
  return link.server
}

async function sdk2() {
  const packaged = await import('@modelcontextprotocol/server')
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const { sdk2Server } = await import('./definition-sdk2.js')
  const link = transport(packaged.deserializeMessage, packaged.serializeMessage)
  serveStdio(() => sdk2Server(), { transport: link.transport })
  // The package starts its transport itself, a moment later.
  await new Promise(setImmediate)
  return link.server
}

/** A minimal transport for the official SDKs that works on texts, with their own parsing and serializing. */
function transport(read, write) {
  const server = {
    onReply() {},
    feed: text => link.onmessage(read(text)),
    close: () => link.close(),
  }
  const link = {
    async start() {},
    async send(message) {
      server.onReply(write(message))
    },
    async close() {
      link.onclose?.()
    },
  }
  return { server, transport: link }
}
