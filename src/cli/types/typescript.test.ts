import { describe, expect, it } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { commentText, memberName, typescriptOf } from './typescript.ts'

describe('the type of a schema', () => {
  it.each<[unknown, string]>([
    [true, 'unknown'],
    [{}, 'unknown'],
    [undefined, 'unknown'],
    [false, 'never'],
    [{ type: 'string', pattern: 'x' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ const: 'a' }, '"a"'],
    [{ const: { a: 1 } }, 'unknown'],
    [{ enum: ['a', 1, null] }, '"a" | 1 | null'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
    [{ type: 'array' }, 'unknown[]'],
    [{ prefixItems: [{ type: 'string' }], items: false }, '[string]'],
    [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, '[string, ...number[]]'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    [{ anyOf: [{ type: 'string' }, {}] }, 'unknown'],
    [
      { type: 'object', properties: { a: {} }, allOf: [{ required: ['a'] }] },
      '{\n  a?: unknown\n}',
    ],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
      '{\n  a?: string\n  [name: string]: unknown\n}',
    ],
    [
      {
        properties: { a: { $ref: '#/$defs/x~1y' } },
        required: ['a'],
        $defs: { 'x/y': { const: 1 } },
      },
      '{\n  a: 1\n}',
    ],
    [{ $ref: 'https://example.com/other.json' }, 'unknown'],
    [{ $ref: '#/$defs/none' }, 'unknown'],
    [{ properties: { next: { $ref: '#' } } }, '{\n  next?: {\n    next?: unknown\n  }\n}'],
  ])('of %j is %s', (schema, text) => {
    expect(typescriptOf(schema)).toBe(text)
  })

  it('is bounded, whatever the schema is like', () => {
    const doubled = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `d${at}`,
        { type: 'object', properties: { a: ref(at + 1), b: ref(at + 1) } },
      ]),
    )
    const text = typescriptOf({ $ref: '#/$defs/d0', $defs: doubled })
    expect(text.match(/\?: /g)?.length).toBeLessThan(2 * limits.schemaCount.default)
    let deep: object = { type: 'string' }
    for (let depth = 0; depth < 10_000; depth++) deep = { type: 'array', items: deep }
    expect(typescriptOf(deep)).toContain('unknown')
  })
})

function ref(at: number): object {
  return { $ref: `#/$defs/d${at}` }
}

describe('what a server has chosen', () => {
  it('is quoted as a name', () => {
    expect(memberName('plain_name')).toBe('plain_name')
    expect(memberName('a-b')).toBe('"a-b"')
    expect(memberName('x"] }; evil()\u2028//')).toBe(String.raw`"x\"] }; evil()\u2028//"`)
  })

  it('is quoted as a literal', () => {
    expect(typescriptOf({ const: '\u2028"; evil()' })).toBe(String.raw`"\u2028\"; evil()"`)
  })

  it('does not end its comment', () => {
    expect(commentText('a */ evil() /*', '')).toBe('/** a *\\/ evil() /* */\n')
    expect(commentText('one\n\u202Etwo\u2028three\n', '  ')).toBe(
      '  /**\n   * one\n   *  two\n   * three\n   */\n',
    )
    expect(commentText(' ', '')).toBe('')
    expect(commentText('x'.repeat(10_000), '').length).toBeLessThan(
      limits.typesCommentLength.default + 20,
    )
  })
})
