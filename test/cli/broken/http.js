// HTTP servers with one fault each: `node http.js MODE` prints the address.

import { createServer } from 'node:http'
import { answerOf } from './stdio.js'

/** Response of each mode to a valid request: status, media type and body. */
const modes = {
  right: body => [200, 'application/json', body],
  fails: () => [500, 'text/plain', 'oh no'],
  page: () => [200, 'text/html', '<h1>Hello</h1>'],
  'wrong-type': body => [200, 'text/plain', body],
  nowhere: () => [404, 'text/html', '<pre>Cannot POST /mcp</pre>'],
  locked: () => [401, 'application/json', '{"error":"invalid_token"}'],
  open: body => [200, 'application/json', body],
}

const mode = process.argv[2]
const server = createServer((request, response) => {
  const { origin, host, 'content-type': type } = request.headers
  const isForeign = origin !== undefined || !host?.startsWith('127.0.0.1')
  if (mode !== 'open' && isForeign) return response.writeHead(403).end()
  if (mode !== 'open' && request.method === 'POST' && type !== 'application/json') {
    return response.writeHead(415).end()
  }
  if (request.method !== 'POST') return response.writeHead(405).end()
  let text = ''
  request.on('data', chunk => {
    text += chunk
  })
  request.on('end', () => {
    const answer = answered(text)
    if (answer === undefined) return response.writeHead(202).end()
    const [status, mediaType, body] = modes[mode](JSON.stringify(answer))
    response.writeHead(status, { 'content-type': mediaType }).end(body)
  })
})

function answered(text) {
  try {
    return answerOf(JSON.parse(text))
  } catch {
    return { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } }
  }
}

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`))
