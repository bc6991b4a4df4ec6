import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode } from './codec/decode.ts'
import {
  batchSchema,
  errorSchema,
  messageSchema,
  notificationSchema,
  requestSchema,
  resultSchema,
} from './schema.ts'

const ajv = new Ajv2020({ strict: true })
const isMessage = ajv.compile(messageSchema)
const isBatch = ajv.compile(batchSchema)
const forms = {
  request: ajv.compile(requestSchema),
  notification: ajv.compile(notificationSchema),
  result: ajv.compile(resultSchema),
  error: ajv.compile(errorSchema),
}

/** A value that is now and then the right one. */
function mostly<T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<unknown> = fc.jsonValue()) {
  return fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: wrong })
}

const halves = fc.constantFrom('\ud800', 'a\udfff', '\udc00\ud800')
const name = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.constantFrom('', 'rpc.x', '__proto__', 'constructor', '😀', '\u0000'),
  fc.integer({ min: 254, max: 258 }).map(length => 'x'.repeat(length)),
  halves,
)
const id = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ min: -1e20, max: 1e20, noNaN: true }),
  name,
  fc.constantFrom(0, -0, '', '0', 2 ** 53, 2 ** 60, 1.5, null),
)
// Larger numbers are written with an exponent, which a schema cannot see.
const noId = fc.jsonValue().filter(value => typeof value !== 'number' || Math.abs(value) < 1e21)
const errorMember = fc.record(
  {
    code: mostly(fc.integer(), fc.oneof(fc.double({ noNaN: true }), fc.jsonValue())),
    message: mostly(fc.string()),
    data: fc.jsonValue(),
    extra: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const nearMessage = fc.record(
  {
    jsonrpc: mostly(fc.constant('2.0'), fc.constantFrom('1.0', 2, 2.0, 12.05, '2', null, [])),
    id: mostly(id, noId),
    method: mostly(name),
    params: mostly(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()))),
    result: fc.jsonValue(),
    error: mostly(errorMember),
    extra: fc.jsonValue(),
  },
  { requiredKeys: [] },
)

/** Messages with one member taken, so that most are right but for that. */
const damaged = fc
  .tuple(
    fc.constantFrom(
      { jsonrpc: '2.0', id: 1, method: 'm', params: [] },
      { jsonrpc: '2.0', method: 'm' },
      { jsonrpc: '2.0', id: 'a', result: null },
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } },
    ),
    nearMessage,
    fc.subarray(['jsonrpc', 'id', 'method', 'params', 'result', 'error', 'extra'] as const, {
      maxLength: 2,
    }),
  )
  .map(([base, other, keys]) => {
    const copy = new Map<string, unknown>(Object.entries(base))
    for (const key of keys) {
      if (other[key] === undefined) copy.delete(key)
      else copy.set(key, other[key])
    }
    return Object.fromEntries(copy)
  })

/** The orders in which members are usually written, since each is read in its own way. */
const orders = fc.constantFrom<readonly string[]>(
  ['jsonrpc', 'id', 'method', 'params', 'result', 'error', 'extra'],
  ['method', 'params', 'result', 'jsonrpc', 'id', 'error', 'extra'],
  ['extra', 'error', 'result', 'params', 'method', 'id', 'jsonrpc'],
)

function ordered(messages: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.tuple(messages, orders).map(([message, order]) => {
    const members = Object.entries(message)
    return Object.fromEntries(members.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)))
  })
}

const anything = fc.oneof(
  { weight: 4, arbitrary: ordered(damaged) },
  { weight: 3, arbitrary: ordered(nearMessage) },
  { weight: 1, arbitrary: fc.jsonValue().filter(value => !Array.isArray(value)) },
)

describe('the schemas and decode', () => {
  test('agree on every single value', () => {
    fc.assert(
      fc.property(anything, value => {
        const text = JSON.stringify(value)
        const decoded = decode(text)
        // The schema sees what the text says: -0 is written 0.
        expect(isMessage(JSON.parse(text))).toBe(decoded.type !== 'invalid')
      }),
      { numRuns: 2000 },
    )
  })

  test('agree on which of the four forms a message has', () => {
    fc.assert(
      fc.property(anything, value => {
        const text = JSON.stringify(value)
        const { type } = decode(text)
        const fitting = Object.entries(forms).filter(([, fits]) => fits(JSON.parse(text)))
        expect(fitting.map(([form]) => form)).toEqual(type === 'invalid' ? [] : [type])
      }),
      { numRuns: 1000 },
    )
  })

  test('agree on every entry of a batch, and on the batch', () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 5 }), values => {
        const text = JSON.stringify(values)
        const decoded = decode(text)
        const entries = decoded.type === 'batch' ? decoded.entries : []
        const parsed: unknown[] = JSON.parse(text)
        expect(entries.length).toBe(values.length)
        expect(parsed.map(value => isMessage(value))).toEqual(
          entries.map(entry => entry.type !== 'invalid'),
        )
        const isGood = decoded.type === 'batch' && entries.every(entry => entry.type !== 'invalid')
        expect(isBatch(parsed)).toBe(isGood)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    { name: 'a hundred messages', length: 100, taken: true },
    { name: 'a hundred and one', length: 101, taken: false },
  ])('agree on $name', ({ length, taken }) => {
    const batch = Array.from({ length }, () => ({ jsonrpc: '2.0', method: 'm' }))
    expect(isBatch(batch)).toBe(taken)
    expect(decode(JSON.stringify(batch)).type).toBe(taken ? 'batch' : 'invalid')
  })
})

test('the schemas are plain JSON', () => {
  for (const schema of [requestSchema, notificationSchema, resultSchema, errorSchema]) {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema)
  }
  expect(JSON.parse(JSON.stringify(messageSchema))).toEqual(messageSchema)
  expect(JSON.parse(JSON.stringify(batchSchema))).toEqual(batchSchema)
})
