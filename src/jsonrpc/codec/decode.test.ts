import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { Malformed, Message } from '../message.ts'
import { type DecodeOptions, decode, tooLarge } from './decode.ts'
import { encode } from './encode.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function invalid(input: string | Uint8Array, options?: DecodeOptions): Malformed {
  const decoded = decode(input, options)
  if (decoded.type !== 'invalid') throw new Error(`not refused: ${JSON.stringify(decoded)}`)
  return decoded
}

describe('what is a message', () => {
  const rows: [string, string, object][] = [
    [
      'a request',
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}',
      { type: 'request', id: 1, method: 'm', params: { a: 1 } },
    ],
    [
      'a request with the envelope behind',
      '{"method":"m","params":[1],"jsonrpc":"2.0","id":7}',
      { type: 'request', id: 7, method: 'm', params: [1] },
    ],
    [
      'a request in another order and with spaces',
      ' { "id" : "x" , "params" : [ ] , "method" : "m" , "jsonrpc" : "2.0" } \r\n',
      { type: 'request', id: 'x', method: 'm', params: [] },
    ],
    ['a request without params', '{"jsonrpc":"2.0","id":1,"method":"m"}', { id: 1, method: 'm' }],
    [
      'a request without params, envelope behind',
      '{"method":"m","jsonrpc":"2.0","id":0}',
      { type: 'request', id: 0, method: 'm' },
    ],
    ['the id 0', '{"jsonrpc":"2.0","id":0,"method":"m"}', { type: 'request', id: 0 }],
    ['the empty id', '{"jsonrpc":"2.0","id":"","method":"m"}', { type: 'request', id: '' }],
    ['the id null', '{"jsonrpc":"2.0","id":null,"method":"m"}', { type: 'request', id: null }],
    ['the id -1', '{"jsonrpc":"2.0","id":-1,"method":"m"}', { id: -1 }],
    ['the id -0, which is 0', '{"jsonrpc":"2.0","id":-0,"method":"m"}', { id: 0 }],
    ['the id 1.0, which is 1', '{"jsonrpc":"2.0","id":1.0,"method":"m"}', { id: 1 }],
    ['the id 1e0, which is 1', '{"jsonrpc":"2.0","id":1e0,"method":"m"}', { id: 1 }],
    ['the id 1.50e1, which is 15', '{"jsonrpc":"2.0","id":1.50e1,"method":"m"}', { id: 15 }],
    ['the id -120e-1, which is -12', '{"jsonrpc":"2.0","id":-120e-1,"method":"m"}', { id: -12 }],
    ['the id 0.0e5, which is 0', '{"jsonrpc":"2.0","id":0.0e5,"method":"m"}', { id: 0 }],
    [
      'an id beyond 2^53, exactly',
      '{"jsonrpc":"2.0","id":1152921504606846975,"method":"m"}',
      { id: 1152921504606846975n },
    ],
    [
      'an escaped id',
      '{"jsonrpc":"2.0","id":"\\u00e9\\n","method":"m"}',
      { type: 'request', id: 'é\n' },
    ],
    [
      'an escaped method',
      '{"jsonrpc":"2.0","id":1,"method":"m\\u0065"}',
      { type: 'request', method: 'me' },
    ],
    [
      'escaped member names',
      '{"json\\u0072pc":"2.0","\\u0069d":1,"m\\u0065thod":"m"}',
      { type: 'request', id: 1, method: 'm' },
    ],
    [
      'unknown members',
      '{"jsonrpc":"2.0","id":1,"method":"m","x":[{"y":"}"}]}',
      { type: 'request', id: 1, method: 'm' },
    ],
    [
      'a member called __proto__',
      '{"jsonrpc":"2.0","id":1,"method":"m","__proto__":{"admin":true}}',
      { type: 'request', id: 1, method: 'm' },
    ],
    ['a notification', '{"jsonrpc":"2.0","method":"m"}', { type: 'notification', method: 'm' }],
    [
      'a notification with params',
      '{"jsonrpc":"2.0","method":"m","params":{}}',
      { type: 'notification', method: 'm', params: {} },
    ],
    [
      'a notification with the envelope behind',
      '{"method":"m","params":{"a":2},"jsonrpc":"2.0"}',
      { type: 'notification', method: 'm', params: { a: 2 } },
    ],
    ['a result', '{"jsonrpc":"2.0","id":1,"result":19}', { type: 'result', id: 1, result: 19 }],
    [
      'a result of null',
      '{"jsonrpc":"2.0","id":1,"result":null}',
      { type: 'result', result: null },
    ],
    [
      'a result with the envelope behind',
      '{"result":{"a":[1]},"jsonrpc":"2.0","id":"k"}',
      { type: 'result', id: 'k', result: { a: [1] } },
    ],
    [
      'a result before its id',
      '{"jsonrpc": "2.0", "result": 19, "id": 1}',
      { type: 'result', id: 1, result: 19 },
    ],
    [
      'an error',
      '{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"no","data":[1]}}',
      { type: 'error', id: 'a', error: { code: -32601, message: 'no', data: [1] } },
    ],
    [
      'an error whose request had no id to read',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
      { type: 'error', id: null },
    ],
    [
      'an error that leaves the id out',
      '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}',
      { type: 'error', id: null },
    ],
  ]
  it.each(rows)('%s', (_, text, expected) => {
    expect(decode(text)).toMatchObject(expected)
    expect(decode(bytes(text))).toMatchObject(expected)
  })

  it('keeps a params member called __proto__ as plain data', () => {
    const decoded = decode('{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":{"a":1}}}')
    const { params } = decoded as { params: object }
    expect(Object.keys(params)).toEqual(['__proto__'])
    expect((params as { a?: number }).a).toBeUndefined()
  })

  it('keeps half a surrogate pair in params as it came', () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"m","params":["\\ud800"]}'
    expect(encode(decode(text) as Message)).toBe(text)
  })
})

