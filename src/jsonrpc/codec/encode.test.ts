import { describe, expect, it } from 'vitest'
import {
  encode,
  encodeBatch,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
} from './encode.ts'

describe('writing messages', () => {
  const rows: [string, string, string][] = [
    [
      'a request by position',
      encodeRequest(1, 'sum', [1, 2, 4]),
      '{"jsonrpc":"2.0","id":1,"method":"sum","params":[1,2,4]}',
    ],
    [
      'a request by name',
      encodeRequest('a', 'sum', { x: 1 }),
      '{"jsonrpc":"2.0","id":"a","method":"sum","params":{"x":1}}',
    ],
    ['a request without params', encodeRequest(0, 'm'), '{"jsonrpc":"2.0","id":0,"method":"m"}'],
    [
      'a request with empty params',
      encodeRequest('', 'm', {}),
      '{"jsonrpc":"2.0","id":"","method":"m","params":{}}',
    ],
    [
      'a large id, exactly',
      encodeRequest(1152921504606846975n, 'm', []),
      '{"jsonrpc":"2.0","id":1152921504606846975,"method":"m","params":[]}',
    ],
    [
      'a method that needs escapes',
      encodeRequest(1, 'a"\n\ud800'),
      '{"jsonrpc":"2.0","id":1,"method":"a\\"\\n\\ud800"}',
    ],
    [
      'a notification',
      encodeNotification('update', [1]),
      '{"jsonrpc":"2.0","method":"update","params":[1]}',
    ],
    ['a bare notification', encodeNotification('m'), '{"jsonrpc":"2.0","method":"m"}'],
    ['a result', encodeResult(1, { a: [1] }), '{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}'],
    ['a result of nothing', encodeResult(1, undefined), '{"jsonrpc":"2.0","id":1,"result":null}'],
    [
      'a result of a function, which is nothing',
      encodeResult(1, () => 1),
      '{"jsonrpc":"2.0","id":1,"result":null}',
    ],
    [
      'an error with data',
      encodeError(1, -32601, 'Method not found', { method: 'sum' }),
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found","data":{"method":"sum"}}}',
    ],
    [
      'an error without an id',
      encodeError(null, -32700, 'Parse error'),
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    ],
    [
      'a batch',
      encodeBatch([
        { type: 'result', id: 1, result: 7 },
        { type: 'error', id: 'x', error: { code: 1, message: 'no' } },
        { type: 'notification', method: 'n' },
      ]),
      '[{"jsonrpc":"2.0","id":1,"result":7},{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}},{"jsonrpc":"2.0","method":"n"}]',
    ],
  ]
  it.each(rows)('%s', (_, text, expected) => {
    expect(text).toBe(expected)
    expect(JSON.parse(text)).toBeDefined()
  })

  it('asks toJSON of params that look empty', () => {
    class Money {
      toJSON() {
        return { amount: 1 }
      }
    }
    expect(encodeRequest(1, 'm', new Money())).toContain('"params":{"amount":1}')
    expect(encodeRequest(1, 'm', Object.create({ inherited: 1 }))).toContain('"params":{}')
  })

  it('remembers many method names without mixing them up', () => {
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 3000; i++) {
        expect(encodeNotification(`method/${i}`)).toBe(`{"jsonrpc":"2.0","method":"method/${i}"}`)
      }
    }
  })
})

describe('what is not JSON is refused', () => {
  const cycle: { self?: object } = {}
  cycle.self = cycle
  it.each([
    ['a cycle', () => encodeResult(1, cycle)],
    ['a bigint', () => encodeResult(1, { n: 1n })],
    ['an id that is no number', () => encodeRequest(Number.NaN, 'm')],
    ['an endless id', () => encodeRequest(Number.POSITIVE_INFINITY, 'm')],
    ['half an error code', () => encodeError(1, 1.5, 'm')],
    ['a method without letters', () => encodeRequest(1, '')],
    ['a method that is not a string', () => encodeRequest(1, 5 as unknown as string)],
    ['params that are no structure', () => encodeRequest(1, 'm', 5 as unknown as object)],
    ['params of null', () => encodeRequest(1, 'm', null as unknown as object)],
    ['a batch of nothing', () => encode([])],
  ])('%s', (_, write) => {
    expect(write).toThrow(/./)
  })

  it('nesting beyond the stack, where JSON.stringify has such a bound: Node 26 has none', () => {
    let deep: unknown[] = []
    for (let i = 0; i < 200_000; i++) deep = [deep]
    const lengthOf = (write: () => string) => {
      try {
        return write().length
      } catch {
        return Number.NaN
      }
    }
    const around = encodeResult(1, 0).length - '0'.length
    const alone = lengthOf(() => JSON.stringify(deep))
    expect(lengthOf(() => encodeResult(1, deep))).toBe(around + alone)
  })
})
