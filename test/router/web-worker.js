/*
 * node web-worker.js OPTIONS, where OPTIONS is JSON: `address`, the HTTP address to listen on, and
 * `ledger`, a file that records every execution before the response, with the process id and the wire
 * that the call arrived on. Prints the address.
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
  // Handlers start inside this call, so the value is still current when they record it.
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