describe('what is none, with its reason and the id it had', () => {
  const rows: [string, string, Malformed['reason'], number, Malformed['id']][] = [
    ['nothing', '', 'json', -32700, null],
    ['spaces', ' \t ', 'json', -32700, null],
    [
      'half a text',
      '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
      'json',
      -32700,
      null,
    ],
    ['a byte order mark', '\ufeff{"jsonrpc":"2.0","method":"m"}', 'json', -32700, null],
    ['two messages', '{"jsonrpc":"2.0","method":"m"}{}', 'json', -32700, null],
    ['a trailing comma', '{"jsonrpc":"2.0","method":"m",}', 'json', -32700, null],
    [
      'broken params',
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":01}}',
      'json',
      -32700,
      null,
    ],
    [
      'a broken unknown member',
      '{"jsonrpc":"2.0","id":1,"method":"m","x":tru}',
      'json',
      -32700,
      null,
    ],
    ['a broken id', '{"jsonrpc":"2.0","id":01,"method":"m"}', 'json', -32700, null],
    [
      'a control character in the method',
      '{"jsonrpc":"2.0","id":1,"method":"a\u0001b"}',
      'json',
      -32700,
      null,
    ],
    [
      'a control character in a key',
      '{"jsonrpc":"2.0","id":1,"method":"m","a\u0001":1}',
      'json',
      -32700,
      null,
    ],
    [
      'an unknown escape in a key',
      '{"jsonrpc":"2.0","id":1,"method":"m","\\q":1}',
      'json',
      -32700,
      null,
    ],
    [
      'brackets that do not match',
      '{"jsonrpc":"2.0","id":1,"method":"m","params":[1}}',
      'json',
      -32700,
      null,
    ],
    ['a number', '42', 'not-object', -32600, null],
    ['a string', '"x"', 'not-object', -32600, null],
    ['null', 'null', 'not-object', -32600, null],
    ['no version', '{"id":1,"method":"m"}', 'version', -32600, 1],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"m"}', 'version', -32600, 1],
    ['a version that is a number', '{"jsonrpc":2.0,"id":1,"method":"m"}', 'version', -32600, 1],
    ['names in another case', '{"JSONRPC":"2.0","id":1,"Method":"m"}', 'version', -32600, 1],
    ['neither call nor reply', '{"jsonrpc":"2.0","id":"k"}', 'type', -32600, 'k'],
    [
      'call and reply at once',
      '{"jsonrpc":"2.0","id":1,"method":"m","result":1}',
      'type',
      -32600,
      1,
    ],
    ['result and error', '{"jsonrpc":"2.0","id":1,"result":1,"error":null}', 'type', -32600, 1],
    [
      'the method twice',
      '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}',
      'duplicate-member',
      -32600,
      1,
    ],
    [
      'the method twice, once escaped',
      '{"jsonrpc":"2.0","id":1,"method":"a","\\u006dethod":"b"}',
      'duplicate-member',
      -32600,
      1,
    ],
    [
      'the id twice',
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}',
      'duplicate-member',
      -32600,
      null,
    ],
    [
      'params twice',
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}',
      'duplicate-member',
      -32600,
      1,
    ],
    [
      'the method twice, once broken',
      '{"jsonrpc":"2.0","method":0"","method":"b"}',
      'json',
      -32700,
      null,
    ],
    ['the id 1.5', '{"jsonrpc":"2.0","id":1.5,"method":"m"}', 'id', -32600, null],
    [
      'the id 1e21, which cannot be echoed',
      '{"jsonrpc":"2.0","id":1e21,"method":"m"}',
      'id',
      -32600,
      null,
    ],
    ['the id 1e-400', '{"jsonrpc":"2.0","id":1e-400,"method":"m"}', 'id', -32600, null],
    [
      'an id that only rounds to 1',
      '{"jsonrpc":"2.0","id":1.0000000000000000001,"method":"m"}',
      'id',
      -32600,
      null,
    ],
    [
      'an id that only rounds to a safe integer',
      '{"jsonrpc":"2.0","id":9007199254740990.99999999,"method":"m"}',
      'id',
      -32600,
      null,
    ],
    ['the id 1e400', '{"jsonrpc":"2.0","id":1e400,"method":"m"}', 'id', -32600, null],
    ['the id true', '{"jsonrpc":"2.0","id":true,"method":"m"}', 'id', -32600, null],
    ['the id {}', '{"jsonrpc":"2.0","id":{},"method":"m"}', 'id', -32600, null],
    [
      'half a character in the id',
      '{"jsonrpc":"2.0","id":"\\ud800","method":"m"}',
      'id',
      -32600,
      null,
    ],
    ['a long id', `{"jsonrpc":"2.0","id":"${'x'.repeat(257)}","method":"m"}`, 'id', -32600, null],
    [
      'a long number',
      `{"jsonrpc":"2.0","id":1${'0'.repeat(256)},"method":"m"}`,
      'id',
      -32600,
      null,
    ],
    ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":1}', 'method', -32600, 1],
    ['a method without letters', '{"jsonrpc":"2.0","id":1,"method":""}', 'method', -32600, 1],
    [
      'a long method',
      `{"jsonrpc":"2.0","id":1,"method":"${'m'.repeat(257)}"}`,
      'method',
      -32600,
      1,
    ],
    [
      'half a character in the method',
      '{"jsonrpc":"2.0","id":1,"method":"\\udc00"}',
      'method',
      -32600,
      1,
    ],
    [
      'params that are a string',
      '{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}',
      'params',
      -32600,
      1,
    ],
    [
      'params that are null',
      '{"jsonrpc":"2.0","id":1,"method":"m","params":null}',
      'params',
      -32600,
      1,
    ],
    [
      'bad params of a notification',
      '{"jsonrpc":"2.0","method":"m","params":1}',
      'params',
      -32600,
      null,
    ],
    ['a result without an id', '{"jsonrpc":"2.0","result":1}', 'id', -32600, null],
    ['an error of null', '{"jsonrpc":"2.0","id":1,"error":null}', 'error', -32600, 1],
    ['an error that is a list', '{"jsonrpc":"2.0","id":1,"error":[]}', 'error', -32600, 1],
    [
      'an error with half a code',
      '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}',
      'error',
      -32600,
      1,
    ],
    [
      'an error without a message',
      '{"jsonrpc":"2.0","id":1,"error":{"code":1}}',
      'error',
      -32600,
      1,
    ],
    ['a batch of nothing', '[]', 'empty-batch', -32600, null],
    ['a batch that breaks off', '[{"jsonrpc":"2.0","method":"m"},', 'json', -32700, null],
    ['a batch with something behind', '[1]x', 'json', -32700, null],
    ['an empty batch with something behind', '[] 1', 'json', -32700, null],
    ['a batch with a gap', '[{"jsonrpc":"2.0","method":"m"},,1]', 'json', -32700, null],
    [
      'a batch with one broken element',
      '[{"jsonrpc":"2.0","id":1,"method":"m"},{"a":01}]',
      'json',
      -32700,
      null,
    ],
  ]
  it.each(rows)('%s', (_, text, reason, code, id) => {
    expect(invalid(text)).toMatchObject({ reason, id, error: { code } })
    expect(invalid(bytes(text))).toMatchObject({ reason, id, error: { code } })
  })

  it('distinguishes malformed replies from malformed requests', () => {
    expect(invalid('{"jsonrpc":"2.0","id":1,"result":1,"error":{}}').reply).toBe(true)
    expect(invalid('{"jsonrpc":"1.0","id":1,"result":1}').reply).toBe(true)
    expect(invalid('{"jsonrpc":"1.0","id":1,"method":"m"}').reply).toBeUndefined()
    expect(invalid('{"jsonrpc":"2.0","id":1,"method":"m","result":1}').reply).toBeUndefined()
  })

  it.each([
    ['a stray byte', [0xff]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['a surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a character cut off', [0x22, 0xe2, 0x82]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00]],
  ])('%s is not UTF-8', (_, list) => {
    expect(invalid(Uint8Array.from(list))).toMatchObject({
      reason: 'encoding',
      error: { code: -32700, message: 'Parse error' },
    })
  })
})

