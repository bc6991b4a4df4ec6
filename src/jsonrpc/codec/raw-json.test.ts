import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '../../../test/support/any-text.ts'
import type { Decoded, Message, RpcRequest, RpcResult } from '../message.ts'
import { decode, decodeBy } from './decode.ts'
import { decodeRules } from './decode-rules.ts'
import { encode } from './encode.ts'
import { MetaCache } from './meta-cache.ts'
import { parsedMessage, parseRaw, parseRawValue, RawJson, rawShape } from './raw-json.ts'

const results = {
  resultType: 'scalar',
  isError: 'scalar',
  content: 'array',
  structuredContent: 'object',
} as const
const rawResults = rawShape(results)

const reply = (result: string) => `{"jsonrpc":"2.0","id":1,"result":${result}}`

/** Decodes a result whose members can stay raw. */
const read = (text: string) => decode(text, { rawResults }) as RpcResult

/** Decodes a result completely. */
function whole(text: string) {
  const message = read(text)
  return message.type === 'result'
    ? { type: 'result', id: message.id, result: message.result }
    : message
}

describe('a result of which parts are left as text', () => {
  test('has its small members, and the text of the large ones', () => {
    const { raw: parts } = read(reply('{"resultType":"complete","content":[{"n": 1.0}]}'))
    expect(parts).toEqual({ resultType: 'complete', content: new RawJson('[{"n": 1.0}]') })
  })

  test('is encoded unchanged, even numbers that no double can hold', () => {
    const text = reply('{"content":[12345678901234567890,{"a":1,"a":2}],"isError":false}')
    const { id, raw: result } = read(text)
    expect(encode({ type: 'result', id, result })).toBe(text)
    expect(JSON.stringify(result?.content)).toBe('[12345678901234567000,{"a":2}]')
  })

  test('is parsed completely when it is read', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (list, o) => {
          const text = reply(JSON.stringify({ content: list, structuredContent: o, isError: true }))
          const message = read(text)
          expect(message.raw).toBeDefined()
          expect(message.result).toEqual((decode(text) as RpcResult).result)
          expect(encode({ type: 'result', id: 1, result: message.raw })).toBe(text)
        },
      ),
    )
  })

  test('caches what every message of the connection ends with', () => {
    const rules = decodeRules({ rawResults })
    const metaCache = new MetaCache()
    const text = (n: number) => reply(`{"content":[${n}],"_meta":{"by":"me"}}`)
    const messages = [1, 2, 3].map(n => decodeBy(text(n), rules, metaCache) as RpcResult)
    expect(messages.map(({ result }) => result)).toEqual(
      [1, 2, 3].map(n => ({ content: [n], _meta: { by: 'me' } })),
    )
    expect(messages[2]?.raw).toEqual({ content: new RawJson('[3]'), _meta: { by: 'me' } })
  })
})

describe('read whole instead', () => {
  const results = [
    ['nothing', '{}'],
    ['no object', '[]'],
    ['text', '"content"'],
    ['another member', '{"content":[],"other":1}'],
    ['_meta of its own', '{"content":[],"_meta":{"a":1}}'],
    ['a member twice', '{"content":[1],"content":[2]}'],
    ['a member spelt with an escape', '{"c\\u006fntent":[]}'],
    ['a name that all objects have', '{"__proto__":[],"content":[]}'],
    ['a list that is none', '{"content":{}}'],
    ['an object that is none', '{"structuredContent":[1]}'],
    ['a scalar that is none', '{"resultType":{},"content":[]}'],
    ['a line feed between values', '{"content":[1,\n2]}'],
    ['a tab between values', '{"content":[\t1]}'],
    ['space around members', '{ "content": [] }'],
  ] as const

  test.each(results)('%s', (_, result) => {
    const message = read(reply(result))
    expect(message.raw).toBeUndefined()
    expect(message).toEqual(decode(reply(result)))
  })

  const noJson = [
    '[1,]',
    '[,1]',
    '[1 2]',
    '[01]',
    '[+1]',
    '[.5]',
    '[1.]',
    '[1e]',
    '[-]',
    '[NaN]',
    '[tru]',
    '[nulll]',
    '["\\x"]',
    '["\\u12g4"]',
    '["\u0001"]',
    `["${'a'.repeat(100)}\u0002"]`,
    '["a]',
    '[{"a"}]',
    '[{a:1}]',
    '[{"a":1,}]',
    '[{"a":1 "b":2}]',
    '[1}',
    '[[1]',
    '[]]',
    '[],"content":1]',
  ]

  test.each(noJson)('not JSON: %s', value => {
    const text = reply(`{"content":${value}}`)
    expect(read(text)).toEqual(decode(text))
    expect(read(text).type).toBe('invalid')
  })

  test.each([
    ['deep', { maxDepth: 6 }],
    ['large', { maxNodes: 20 }],
  ])('too %s', (_, limit) => {
    const text = reply(`{"content":${'['.repeat(20)}${']'.repeat(20)}}`)
    expect(decode(text, { ...limit, rawResults })).toEqual(decode(text, limit))
    expect(decode(text, { ...limit, rawResults }).type).toBe('invalid')
  })

  test('what is nested deeper than the stack reaches, where that is allowed', () => {
    const deep = `${'['.repeat(300_000)}${']'.repeat(300_000)}`
    const limits = { maxDepth: 1_000_000, maxNodes: 1_000_000 }
    const message = decode(reply(`{"content":${deep}}`), { ...limits, rawResults }) as RpcResult
    expect(message.type).toBe('result')
    expect(message.raw).toBeUndefined()
  })

  test('an error', () => {
    const text = '{"jsonrpc":"2.0","id":1,"error":{"content":[1],"isError":true}}'
    expect(read(text)).toEqual(decode(text))
  })
})

