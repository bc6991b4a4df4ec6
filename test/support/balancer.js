import { once } from 'node:events'
import { createServer, request } from 'node:http'

/**
 * A load balancer without stickiness: each request goes to the next of the addresses, and to the one after it if that
 * refuses the connection. `addresses` may change. Resolves to its address and a function that closes it.
 */
export async function balancer(addresses) {
  let turn = 0
  const forward = (incoming, outgoing, body, left) => {
    const target = new URL(addresses[turn++ % addresses.length])
    const { headers } = incoming
    const { pathname, search } = new URL(incoming.url, target)
    const path = pathname === '/' ? target.pathname : pathname + search
    const onward = request({
      host: target.hostname,
      port: target.port,
      path,
      method: incoming.method,
      headers,
    })
    onward.on('response', response => {
      outgoing.writeHead(response.statusCode, response.headers)
      outgoing.flushHeaders()
      response.pipe(outgoing)
      response.on('error', () => outgoing.destroy())
    })
    onward.on('error', error => {
      if (error.code === 'ECONNREFUSED' && left > 1) forward(incoming, outgoing, body, left - 1)
      else outgoing.destroy()
    })
    outgoing.on('close', () => onward.destroy())
    onward.end(body)
  }
  const server = createServer((incoming, outgoing) => {
    const chunks = []
    incoming.on('data', chunk => chunks.push(chunk))
    incoming.on('end', () => forward(incoming, outgoing, Buffer.concat(chunks), addresses.length))
    incoming.on('error', () => outgoing.destroy())
  })
  server.keepAliveTimeout = 120_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${server.address().port}/mcp`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