describe('batches', () => {
  it('judges each element on its own, in order', () => {
    const text =
      '[{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[]}}, 1, {"foo":"boo"},' +
      '{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":2,"result":{"b":"]"}},' +
      '{"method":"k","jsonrpc":"2.0","id":3},{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}]'
    expect(decode(text)).toEqual({
      type: 'batch',
      entries: [
        { type: 'request', id: 1, method: 'm', params: { a: [] } },
        expect.objectContaining({ type: 'invalid', reason: 'not-object' }),
        expect.objectContaining({ type: 'invalid', reason: 'version' }),
        { type: 'notification', method: 'n', params: undefined },
        { type: 'result', id: 2, result: { b: ']' } },
        { type: 'request', id: 3, method: 'k', params: undefined },
        { type: 'error', id: null, error: { code: 1, message: '' } },
      ],
    })
  })

  it('stops at the limit, with the code of the profile', () => {
    const batch = (n: number) => `[${Array(n).fill('{"jsonrpc":"2.0","method":"m"}').join(',')}]`
    expect(decode(batch(100)).type).toBe('batch')
    expect(invalid(batch(101))).toMatchObject({
      reason: 'batch-too-large',
      error: { code: -32600 },
    })
    expect(invalid(batch(3), { maxBatch: 2, batchTooLargeCode: -32069 }).error).toEqual({
      code: -32069,
      message: 'Batch request too large',
    })
  })
})