describe('a request of which parts are left as text', () => {
  const rawCalls = new Map([
    ['m', rawShape({ name: 'scalar', arguments: 'object', _meta: 'parsed' })],
  ])
  const readCall = (text: string) => decode(text, { rawCalls }) as RpcRequest
  const text = (params: string, method = 'm') =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
  const params = '{"name":"a \\" b","arguments":{"n":1.0,"o":[{"a":{"b":[]}}]},"_meta":{"x":[1]}}'

  test('has the small ones, and the text of the large ones', () => {
    expect(readCall(text(params)).raw).toEqual({
      name: 'a " b',
      arguments: new RawJson('{"n":1.0,"o":[{"a":{"b":[]}}]}'),
      _meta: { x: [1] },
    })
  })

  test.each([
    ['with its envelope in front', text(params)],
    ['with its envelope behind', `{"method":"m","params":${params},"jsonrpc":"2.0","id":1}`],
  ])('%s is parsed completely when it is read', (_, whole) => {
    const { type, id, method, params: read } = readCall(whole)
    expect(readCall(whole).raw).toBeDefined()
    expect({ type, id, method, params: read }).toEqual(decode(whole))
  })

  test('can be taken apart once it has been read whole', () => {
    const message = parsedMessage(readCall(text(params)))
    expect({ ...message }).toEqual(decode(text(params)))
    expect(parsedMessage(message)).toBe(message)
    const note = { type: 'notification', method: 'm' } as const
    expect(parsedMessage(note)).toBe(note)
  })

  test.each([
    ['another method', text(params, 'n')],
    ['a notification', text(params).replace('"id":1,', '')],
    ['params by position', text('[{"arguments":{}}]')],
    ['no params', text('{}')],
    ['another member', text('{"name":"a","task":{}}')],
    ['a member twice', text('{"name":"a","name":"b"}')],
    ['arguments that are not an object', text('{"name":"a","arguments":[]}')],
    ['a line feed in them', text('{"name":"a","arguments":{"a":\n1}}')],
    ['a batch', `[${text(params)}]`],
    ['no JSON', text('{"name":"a","arguments":{"a":01}}')],
  ])('%s is read whole', (_, whole) => {
    const message = readCall(whole)
    expect('raw' in message).toBe(false)
    expect(message).toEqual(decode(whole))
  })

  test('caches what every message of the connection ends with', () => {
    const rules = decodeRules({ rawCalls })
    const metaCache = new MetaCache()
    const said = (n: number) => text(`{"name":"a","arguments":{"n":${n}},"_meta":{"by":"me"}}`)
    const messages = [1, 2, 3].map(n => decodeBy(said(n), rules, metaCache) as RpcRequest)
    expect(messages.map(message => message.params)).toEqual(
      [1, 2, 3].map(n => ({ name: 'a', arguments: { n }, _meta: { by: 'me' } })),
    )
    const twice = text('{"_meta":{"by":"you"},"name":"a","_meta":{"by":"me"}}')
    expect(decodeBy(twice, rules, metaCache)).toEqual(decode(twice))
  })
})

describe('members as they are read', () => {
  test('are the same where nothing was left as text', () => {
    const members = { a: 1, b: {} }
    expect(parseRaw(members)).toBe(members)
    expect(parseRawValue(members.b)).toBe(members.b)
  })

  test('are read where something was', () => {
    const members = { a: 1, b: new RawJson('{"c":[1]}') }
    expect(parseRaw(members)).toEqual({ a: 1, b: { c: [1] } })
    expect(parseRawValue(members.b)).toEqual({ c: [1] })
    expect(members.b).toBeInstanceOf(RawJson)
  })
})

