import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { printShape } from './shape.ts'
import { readJson, readShape } from './shape-reader.ts'

describe('reading a shape and printing it', () => {
  const same = [
    ['an object', '{"a":1,"b":[true,false,null],"c":{}}'],
    ['numbers', '[0,-1,1.5,1e+21,9007199254740993]'],
    ['escapes', '["\\"","\\\\","\\n"]'],
    ['anything', '…'],
    ['anything as a member', '{"a":…,"b":[…]}'],
    ['further members', '{"a":1,…}'],
    ['any object', '{…}'],
    ['further elements', '[1,…]'],
    ['a string with gaps', '"Unknown tool: …, see …"'],
    ['any string', '"…"'],
    ['a name', '{"cursor":"$next"}'],
    ['signs written with escapes', '["\\u2026","\\u0024next"]'],
    ['a dollar sign that is no name', '["$","$1","$a b","US$x"]'],
    ['names of members are never special', '{"$ref":1,"…":2}'],
  ] as const

  test.each(same)('%s', (_, text) => {
    expect(printShape(readShape(text))).toBe(text)
  })

  test('spaces and line breaks mean nothing', () => {
    const text = ' {\n  "a" : [ 1 , … ] ,\t"b" : "$x" , … } '
    expect(printShape(readShape(text))).toBe('{"a":[1,…],"b":"$x",…}')
  })

  test('any JSON comes back as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const text = JSON.stringify(value)
        const shape = readJson(text)
        expect(JSON.parse(printShape(shape))).toEqual(JSON.parse(text))
        expect(readShape(printShape(shape))).toEqual(shape)
      }),
    )
  })
})

describe('text that is no shape', () => {
  const wrong = [
    ['nothing', '', 'a value expected at column 1, found the end'],
    ['something after the end', '1 2', 'the end expected at column 3, found 2'],
    ['a comma too many', '{"a":1,}', 'a string expected at column 8'],
    ['no colon', '{"a" 1}', ': expected at column 6'],
    ['a member twice', '{"a":1,"a":2}', 'a name other than the duplicate "a"'],
    ['an ellipsis that is not the last', '[…,1]', '] expected at column 3'],
    ['an unfinished string', '"a', 'a value expected at column 1'],
    ['a number with a zero in front', '01', 'the end expected at column 2'],
    ['a word', 'undefined', 'a value expected at column 1, found undefined'],
  ] as const

  test.each(wrong)('%s', (_, text, message) => {
    expect(() => readShape(text)).toThrow(SyntaxError)
    expect(() => readShape(text)).toThrow(message)
  })

  test.each(['"\\x"', '"a\nb"', '"…\\u12"'])('a string that JSON does not have: %j', text => {
    expect(() => readShape(text)).toThrow(SyntaxError)
    expect(() => readJson(text)).toThrow(SyntaxError)
  })

  test('JSON has no signs', () => {
    expect(() => readJson('…')).toThrow(SyntaxError)
    expect(() => readJson('[1,…]')).toThrow(SyntaxError)
    expect(readJson('["…","$name"]')).toEqual(readShape('["\\u2026","\\u0024name"]'))
  })
})