describe('limits', () => {
  const call = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"m","params":${params}}`
  const spellings: [string, (params: string) => string][] = [
    ['the envelope in front', call],
    ['the envelope behind', p => `{"method":"m","params":${p},"jsonrpc":"2.0","id":1}`],
    ['an unusual order', p => `{"id":1,"params":${p},"method":"m","jsonrpc":"2.0"}`],
    ['a result', p => `{"jsonrpc":"2.0","id":1,"result":${p}}`],
  ]
  describe.each(spellings)('with %s', (_, wrap) => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    const deepObject = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

    it('accepts 64 levels and rejects 65, of arrays and of objects', () => {
      expect(decode(wrap(nested(63))).type).not.toBe('invalid')
      expect(invalid(wrap(nested(64)))).toMatchObject({ reason: 'depth', error: { code: -32600 } })
      expect(decode(wrap(deepObject(63))).type).not.toBe('invalid')
      expect(invalid(wrap(deepObject(64))).reason).toBe('depth')
    })

    it('counts brackets in strings as text', () => {
      expect(decode(wrap(`["${'['.repeat(1000)}\\"${'{'.repeat(1000)}"]`)).type).not.toBe('invalid')
    })

    it('takes many brackets side by side', () => {
      expect(decode(wrap(`[${Array(500).fill('[{}]').join(',')}]`)).type).not.toBe('invalid')
    })

    it('refuses more keys and values than it may have', () => {
      const list = (n: number) => `[${Array(n).fill(0).join(',')}]`
      expect(decode(wrap(list(90)), { maxNodes: 100 }).type).not.toBe('invalid')
      expect(invalid(wrap(list(101)), { maxNodes: 100 }).reason).toBe('nodes')
      expect(decode(wrap(list(99_000))).type).not.toBe('invalid')
      expect(invalid(wrap(list(100_001)))).toMatchObject({
        reason: 'nodes',
        error: { code: -32600 },
      })
    })
  })

  it('takes more keys and values in a long message, in proportion', () => {
    const row = (cell: string) =>
      `{${Array.from({ length: 10 }, (_, at) => `"column${at}":"${cell}"`).join()}}`
    const table = (rows: number, cell: string) => `[${Array(rows).fill(row(cell)).join()}]`
    for (const [, wrap] of spellings) {
      expect(decode(wrap(table(10_000, 'x'.repeat(90)))).type).not.toBe('invalid')
      // As many nodes, in too few bytes; and a limit that is set does not grow.
      expect(invalid(wrap(`[${Array(220_000).fill('[]').join()}]`)).reason).toBe('nodes')
      expect(invalid(wrap(table(10_000, 'x'.repeat(90))), { maxNodes: 100_000 }).reason).toBe(
        'nodes',
      )
    }
  })

  it('counts the nodes of the envelope in every spelling', () => {
    for (const [, wrap] of spellings)
      expect(invalid(wrap('{}'), { maxNodes: 3 }).reason).toBe('nodes')
    for (const [, wrap] of spellings)
      expect(invalid(wrap('{}'), { maxDepth: 1 }).reason).toBe('depth')
  })

  it('counts nodes over the whole batch and over the members of one message', () => {
    const element = '{"jsonrpc":"2.0","method":"m","params":[1,2,3]}'
    expect(invalid(`[${Array(9).fill(element).join(',')}]`, { maxNodes: 50 }).reason).toBe('nodes')
    const members = Array.from({ length: 60 }, (_, i) => `"k${i}":0`).join(',')
    expect(invalid(`{${members}}`, { maxNodes: 100 }).reason).toBe('nodes')
  })

  it('finds the id of a rejected message, and whether it was a reply', () => {
    const deep = '['.repeat(100) + ']'.repeat(100)
    const rows: [string, unknown, boolean][] = [
      [`{"jsonrpc":"2.0","id":7,"method":"m","params":${deep}}`, 7, false],
      [`{"method":"m","params":${deep},"jsonrpc":"2.0","id":"k"}`, 'k', false],
      [`{"params":${deep},"id":7,"jsonrpc":"2.0","method":"m"}`, null, false],
      [`{"jsonrpc":"2.0","id":7,"result":${deep}}`, 7, true],
      [`{"result":${deep},"jsonrpc":"2.0","id":8}`, 8, true],
      [`{"jsonrpc":"2.0","id":1152921504606846975,"result":${deep}}`, 1152921504606846975n, true],
      [`{"jsonrpc":"2.0","id":[1],"result":${deep}}`, null, true],
    ]
    for (const [text, id, isReply] of rows) {
      expect(invalid(text)).toMatchObject({ reason: 'depth', id })
      expect(invalid(text).reply === true).toBe(isReply)
    }
  })

  it('refuses endless brackets without reading them', () => {
    expect(invalid('['.repeat(100_000)).reason).toBe('depth')
    expect(invalid(`{"params":${'['.repeat(100_000)}`).reason).toBe('depth')
    expect(invalid('{"a":'.repeat(100_000)).reason).toBe('depth')
  })

  it('refuses text over the size limit before looking at it', () => {
    const refusal = {
      type: 'invalid',
      reason: 'too-large',
      detail: 'more than 10 bytes',
      id: null,
      error: {
        code: -32012,
        message: 'Message size exceeds maximum allowed',
        data: { maxSize: 10, unit: 'bytes' },
      },
    }
    expect(decode('x'.repeat(11), { maxBytes: 10 })).toEqual(refusal)
    expect(decode(bytes('x'.repeat(11)), { maxBytes: 10 })).toEqual(refusal)
    expect(tooLarge({ maxBytes: 10 })).toEqual(refusal)
    expect(tooLarge({ maxBytes: 10, tooLargeCode: -1 }).error.code).toBe(-1)
  })

  it('counts the size in bytes of UTF-8', () => {
    for (const character of ['é', '€', '😀', 'x']) {
      const text = `{"jsonrpc":"2.0","method":"m","params":["${character.repeat(9)}"]}`
      const size = bytes(text).byteLength
      expect(decode(text, { maxBytes: size }).type).toBe('notification')
      expect(decode(text, { maxBytes: size - 1 }).type).toBe('invalid')
    }
  })
})

