// Calls in both directions on one connection: the server calls its client before it responds.

import assert from 'node:assert/strict'
import { connect, listen } from 'trunkline'

const shop = {
  order: async ({ item }, exchange) => {
    exchange.notify('progress', [`looking for ${item}`])
    const { size } = await exchange.back.call('choose', { from: ['small', 'large'] })
    return `one ${size} ${item}`
  },
}

const progress = []
const customer = {
  choose: ({ from }) => ({ size: from.at(-1) }),
  progress: step => progress.push(step),
}

const listener = await listen(shop, 'tcp://127.0.0.1:0', { protocol: 'jsonrpc' })
const peer = await connect(listener.address, { protocol: 'jsonrpc', methods: customer })

const order = await peer.call('order', { item: 'coffee' })
assert.equal(order, 'one large coffee')
assert.deepEqual(progress, ['looking for coffee'])
console.log(progress[0], '→', order)

await peer.close()
await listener.close()
