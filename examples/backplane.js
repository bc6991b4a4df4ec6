// State that several processes share: who owns what, and messages to all. Two nodes use one backplane; the second takes
// over a record of the first, which then cannot change it any more. In production each node is a process, and the
// backplane is an engine that processes can share, such as `redis('redis://…')` of trunkline/redis. With an address of NATS
// as its argument (nats://HOST:4222), this program uses that.

import assert from 'node:assert/strict'
import { BackplaneError, memory } from 'trunkline/backplane'
import { nats } from 'trunkline/nats'

const [address] = process.argv.slice(2)
const backplane = address === undefined ? memory() : nats(address)
await backplane.open()
const { membership, store, log, bus } = backplane

// A heartbeat begins or renews the lease of a node, and returns the members that joined, left or changed.
await membership.heartbeat('node-1', '{"address":"10.0.0.1"}', 10_000, 0)
const { changed } = await membership.heartbeat('node-2', '{"address":"10.0.0.2"}', 10_000, 0)
assert.deepEqual(
  changed.map(member => member.node),
  ['node-1', 'node-2'],
)

// Of all nodes that claim a record, one becomes its owner. Its epoch is greater than any before.
const write = { value: 'made by node-1', ttlMs: 60_000 }
const first = await store.claim('session-7', undefined, 'node-1', write)
assert.ok(first.isOwner)

// The first node stalls, and another takes over.
const messages = []
await bus.subscribe('changes', { message: text => messages.push(text), gap: () => {} })
const second = await store.claim('session-7', 'node-1', 'node-2')
assert.ok(second.isOwner && second.epoch > first.epoch)
bus.publish('changes', 'session-7')

// The first one comes back. Its epoch is too small, so it can change neither the record nor the log.
const late = { node: 'node-1', epoch: first.epoch }
for (const attempt of [
  store.put('session-7', { value: 'too late', ttlMs: 60_000 }, late),
  log.append('session-7', [{ epoch: first.epoch, n: 1, fields: { event: 'too late' } }], {
    ttlMs: 60_000,
    max: 100,
  }),
]) {
  const error = await attempt.catch(error => error)
  assert.ok(error instanceof BackplaneError)
  assert.equal(error.code, 'fenced')
}
const record = await store.get('session-7')
assert.equal(record?.value, 'made by node-1')
assert.equal(record.owner?.node, 'node-2')
while (messages.length === 0) await new Promise(setImmediate)
assert.deepEqual(messages, ['session-7'])

await backplane.close()
console.log(`session-7 belongs to ${record.owner?.node}; the late writes of node-1 were refused`)