describe('open choices', () => {
  it('keeps a limit whose option is undefined', () => {
    const deep = `{"jsonrpc":"2.0","method":"m","params":${'['.repeat(70)}${']'.repeat(70)}}`
    expect(decode(deep, { maxDepth: undefined }).type).toBe('invalid')
    expect(decode('{"jsonrpc":"2.0","id":null,"method":"m"}', { nullIds: undefined }).type).toBe(
      'request',
    )
  })
  it('refuses the null id where the profile does', () => {
    const text = '{"jsonrpc":"2.0","id":null,"method":"m"}'
    expect(invalid(text, { nullIds: false })).toMatchObject({ reason: 'id', id: null })
  })
  it('bounds ids that are numbers too', () => {
    const text = '{"jsonrpc":"2.0","id":12345,"method":"m"}'
    expect(decode(text, { maxIdLength: 5 }).type).toBe('request')
    expect(invalid(text, { maxIdLength: 4 }).reason).toBe('id')
  })
  it('accepts fractional ids if enabled', () => {
    const text = '{"jsonrpc":"2.0","id":1.5,"method":"m"}'
    expect(decode(text, { fractionalIds: true })).toMatchObject({ id: 1.5 })
  })
  it('treats params of null as none if enabled', () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"m","params":null}'
    expect(decode(text, { nullParams: true })).toMatchObject({ type: 'request', params: undefined })
  })
})

