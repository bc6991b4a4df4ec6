// A node:http server for the clients of the suite http-clients: answers a POST with its body, as JSON or
// as ten events. Ends with its input.

import { createServer } from 'node:http'

const EVENTS = 10

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', text => {
    body += text
  })
  request.on('end', () => {
    if (request.headers.accept !== 'text/event-stream') {
      const length = Buffer.byteLength(body)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
      response.end(body)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // Written one by one, as a server that reports progress does.
    for (let at = 0; at < EVENTS; at++) response.write(`id: ${at}\ndata: ${body}\n\n`)
    response.end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().on('end', () => process.exit())
