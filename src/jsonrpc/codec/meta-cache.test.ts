import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import type { Decoded } from '../message.ts'
import { decodeBy } from './decode.ts'
import { decodeRules } from './decode-rules.ts'
import { MetaCache } from './meta-cache.ts'

const rules = decodeRules()
const meta = '{"v":"1","who":{"name":"a","can":["x"]}}'

const call = (params: string, id = 1) =>
  `{"jsonrpc":"2.0","id":${id},"method":"m","params":${params}}`

function paramsOf(decoded: Decoded): Record<string, unknown> {
  if (decoded.type !== 'request') throw new Error(`no request: ${JSON.stringify(decoded)}`)
  return decoded.params as Record<string, unknown>
}

/** One connection, on which `read` gives the params of each message in turn. */
function connection() {
  const metaCache = new MetaCache()
  const decode = (text: string) => decodeBy(text, rules, metaCache)
  const read = (params: string) => paramsOf(decode(call(params)))
  return { decode, read }
}

/** One that has learned `meta`. */
function learned() {
  const { decode, read } = connection()
  read(`{"a":1,"_meta":${meta}}`)
  read(`{"a":2,"_meta":${meta}}`)
  return { decode, read, known: read(`{"a":3,"_meta":${meta}}`)._meta }
}

describe('what every message repeats', () => {
  it('is parsed once and shared', () => {
    const { read, known } = learned()
    expect(known).toEqual(JSON.parse(meta))
    const next = read(`{"b":[1],"_meta":${meta}}`)
    expect(next).toEqual({ b: [1], _meta: JSON.parse(meta) })
    expect(next._meta).toBe(known)
  })

  it('is the same in results', () => {
    const { decode } = connection()
    const results = [1, 2, 3, 4].map(id => {
      const reply = decode(`{"jsonrpc":"2.0","id":${id},"result":{"a":${id},"_meta":${meta}}}`)
      if (reply.type !== 'result') throw new Error(`no result: ${JSON.stringify(reply)}`)
      return reply.result as Record<string, unknown>
    })
    const expected = [1, 2, 3, 4].map(a => ({ a, _meta: JSON.parse(meta) }))
    expect(results).toEqual(expected)
    expect(results[3]?._meta).toBe(results[2]?._meta)
  })

  it('is distinguished by a single character, and recognized again later', () => {
    const { read, known } = learned()
    const other = meta.replace('"a"', '"b"')
    expect(read(`{"a":1,"_meta":${other}}`)._meta).toEqual(JSON.parse(other))
    expect(read(`{"a":1,"_meta":${meta}}`)._meta).toBe(known)
    const again = [1, 2, 3].map(() => read(`{"a":1,"_meta":${other}}`)._meta)
    expect(again).toEqual([JSON.parse(other), JSON.parse(other), JSON.parse(other)])
    expect(again[2]).not.toBe(known)
  })

  it('cannot be changed by a receiver', () => {
    const { read } = learned()
    const { _meta } = read(`{"a":1,"_meta":${meta}}`)
    expect(() => Object.assign(_meta as object, { v: '2' })).toThrow(TypeError)
    const { who } = _meta as { who: { name: string; can: string[] } }
    expect(() => Object.assign(who, { name: 'root' })).toThrow(TypeError)
    expect(() => who.can.push('y')).toThrow(TypeError)
    expect(read(`{"a":1,"_meta":${meta}}`)._meta).toEqual(JSON.parse(meta))
  })

  it('leaves the rest of each message its own', () => {
    const { read } = learned()
    const first = read(`{"a":{"b":1},"_meta":${meta}}`)
    Object.assign(first, { a: 'changed', more: true })
    expect(read(`{"a":{"b":1},"_meta":${meta}}`)).toEqual({ a: { b: 1 }, _meta: JSON.parse(meta) })
  })

  it('is not known to another connection', () => {
    const { known } = learned()
    const { read } = connection()
    expect(read(`{"a":1,"_meta":${meta}}`)._meta).not.toBe(known)
    expect(learned().known).not.toBe(known)
  })

  it('is known with the envelope behind, too', () => {
    const { decode, known } = learned()
    const text = `{"method":"m","params":{"a":1,"_meta":${meta}},"jsonrpc":"2.0","id":1}`
    expect(paramsOf(decode(text))._meta).toBe(known)
  })

  it('is parsed each time where it is longer than what is remembered', () => {
    const { read } = connection()
    const long = JSON.stringify({ v: 'x'.repeat(limits.cachedMetaLength.default) })
    const seen = [1, 2, 3, 4].map(a => read(`{"a":${a},"_meta":${long}}`)._meta)
    expect(new Set(seen).size).toBe(4)
    expect(Object.isFrozen(seen[3])).toBe(false)
  })
})