test('a text with any change is decoded as without raw members', () => {
  const usual = reply(
    '{"resultType":"complete","content":[{"type":"text","text":"a \\n \\u00e9 b"},-1.5e+3,true,null],"structuredContent":{"a":[{}]},"isError":false}',
  )
  const letters = fc.constantFrom(...'{}[]",:\\ntu019-+.eE \n\t\u0000\u007fé')
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(usual.length), fc.nat(2), letters), { minLength: 1, maxLength: 4 }),
      changes => {
        let text = usual
        for (const [at, cut, letter] of changes)
          text = text.slice(0, at) + letter + text.slice(at + cut)
        expect(whole(text)).toEqual(decode(text))
      },
    ),
    { numRuns: 3000 },
  )
})

describe('any messages of one connection, one after the other,', () => {
  const string = fc.oneof(
    anyText({ maxLength: 8 }).map(text => JSON.stringify(text)),
    fc.constantFrom(
      '"__proto__"',
      '"_meta"',
      '"n\\u0061me"',
      '"\\ud800"',
      '"\\u0000\\/"',
      '"\u2028"',
      '"\ud800"',
      '",\\"_meta\\":{"',
      `"${'x'.repeat(60)}\\""`,
    ),
  )
  const scalar = fc.oneof(
    string,
    fc.constantFrom('-0', '1.0', '1e400', '12345678901234567890', '0.1e-7', 'true', 'null'),
    fc.constantFrom('01', '1.', '-', '"\n"', '"\\x"', 'nul', '', '1 2'),
  )
  const space = fc.constantFrom('', '', '', ' ', '\n')
  const { value } = fc.letrec<{ value: string }>(tie => {
    const inner = fc.oneof({ depthSize: 'small' }, scalar, tie('value'))
    const members = fc.array(fc.tuple(string, space, inner), { maxLength: 3 })
    return {
      value: fc.oneof(
        fc.array(inner, { maxLength: 3 }).map(list => `[${list.join(',')}]`),
        members.map(all => `{${all.map(([key, gap, one]) => `${key}:${gap}${one}`).join(',')}}`),
      ),
    }
  })
  const meta = fc.constantFrom('{"by":"me"}', '{"__proto__":{"a":1}}', '{"by":"}"}', '{}')
  const member = fc.oneof(
    fc.tuple(fc.constantFrom('arguments', 'structuredContent', 'content', 'task'), value),
    fc.tuple(fc.constantFrom('name', 'isError', 'n\\u0061me'), fc.oneof(scalar, value)),
    fc.tuple(fc.constant('_meta'), meta),
  )
  const params = fc
    .tuple(fc.array(member, { maxLength: 3 }), fc.option(meta))
    .map(([all, last]) => {
      const texts = all.map(([key, text]) => `"${key}":${text}`)
      return `{${[...texts, ...(last === null ? [] : [`"_meta":${last}`])].join(',')}}`
    })
  const message = fc
    .tuple(params, fc.constantFrom(...shapes()))
    .map(([text, around]) => around(text))
  const rules = decodeRules({
    rawResults: rawShape({ ...results, _meta: 'parsed' }),
    rawCalls: new Map([
      ['m', rawShape({ name: 'scalar', arguments: 'object', content: 'array', _meta: 'parsed' })],
    ]),
  })

  test('are decoded like the parsed text, and encoded on one line', () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), texts => {
        const metaCache = new MetaCache()
        for (const text of [...texts, ...texts]) {
          const given = decodeBy(text, rules, metaCache)
          const expected = decode(text)
          expect(readWhole(given)).toStrictEqual(expected)
          const line = passedOn(given)
          if (line === undefined) continue
          expect(line).not.toContain('\n')
          expect(encode(readWhole(decode(line)) as Message)).toBe(encode(expected as Message))
        }
      }),
      { numRuns: 2000 },
    )
  })

  function shapes(): ((params: string) => string)[] {
    return [
      text => `{"jsonrpc":"2.0","id":1,"method":"m","params":${text}}`,
      text => `{"method":"m","params":${text},"jsonrpc":"2.0","id":1}`,
      text => `{"jsonrpc":"2.0","id":1,"result":${text}}`,
      text => `{"result":${text},"jsonrpc":"2.0","id":1}`,
      text => `[{"jsonrpc":"2.0","id":1,"method":"m","params":${text}}]`,
    ]
  }

  function readWhole(given: Decoded): Decoded {
    if (given.type === 'request' && given.raw !== undefined) {
      const { type, id, method, params } = given
      return { type, id, method, params }
    }
    if (given.type !== 'result' || given.raw === undefined) return given
    return { type: 'result', id: given.id, result: given.result }
  }

  /** The text of a message of which parts were left as text; undefined for any other. */
  function passedOn(given: Decoded): string | undefined {
    if (given.type === 'request' && given.raw !== undefined) {
      const { type, id, method, raw } = given
      return encode({ type, id, method, params: raw })
    }
    if (given.type !== 'result' || given.raw === undefined) return undefined
    return encode({ type: 'result', id: given.id, result: given.raw })
  }
})
