import fc from 'fast-check'
import { afterEach, describe, expect, it, test } from 'vitest'
import { cacheJson, stringify } from './stringify.ts'

class Point {
  x = 1
  get length() {
    return 2
  }
}

const hidden = Object.defineProperty({ a: 1 }, 'toJSON', { value: () => 'hidden' })
const getter = {
  get a() {
    return 'read'
  },
}

describe('stringify', () => {
  const rows: [string, unknown][] = [
    ['text', 'a'],
    ['text with a quote', 'a"b'],
    ['text with a backslash', 'a\\b'],
    ['text with control characters', 'a\n\u0000\u001f\u007f'],
    ['text beyond ASCII', 'é 漢 \u2028 😀'],
    ['half a character', 'a\ud800'],
    ['long text', { a: 'x'.repeat(300) }],
    ['very long text', { a: 'x'.repeat(9000), b: ['é漢'.repeat(9000)] }],
    ...['"', '\\', '\n', '\u001f', '\ud800', '😀'].map((end): [string, unknown] => [
      `very long text that ends with ${JSON.stringify(end)}`,
      { a: 'x'.repeat(9000) + end },
    ]),
    ['numbers', [0, -0, 1.5, -1e21, 5e-324]],
    ['numbers that have no JSON', [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
    ['true, false and null', { a: true, b: false, c: null }],
    ['members that have no JSON', { a: undefined, b: Symbol('b'), c: () => {}, d: 1 }],
    ['elements that have no JSON', [undefined, Symbol('b'), () => {}]],
    ['nothing but members that have no JSON', { a: undefined }],
    ['a hole', { a: new Array(2) }],
    ['keys that need escapes', { 'a"b': 1, 'é\n': 2, '': 3 }],
    ['a long key', { ['k'.repeat(100)]: 1 }],
    ['keys that are numbers', { b: 1, 10: 2, 2: 3 }],
    ['a member called __proto__', JSON.parse('{"__proto__":{"a":1}}')],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['an instance of a class', { p: new Point() }],
    ['boxed values', { a: Object('s'), b: Object(1), c: Object(true) }],
    ['a date', { at: new Date(0) }],
    ['a Map', { m: new Map([[1, 2]]) }],
    ['bytes', { b: new Uint8Array([1, 2]) }],
    ['a getter', getter],
    ['an own toJSON that receives its key', { k: { toJSON: (key: string) => `at ${key}` } }],
    ['the same in a list', [[{ toJSON: (key: string) => `at ${key}` }]]],
    ['a toJSON that is hidden', { h: hidden }],
    ['a toJSON that is no function', { toJSON: 1 }],
    ['a function with a toJSON', { f: Object.assign(() => {}, { toJSON: () => 'f' }) }],
    ['a symbol as key', { [Symbol('s')]: 1, a: 1 }],
    ['many members', Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, i]))],
    ['many elements', Array.from({ length: 40 }, (_, i) => ({ i }))],
    ['deep nesting', { a: { b: { c: { d: { e: { f: [[[[1]]]] } } } } } }],
    ['a proxy', new Proxy({ a: 1 }, {})],
    ['undefined', undefined],
    ['a function', () => {}],
    ['null', null],
  ]
  test.each(rows)('writes %s as JSON.stringify does', (_, value) => {
    expect(stringify(value)).toBe(JSON.stringify(value))
  })

  test.each<[string, () => unknown]>([
    ['a bigint', () => ({ a: 1n })],
    [
      'a cycle',
      () => {
        const a: { b?: unknown } = {}
        a.b = { a }
        return a
      },
    ],
    ['nesting beyond the stack', () => JSON.parse(`${'['.repeat(9000)}${']'.repeat(9000)}`)],
  ])('throws for %s where JSON.stringify does', (_, make) => {
    const value = make()
    const native = outcome(() => JSON.stringify(value))
    expect(outcome(() => stringify(value))).toEqual(native)
  })

  it('gives the text of JSON.stringify for any value', () => {
    const anything = fc.anything({ withDate: true, withMap: true, withNullPrototype: true })
    fc.assert(
      fc.property(fc.oneof(anything, fc.jsonValue()), value => {
        expect(outcome(() => stringify(value))).toEqual(outcome(() => JSON.stringify(value)))
      }),
      { numRuns: 400 },
    )
  })

  it('writes more keys than it keeps in mind', () => {
    const values = Array.from({ length: 3000 }, (_, i) => ({ [`key ${i}`]: i }))
    expect(values.map(stringify)).toEqual(values.map(value => JSON.stringify(value)))
  })

  describe('while Object.prototype has an enumerable member', () => {
    const prototype = Object.prototype as unknown as Record<string, unknown>
    afterEach(() => {
      delete prototype.everywhere
      delete prototype.toJSON
    })

    it('writes those of the object alone', () => {
      prototype.everywhere = 1
      expect(stringify({ a: { b: 1 } })).toBe('{"a":{"b":1}}')
    })

    it('lets it speak for them', () => {
      prototype.toJSON = () => 'all the same'
      expect(stringify({ a: 1 })).toBe(JSON.stringify({ a: 1 }))
    })
  })
})

describe('cacheJson', () => {
  it('gives the object back, and its text is the same wherever it stands', () => {
    const constant = Object.freeze({ name: 'a "b"', list: Object.freeze([1, 2]) })
    expect(cacheJson(constant)).toBe(constant)
    for (const value of [constant, { c: constant }, { a: { c: constant } }, [constant]]) {
      expect(stringify(value)).toBe(JSON.stringify(value))
    }
  })

  it('throws for what is not JSON', () => {
    expect(() => cacheJson({ a: 1n })).toThrow(TypeError)
  })
})

function outcome(run: () => unknown): unknown {
  try {
    return { gave: run() }
  } catch (error) {
    return { threw: (error as Error).name }
  }
}
