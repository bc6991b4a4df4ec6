// A server that handles one call at a time, behind a router. Calls wait in a queue: urgent ones go first,
// a call that finds the queue full is refused, and the router keeps it for inspection. The router spreads
// the calls over a pool of two connections.

import assert from 'node:assert/strict'
import { connect, listen, Server } from 'trunkline'
import { Router } from 'trunkline/router'

const order = []
let open = () => {}
const gate = new Promise(resolve => {
  open = resolve
})

const printer = new Server({ name: 'printer', version: '1.0.0' })
for (const tool of ['print', 'alarm']) {
  const input = { type: 'object', properties: { what: { type: 'string' } } }
  printer.tool(tool, { input }, async ({ what = tool }) => {
    order.push(what)
    await gate
    return `printed ${what}`
  })
}
const listener = await listen(printer, 'tcp://127.0.0.1:0')

const router = new Router({
  servers: {
    printer: {
      url: listener.address,
      prefix: false,
      limits: { concurrent: 1, queue: 3 },
      pool: { min: 2, max: 2 },
    },
  },
  // The first rule that matches a call decides. Other calls are `normal`.
  priorities: [{ tool: 'alarm', priority: 'high' }],
})
await router.ready()
const client = await connect(router)

/** Calls a tool; a caller may ask for a lower priority than it has. */
const call = (name, what, priority) =>
  client.request('tools/call', {
    name,
    arguments: { what },
    ...(priority !== undefined && { _meta: { 'trunkline/priority': priority } }),
  })

const calls = [
  call('print', 'the first page'),
  call('print', 'the archive', 'low'),
  call('print', 'a letter'),
  call('alarm', 'the alarm'),
]
const refused = await call('print', 'one too many').catch(error => error)
assert.equal(refused.code, -32010)
console.log(`refused: ${refused.message}, try again in ${refused.data.retryAfterMs} ms`)

open()
await Promise.all(calls)
assert.deepEqual(order, ['the first page', 'the alarm', 'a letter', 'the archive'])
console.log(`printed: ${order.join(', ')}`)

// What was refused or lost is kept, without its arguments.
const [letter] = router.deadLetters()
assert.deepEqual([letter.name, letter.outcome, letter.limit], ['print', 'not-executed', 'server'])
console.log(`kept: ${letter.name}, ${letter.outcome}, by the limit of the ${letter.limit}`)

await client.close()
await router.close()
await listener.close()