const json = fc.jsonValue({ maxDepth: 4 })
const params = fc.oneof(fc.array(json), fc.dictionary(fc.string(), json))
const name = fc.string({ minLength: 1, unit: 'grapheme' }).filter(s => s.isWellFormed())
const id = fc.oneof(
  fc.string({ unit: 'grapheme' }).filter(s => s.isWellFormed()),
  fc.maxSafeInteger(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 200n }),
)
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    type: fc.constant('request' as const),
    id,
    method: name,
    params: fc.option(params, { nil: undefined }),
  }),
  fc.record({
    type: fc.constant('notification' as const),
    method: name,
    params: fc.option(params, { nil: undefined }),
  }),
  fc.record({ type: fc.constant('result' as const), id, result: json }),
  fc.record({
    type: fc.constant('error' as const),
    id: fc.oneof(id, fc.constant(null)),
    error: fc.record(
      { code: fc.integer(), message: fc.string(), data: json },
      { requiredKeys: ['code', 'message'] },
    ),
  }),
)

// JSON has one zero and knows no undefined.
const normal = (value: unknown): unknown =>
  typeof value === 'bigint'
    ? value
    : JSON.parse(
        JSON.stringify(value, (_, v) =>
          Object.is(v, -0) ? 0 : typeof v === 'bigint' ? `${v}n` : v,
        ),
      )

test('decoding an encoded message gives the message back', () => {
  fc.assert(
    fc.property(message, m => {
      const text = encode(m)
      expect(normal(decode(text))).toEqual(normal(m))
      expect(normal(decode(bytes(text)))).toEqual(normal(m))
    }),
  )
})

test('a batch comes back as it was', () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 10 }), ms => {
      expect(normal(decode(encode(ms)))).toEqual(normal({ type: 'batch', entries: ms }))
    }),
  )
})

test('the order of members and the spaces between them change nothing', () => {
  const space = fc.constantFrom('', ' ', '\n', '\t', '\r\n  ')
  const shuffled = message.chain(m => {
    const members = Object.entries(
      m.type === 'error' || m.type === 'result' ? m : { ...m, params: m.params },
    ).filter(([key, value]) => key !== 'type' && value !== undefined)
    const written = members.map(([key, value]) => [
      key,
      typeof value === 'bigint' ? `${value}` : JSON.stringify(value),
    ])
    return fc.tuple(
      fc.constant(m),
      fc.shuffledSubarray([['jsonrpc', '"2.0"'], ...written], { minLength: written.length + 1 }),
      space,
    )
  })
  fc.assert(
    fc.property(shuffled, ([m, members, s]) => {
      const body = members.map(([key, value]) => `${s}"${key}"${s}:${s}${value}${s}`).join(',')
      expect(normal(decode(`{${body}}`))).toEqual(normal(m))
    }),
  )
})

test('text is rejected as invalid JSON exactly when JSON.parse rejects it', () => {
  const mutated = fc
    .tuple(
      message.map(encode),
      fc.nat(),
      fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '\\', '0', 'e', ' ', '\u0000', 'null'),
      fc.nat(3),
    )
    .map(([text, at, piece, cut]) => {
      const i = at % (text.length + 1)
      return text.slice(0, i) + piece + text.slice(i + cut)
    })
  fc.assert(
    fc.property(fc.oneof(mutated, fc.string(), fc.json()), text => {
      let isJson = true
      try {
        JSON.parse(text)
      } catch {
        isJson = false
      }
      const decoded = decode(text)
      const saysNoJson = decoded.type === 'invalid' && decoded.error.code === -32700
      expect(saysNoJson).toBe(!isJson)
    }),
    { numRuns: 2000 },
  )
})

test('arbitrary bytes never throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), input => {
      expect(typeof decode(input).type).toBe('string')
    }),
  )
})
