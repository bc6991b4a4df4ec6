/*
 * node web-worker.js OPTIONS, where OPTIONS are JSON: `address`, where it is served over HTTP, and
 * `ledger`, a file that every execution is written to before it is answered, with the process and the
 * wire that the call came by. Prints the address.
 */
import { openSync, writeSync } from 'node:fs'
import { listen, Server } from '../../dist/index.js'

const { address, ledger } = JSON.parse(process.argv[2] ?? '{}')
const book = openSync(ledger, 'a')

const server = new Server({ name: 'web-worker', version: '1' })
const input = {
  type: 'object',
  properties: { nonce: { type: 'string' } },
  required: ['nonce'],
}
const carryOut = nonce => {
  writeSync(book, `${nonce} ${process.pid} ${wire}\n`)
  return nonce
}
let wire = 'http'
server.use(next => (message, exchange) => {
  // Handlers begin inside of this, so that it is still true when they write it down.
  wire = exchange.envelope.headers?.upgrade ?? 'http'
  return next(message, exchange)
})
server.tool('work', { input }, ({ nonce }) => carryOut(nonce))
server.tool('look', { input, annotations: { readOnlyHint: true } }, ({ nonce }) => carryOut(nonce))
server.tool('hold', { input }, ({ nonce }) => {
  carryOut(nonce)
  return new Promise(() => {})
})

const listener = await listen(server, address)
console.log(listener.address)
