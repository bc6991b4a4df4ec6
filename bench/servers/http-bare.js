/*
 * The floor of the HTTP suite: node:http, JSON.parse, a Map of tools, JSON.stringify, no validation.
 * node http-bare.js json|events, where `events` responds with a stream of one event.
 */
import { createServer } from 'node:http'
import { answerTo, name, ownMicros } from '../mcp/tool.js'
import { listenHttp } from './http-listen.js'

const isEvents = process.argv[2] === 'events'
const tools = new Map([
  [name, answerTo],
  ['usage', () => String(ownMicros())],
])

listenHttp(
  createServer((request, response) => {
    const chunks = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { id, params } = JSON.parse(Buffer.concat(chunks).toString())
      const text = tools.get(params.name)(params.arguments)
      const reply = JSON.stringify({
        jsonrpc: '2.0',
        id,
        result: { content: [{ type: 'text', text }] },
      })
      if (isEvents) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${reply}\n\n`)
        response.end()
      } else {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(reply)
      }
    })
  }),
)
