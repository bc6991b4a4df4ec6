// One MCP server on several transports at once.
//
//   node examples/demo.js            serves until Ctrl-C
//   node examples/demo.js --once     calls itself over every transport, then exits
//   node examples/demo.js --stdio    serves its parent process, such as an MCP host

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect, listen, Server, serve } from 'trunkline'

const server = new Server({
  name: 'trunkline-demo',
  version: '1.0.0',
  instructions: 'A few small tools to try a client with.',
})
const object = properties => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const number = { type: 'number' }

server.tool(
  'sum',
  {
    description: 'Adds numbers',
    input: object({ numbers: { type: 'array', items: number } }),
    output: object({ sum: number }),
  },
  ({ numbers }) => ({ sum: numbers.reduce((total, next) => total + next, 0) }),
)

server.tool(
  'wait',
  {
    description: 'Waits for some seconds and reports progress',
    input: object({ seconds: { type: 'integer', minimum: 1, maximum: 60 } }),
  },
  async ({ seconds }, ctx) => {
    for (let second = 1; second <= seconds; second++) {
      await sleep(1000, undefined, { signal: ctx.signal })
      ctx.progress(second, seconds)
    }
    return `Waited for ${seconds} s`
  },
)

server.tool('greet', { description: 'Asks who you are' }, async (_, ctx) => {
  const { name } = await ctx.elicit({ message: 'Who are you?', schema: object({ name: string }) })
  return `Hello, ${name}!`
})

const string = { type: 'string' }
const clock = 'demo://clock'

server.resource('clock', clock, { mimeType: 'text/plain' }, () => new Date().toISOString())
server.prompt(
  'haiku',
  { description: 'Asks for a poem', args: object({ about: string }) },
  ({ about }) => `Write a haiku about ${about}.`,
)

if (process.argv.includes('--stdio')) await serve(server, { addresses: ['stdio:'] })
else if (process.argv.includes('--once')) await tryEverything()
else await serveEverywhere()

async function tryEverything() {
  const { listeners, stop } = await listenEverywhere(0, 0, 0)
  for (const { address } of listeners) {
    const client = await connect(address)
    const { structured } = await client.call('sum', { numbers: [1, 2, 4] })
    console.log(`${address}  sum [1, 2, 4] = ${structured.sum}`)
    await client.close()
  }
  await stop()
}

async function serveEverywhere() {
  const { listeners, stop } = await listenEverywhere(3000, 4000, 4001)
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  // Subscribers of the clock get a notification every second.
  const ticking = setInterval(() => server.updated(clock), 1000)
  ticking.unref()
  greet(listeners.map(({ address }) => address))
}

/** Listens on ports that are easy to remember, or on free ports if those are in use. */
async function listenEverywhere(httpPort, tcpPort, webSocketPort) {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-'))
  const near = (address, port, path = '') =>
    listen(server, address + port + path).catch(() => listen(server, `${address}0${path}`))
  const isWindows = process.platform === 'win32'
  const listeners = [
    await near('http://127.0.0.1:', httpPort, '/mcp'),
    await near('tcp://127.0.0.1:', tcpPort),
    await near('ws://127.0.0.1:', webSocketPort),
    await listen(server, isWindows ? `pipe:trunkline-${process.pid}` : `unix:${folder}/sock`),
  ]
  const stop = async () => {
    await Promise.all(listeners.map(listener => listener.close()))
    await rm(folder, { recursive: true, force: true })
  }
  return { listeners, stop }
}

function greet([http, tcp, webSocket, local]) {
  const file = fileURLToPath(import.meta.url)
  const config = {
    mcpServers: { demo: { command: process.execPath, args: [file, '--stdio'] } },
  }
  console.log(`
Trunkline is listening. The same MCP server on every address:

  ${http}
  ${tcp}
  ${webSocket}
  ${local}

Try it from another terminal, in this folder:

  node examples/call-tool.js ${http}
  node examples/call-tool.js ${tcp} sum '{"numbers": [1, 2, 4]}'
  node examples/call-tool.js ${webSocket} wait '{"seconds": 3}'
  node examples/call-tool.js ${local} greet

An MCP host can connect to ${http}, or start the server itself with this configuration:

  ${JSON.stringify(config)}

Ctrl-C stops it.
`)
}
