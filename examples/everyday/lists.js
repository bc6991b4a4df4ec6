// @ts-check
// Resources that are listed from a database, page by page.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'

const rows = Array.from({ length: 250 }, (_, id) => ({ uri: `rows://${id}`, name: `row ${id}` }))
const table = {
  page: async (cursor = '0') => ({
    rows: rows.slice(+cursor, +cursor + 100),
    next: +cursor < 200 ? `${+cursor + 100}` : undefined,
  }),
  get: (/** @type {string} */ id) => rows[Number(id)]?.name,
}
const server = new Server({ name: 'rows', version: '1.0.0' }, { pageSize: 100 })
const client = await connect(server)

// ---- the task
const list = async (/** @type {string | undefined} */ cursor) => {
  const { rows, next } = await table.page(cursor)
  return { resources: rows, next }
}
server.resourceTemplate('row', 'rows://{id}', { list }, ({ id }) => table.get(id))
// ---- the check

const listed = []
for await (const { uri } of client.resources()) listed.push(uri)
assert.equal(listed.length, 250)
assert.equal(listed.at(-1), 'rows://249')
assert.equal((await client.read('rows://249')).text, 'row 249')
const first = await client.request('resources/list')
assert.equal(Array.isArray(first.resources) && first.resources.length, 100)
console.log(`${listed.length} resources in three pages`)
await client.close()
