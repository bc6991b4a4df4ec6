// The codec alone: no connection, no dependency, nothing thrown.

import assert from 'node:assert/strict'
import { decode, encodeBatch, encodeError, encodeRequest } from 'trunkline/jsonrpc'

// Writing.
assert.equal(
  encodeRequest(1, 'sum', [1, 2, 4]),
  '{"jsonrpc":"2.0","id":1,"method":"sum","params":[1,2,4]}',
)

// Reading. The `type` tells what it is.
const request = decode('{"jsonrpc":"2.0","id":7,"method":"sum","params":[1,2,4]}')
assert.deepEqual(request, { type: 'request', id: 7, method: 'sum', params: [1, 2, 4] })

// Ids too large for a number keep all their digits.
const large = decode('{"jsonrpc":"2.0","id":9007199254740993,"method":"sum"}')
assert.equal(large.id, 9007199254740993n)

// A broken message is a value that says what is wrong, whose it is and what to answer.
const broken = decode('{"jsonrpc":"1.0","id":7,"method":"sum"}')
assert.equal(broken.type, 'invalid')
assert.equal(broken.reason, 'version')
console.log(encodeError(broken.id, broken.error.code, broken.error.message))

// In a batch, good and bad lie side by side, in order.
const batch = decode('[{"jsonrpc":"2.0","method":"note"}, 1]')
assert.deepEqual(
  batch.entries.map(entry => entry.type),
  ['notification', 'invalid'],
)
console.log(
  encodeBatch([
    { type: 'result', id: 1, result: 7 },
    { type: 'result', id: 'two', result: 19 },
  ]),
)
