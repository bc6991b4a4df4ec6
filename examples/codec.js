// The codec alone: no connection, no dependency, no exceptions.

import assert from 'node:assert/strict'
import { decode, encodeBatch, encodeError, encodeRequest } from 'trunkline/jsonrpc'

// Encode.
assert.equal(
  encodeRequest(1, 'sum', [1, 2, 4]),
  '{"jsonrpc":"2.0","id":1,"method":"sum","params":[1,2,4]}',
)

// Decode. The `type` says what the message is.
const request = decode('{"jsonrpc":"2.0","id":7,"method":"sum","params":[1,2,4]}')
assert.deepEqual(request, { type: 'request', id: 7, method: 'sum', params: [1, 2, 4] })

// An id that is too large for a number keeps all its digits.
const large = decode('{"jsonrpc":"2.0","id":9007199254740993,"method":"sum"}')
assert.equal(large.id, 9007199254740993n)

// A malformed message decodes to a value with the reason, the id and the error to respond with.
const broken = decode('{"jsonrpc":"1.0","id":7,"method":"sum"}')
assert.equal(broken.type, 'invalid')
assert.equal(broken.reason, 'version')
console.log(encodeError(broken.id, broken.error.code, broken.error.message))

// A batch contains its valid and invalid entries, in order.
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
