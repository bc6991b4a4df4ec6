// Two processes behind one address share keys: each opens what the other has sealed, also while keys are rotated.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect, Server } from 'trunkline'

const [first, second] = [1, 2].map(() => randomBytes(32).toString('hex'))

// In a real deployment, the environment is set outside: TRUNKLINE_KEYS, or --keys FILE of `trunkline serve` and `up`.
function start(keys) {
  process.env.TRUNKLINE_KEYS = keys.join(',')
  const server = new Server({ name: 'books', version: '1.0.0' }, { pageSize: 1 })
  for (const name of ['borrow', 'return', 'search']) server.tool(name, {}, () => 'done')
  return connect(server)
}

async function page(client, cursor) {
  const { tools, nextCursor } = await client.request('tools/list', { cursor })
  return { name: tools[0].name, cursor: nextCursor }
}

// The client gets a page from one process and the next page from another.
const one = await start([first])
const other = await start([first])
const { cursor } = await page(one)
assert.equal((await page(other, cursor)).name, 'return')

// Rotation: the new key stands in front, and the old one still opens.
const rotated = await start([second, first])
assert.equal((await page(rotated, cursor)).name, 'return')

// A process without the key refuses the cursor.
const stranger = await start([second])
await assert.rejects(page(stranger, cursor), { code: -32602 })
console.log('a cursor of one process was continued by two others, and refused by a stranger')

for (const client of [one, other, rotated, stranger]) await client.close()
