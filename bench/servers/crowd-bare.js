/* The floor: node:http with an open response per client, and one text written to all of them. */
import { createServer } from 'node:http'
import { listenCrowd } from './crowd.js'

const responses = new Set()
const change = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.flushHeaders()
  responses.add(response)
  response.on('close', () => responses.delete(response))
})

listenCrowd(server, () => {
  const text = `data: ${JSON.stringify(change)}\n\n`
  for (const response of responses) response.write(text)
})
