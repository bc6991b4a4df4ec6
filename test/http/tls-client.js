// Serves over TLS with the certificate in test/fixtures, connects by a name of this machine, and prints the outcome.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { nodeHandler } from '../../dist/http/index.js'
import { connect, Server } from '../../dist/index.js'

const [host] = process.argv.slice(2)
const pem = readFileSync(new URL('../fixtures/localhost.pem', import.meta.url))
const server = new Server({ name: 'secure', version: '1' })
server.tool('who', {}, () => 'me')
const handler = nodeHandler(server)
const web = createServer({ key: pem, cert: pem }, handler)
await new Promise(resolve => web.listen(0, host, resolve))
try {
  const client = await connect(`https://${host}:${web.address().port}/`, { reconnect: false })
  const { text } = await client.call('who')
  console.log(`answered ${text}`)
  await client.close()
} catch (error) {
  console.log(`${error.code} ${error.message}`)
}
await handler.close()
web.close()