describe('texts that only end like it', () => {
  const tail = `,"_meta":${meta}}`
  const rows: [string, string][] = [
    ['nothing before the comma', `{${tail}`],
    ['only a space before the comma', `{ ${tail}`],
    ['the comma inside a string', `{"a":"b${tail}`],
    ['the comma behind an escape inside a string', `{"a":"b\\"${tail}`],
    ['the comma inside a string that is never closed', `{"a":"\\${tail}`],
    ['a key without a value', `{"a"${tail}`],
    ['a comma before the comma', `{"a":1,${tail}`],
    ['an object that is open twice', `{"a":{"b":1${tail}`],
    ['an array that is open', `{"a":[1${tail}`],
    ['a list', `[1${tail}`],
    ['the same key before', `{"_meta":1,"a":2${tail}`],
    ['the same key, escaped', `{"\\u005fmeta":1,"a":2${tail}`],
    ['a prototype', `{"__proto__":{"x":1}${tail}`],
    ['one level further inside', `{"a":{"b":1${tail}}`],
    ['spaces behind', `{"a":1${tail} `],
    ['a duplicate member', `{"a":1,"a":2${tail}`],
  ]
  test.each(rows)('%s: are read as without it', (_, params) => {
    const { decode } = learned()
    const plain = decodeBy(call(params), rules)
    const decoded = decode(call(params))
    expect(decoded).toEqual(plain)
    expect(JSON.stringify(decoded)).toBe(JSON.stringify(plain))
  })

  it('count with their whole depth and size', () => {
    const bounded = decodeRules({ maxDepth: 4, maxNodes: 24 })
    const metaCache = new MetaCache()
    const small = call(`{"a":1,"_meta":${meta}}`)
    for (let i = 0; i < 3; i++) {
      expect(decodeBy(small, bounded, metaCache)).toEqual(decodeBy(small, bounded))
    }
    for (const params of [`{"a":[[[1]]]${tail}`, `{"a":[1,2,3,4,5,6,7]${tail}`]) {
      const refused = decodeBy(call(params), bounded, metaCache)
      expect(refused).toMatchObject({ type: 'invalid' })
      expect(refused).toEqual(decodeBy(call(params), bounded))
    }
  })
})

test('any texts, in any order, are read as they are without a memory', () => {
  const json = fc.json({ maxDepth: 2 })
  const object = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 3,
  })
  const metas = fc.constantFrom(meta, '{}', '{"p":1}', '{"p":2}', '[]', '"s"', '{"a":1,"_meta":{}}')
  const params = fc.oneof(
    fc.tuple(object, metas).map(([own, said]) => {
      const text = JSON.stringify(own)
      return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"_meta":${said}}`
    }),
    fc.tuple(json, metas).map(([own, said]) => `{"a":${own},"_meta":${said}}`),
    fc.tuple(fc.string(), metas).map(([junk, said]) => `{${junk},"_meta":${said}}`),
    fc.tuple(metas, json).map(([said, own]) => `{"_meta":${said},"a":${own}}`),
    json,
  )
  const cut = fc.option(fc.nat({ max: 80 }), { nil: undefined, freq: 6 })
  const texts = fc.array(
    fc.tuple(params, cut).map(([text, at]) => call(at === undefined ? text : text.slice(0, at))),
    { minLength: 3, maxLength: 12 },
  )
  fc.assert(
    fc.property(texts, all => {
      const metaCache = new MetaCache()
      for (const text of all) {
        const decoded = decodeBy(text, rules, metaCache)
        const plain = decodeBy(text, rules)
        expect(decoded).toStrictEqual(plain)
        // The order of members, too.
        expect(JSON.stringify(decoded)).toBe(JSON.stringify(plain))
      }
    }),
    { numRuns: 200 },
  )
})
